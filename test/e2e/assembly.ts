/**
 * Makes the assemblies of the example and of the app (`bin/app.ts`) once for all tests in all processes. An
 * assembly's path has the hash of its sources. If another process is making it, a process waits. A complete
 * assembly is moved to its place by a rename, so no harm is done if two processes find a dead maker's file
 * and both make it.
 */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const ROOT = join(import.meta.dirname, '..', '..');
const KEPT = join(ROOT, '.steadfast', 'assemblies');
const SOURCES = ['lib', 'lambdas', 'examples/order-fulfilment', 'cdk.json', 'package.json'];
/** Assemblies of other sources are removed after this long: a process may still be copying a recent one. */
const STALE_AFTER_MS = 3_600_000;
const ASK_EVERY_MS = 100;
const MADE_WITHIN_MS = 120_000;

/** @returns its folder, which must only be read */
export const exampleAssembly = (): Promise<string> =>
  kept(SOURCES, (outdir) => run(EXAMPLE, { [outdir]: {} }));

/** Makes the app's assembly as `cdk deploy` would. @returns its folder, which must only be read */
export const appAssembly = (): Promise<string> =>
  kept([...SOURCES, 'bin', 'examples'], (outdir) => makeApps({ [outdir]: {} }));

/**
 * Makes them in one process, so that the CDK is loaded once. `test/infra/foreign.test.ts` checks
 * CloudFormation's own rules: they take seconds.
 *
 * @param contexts by the folder that each is for
 * @throws Error with the app's output
 */
export const makeApps = (contexts: Readonly<Record<string, object>>): void => run(APPS, contexts);

/** Runs in a separate process, because the CDK would stay loaded in a worker of `npm test`. */
const EXAMPLE = `
  import { synthesize } from './lib/infra/synth.ts';
  for (const outdir of Object.keys(JSON.parse(process.argv[1])))
    await synthesize({ outdir, only: ['order-fulfilment'], validation: false });`;

/** The way \`cdk\` starts it, except that the app is evaluated again for each. */
const APPS = `
  for (const [outdir, context] of Object.entries(JSON.parse(process.argv[1]))) {
    Object.assign(process.env, { CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify(context) });
    await import('./bin/app.ts?' + encodeURIComponent(outdir));
  }`;

function run(script: string, contexts: Readonly<Record<string, object>>): void {
  const args = ['--import', 'tsx', '--input-type=module', '--eval', script, JSON.stringify(contexts)];
  const { stderr, status } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, NODE_OPTIONS: '', CDK_VALIDATION: 'false', CDK_CONTEXT_JSON: '{}' },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the synthesis ended with ${status}: ${stderr}`);
}

async function kept(
  sources: readonly string[],
  make: (outdir: string) => Promise<void> | void,
): Promise<string> {
  const folder = join(KEPT, hashOf(sources));
  const maker = `${folder}.maker`;
  mkdirSync(KEPT, { recursive: true });
  while (!existsSync(folder) && !writtenBy(maker)) await pause(ASK_EVERY_MS);
  if (existsSync(folder)) return folder;
  removeStale();
  const draft = mkdtempSync(join(KEPT, 'draft-'));
  try {
    await make(draft);
    renameSync(draft, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(draft, { recursive: true });
  } finally {
    rmSync(maker, { force: true });
  }
  return folder;
}

/** @returns whether this process is to make it; false while another living process does */
function writtenBy(maker: string): boolean {
  try {
    writeFileSync(maker, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  if (!isMaking(maker)) rmSync(maker, { force: true });
  return false;
}

/** Whether the maker is still at work; not after a long time, because its process id may have been reused. */
function isMaking(maker: string): boolean {
  try {
    process.kill(Number(readFileSync(maker, 'utf8')), 0);
    return Date.now() - statSync(maker).mtimeMs < MADE_WITHIN_MS;
  } catch {
    return false;
  }
}

function hashOf(paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of paths.flatMap(filesIn)) {
    const content = readFileSync(join(ROOT, path));
    hash.update(`${path}\n${content.byteLength}\n`).update(content);
  }
  return hash.digest('hex').slice(0, 32);
}

function filesIn(path: string): string[] {
  if (!statSync(join(ROOT, path)).isDirectory()) return [path];
  return readdirSync(join(ROOT, path))
    .sort()
    .flatMap((name) => filesIn(`${path}/${name}`));
}

function removeStale(): void {
  for (const name of readdirSync(KEPT)) {
    const path = join(KEPT, name);
    // Another process may have renamed it meanwhile.
    const { mtimeMs = Date.now() } = statSync(path, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > STALE_AFTER_MS) rmSync(path, { recursive: true, force: true });
  }
}
