/**
 * The assemblies of the example and of the app (`bin/app.ts`), made once for all tests that use them,
 * whichever process they run in.
 *
 * It is addressed by the content of whatever it is made of, so it is never that of other sources; it is
 * renamed to its place when it is whole, so two that make it at the same time do each other no harm.
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
} from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const KEPT = join(ROOT, '.steadfast', 'assemblies');
const SOURCES = ['lib', 'lambdas', 'examples/order-fulfilment', 'cdk.json', 'package.json'];
/** Those of other sources: somebody may still be copying one of the last few minutes. */
const STALE_AFTER_MS = 3_600_000;

/** @returns its folder, which is only to be read */
export const exampleAssembly = (): Promise<string> =>
  kept(SOURCES, (outdir) => run(outdir, ['--input-type=module', '--eval', EXAMPLE]));

/** As `cdk deploy` would make it. @returns its folder, which is only to be read */
export const appAssembly = (): Promise<string> => kept([...SOURCES, 'bin', 'examples'], makeApp);

/**
 * CloudFormation's own rules are asked in `test/infra/synth.test.ts` and
 * `test/infra/foreign.test.ts`: they take seconds.
 * @throws Error with what the app says
 */
export function makeApp(outdir: string, context: Readonly<Record<string, unknown>> = {}): void {
  run(outdir, ['bin/app.ts'], context);
}

/** In a process: a worker of `npm test` that had loaded the CDK could refuse it to no file after this one. */
const EXAMPLE = `
  import { synthesize } from './lib/infra/synth.ts';
  await synthesize({ outdir: process.env.CDK_OUTDIR, only: ['order-fulfilment'], validation: false });`;

function run(outdir: string, args: readonly string[], context: Readonly<Record<string, unknown>> = {}): void {
  const CDK = { CDK_VALIDATION: 'false', CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify(context) };
  const { stderr, status } = spawnSync(process.execPath, ['--import', 'tsx', ...args], {
    cwd: ROOT,
    env: { ...process.env, NODE_OPTIONS: '', ...CDK },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${args[0]} ended with ${status}: ${stderr}`);
}

async function kept(
  sources: readonly string[],
  make: (outdir: string) => Promise<void> | void,
): Promise<string> {
  const folder = join(KEPT, hashOf(sources));
  if (existsSync(folder)) return folder;
  mkdirSync(KEPT, { recursive: true });
  removeStale();
  const draft = mkdtempSync(join(KEPT, 'draft-'));
  await make(draft);
  try {
    renameSync(draft, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(draft, { recursive: true });
  }
  return folder;
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
    if (Date.now() - statSync(path).mtimeMs > STALE_AFTER_MS) rmSync(path, { recursive: true, force: true });
  }
}
