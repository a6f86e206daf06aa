/**
 * The steps that the fixtures of `npm run adopt` perform in a project: command lines run to their end, a
 * local system tried, copies counted.
 *
 * Owns: the temporary folder, the Node version, reporting a failure. Does not own: the projects
 * (`fixtures.ts`).
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');
/** The real path, because the links of `npm` and `pnpm` are compared with it. */
export const work = realpathSync(mkdtempSync(join(tmpdir(), 'steadfast-adopt-')));
/** An agent of the workflow that `create` writes. */
const AGENT = 'workflows/hello-greeting/agents/compose-greeting.ts';

/** A fault that an adopter would have met; its message is for the terminal. */
export class Failed extends Error {}

const project = new AsyncLocalStorage<string>();

/** Two projects run at a time, so each line of output begins with its project's name. */
export const within = <Result>(name: string, call: () => Promise<Result>): Promise<Result> =>
  project.run(name, call);

export function say(text: string): void {
  const whose = project.getStore();
  process.stderr.write(`${whose === undefined ? '' : `${whose}: `}${text}\n`);
}

/** @throws Failed */
export function check(holds: boolean, text: string): void {
  if (!holds) throw new Failed(text);
}

export const folder = (name: string): string => {
  const path = join(work, name);
  mkdirSync(path, { recursive: true });
  return path;
};

const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  NODE_OPTIONS: '',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
});

/** Runs a command line to its end, quietly. */
async function ended(cwd: string, line: string): Promise<{ status: unknown; stdout: string; said: string }> {
  const child = spawn(line, { cwd, shell: true, stdio: ['ignore', 'pipe', 'pipe'], env: environment() });
  let stdout = '';
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    said += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [status] = (await once(child, 'close')) as unknown[];
  return { status, stdout, said: said.slice(-4_000) };
}

/** @throws Failed with the last output */
export async function run(cwd: string, line: string): Promise<string> {
  const beganAt = Date.now();
  const { status, stdout, said } = await ended(cwd, line);
  check(status === 0, `in ${cwd}\n    ${line}\nended with ${String(status)}, and said:\n${said}`);
  say(`${line}  (${secondsSince(beganAt)} s)`);
  return stdout;
}

const secondsSince = (beganAt: number): string => ((Date.now() - beganAt) / 1_000).toFixed(1);

/** Runs a command line that must fail. @throws Failed if it succeeds, or does not say why */
export async function refused(cwd: string, line: string, why: string): Promise<void> {
  const { status, said } = await ended(cwd, line);
  const told = `in ${cwd}\n    ${line}\ndid not fail with '${why}', but ended with ${String(status)}, and said:\n${said}`;
  check(status !== 0 && said.includes(why), told);
  say(`${line}: refused`);
}

/** Puts the programs of a package before all others on the search path. */
export async function usePrograms(name: string, spec: string): Promise<void> {
  const cwd = folder(name);
  await run(cwd, `npm install --prefix . ${spec}`);
  process.env['PATH'] = `${join(cwd, 'node_modules', '.bin')}:${process.env['PATH']}`;
}

/**
 * Runs everything with another Node than this one.
 * @throws Failed if the package has no program for this machine
 */
export async function useNode(version: string): Promise<void> {
  await usePrograms('node', `node@${version}`);
  const found = (await run(work, 'node --version')).trim();
  check(found.startsWith(`v${version}`), `node is ${found}, and not ${version}`);
}

const ENDED = /It ended: \w+/;
const CHANGED = 'with the change.';

/**
 * Starts `steadfast dev --try` and waits until its execution has ended; changes a file, and waits until the
 * change runs; then interrupts it, and waits until all its processes are gone.
 *
 * @returns its output
 * @throws Failed
 */
export async function tryIt(cwd: string, options = ''): Promise<string> {
  const line = `npx steadfast dev --try --fresh --port 0${options}`;
  const child = spawn(line, { cwd, shell: true, detached: true, env: environment() });
  const beganAt = Date.now();
  const { pid = 0 } = child;
  let said = '';
  const listen = (chunk: Buffer): void => {
    const before = said;
    said += chunk.toString('utf8');
    if (!ENDED.test(before) && ENDED.test(said)) appendFileSync(join(cwd, AGENT), '\n');
    // Interrupts the whole group, as Ctrl-C does.
    if (!before.includes(CHANGED) && said.includes(CHANGED)) process.kill(-pid, 'SIGINT');
  };
  child.stdout.on('data', listen);
  child.stderr.on('data', listen);
  await once(child, 'close');
  const problem = ['It ended: succeeded', `${AGENT} has changed.`, CHANGED, 'Stopped.'].find(
    (text) => !said.includes(text),
  );
  check(
    problem === undefined,
    `in ${cwd}\n    ${line}\ndid not say '${problem ?? ''}', and said:\n${said.slice(-4_000)}`,
  );
  say(`${line}: an execution succeeded, a change was taken over  (${secondsSince(beganAt)} s)`);
  return said;
}

/**
 * Runs a command that lasts until it is interrupted: waits for an output, performs the steps meanwhile,
 * interrupts it as Ctrl-C does, and waits until all its processes are gone.
 *
 * @throws Failed if it ends before
 */
export async function runUntil(
  cwd: string,
  lines: string,
  seen: RegExp,
  meanwhile: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const beganAt = Date.now();
  // A shell that stops at the first failing line, as a reader does.
  const child = spawn(`set -e\n${lines}`, { cwd, shell: true, detached: true, env: environment() });
  const { pid = 0 } = child;
  const closed = once(child, 'close');
  let said = '';
  const isSeen = new Promise<boolean>((resolve) => {
    const listen = (chunk: Buffer): void => {
      said += chunk.toString('utf8');
      if (seen.test(said)) resolve(true);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    void closed.then(() => resolve(false));
  });
  const problem = `in ${cwd}\n    ${lines}\nended before it said ${String(seen)}:\n`;
  check(await isSeen, `${problem}${said.slice(-4_000)}`);
  try {
    await meanwhile();
  } finally {
    process.kill(-pid, 'SIGINT');
    await closed;
  }
  say(`${lines.replaceAll('\n', '; ')}  (${secondsSince(beganAt)} s)`);
}

/**
 * The most files that `serve` may load, because each costs time at every start. There are 175, 93 of them
 * zod's, with its languages. The packages that npm installs beside us change the count a little.
 */
const MOST_FILES_SERVED = 185;

/** @throws Failed if the server loads more files than it needs */
async function serveIt(cwd: string): Promise<void> {
  const seen = join(cwd, 'loaded');
  const line = `NODE_V8_COVERAGE=${seen} npx steadfast serve --port 0 --data serve.db`;
  await runUntil(cwd, line, /^Resumed: 0 open executions/m);
  const counts = readdirSync(seen).map((file) => {
    const { result } = JSON.parse(readFileSync(join(seen, file), 'utf8')) as {
      readonly result: readonly { readonly url: string }[];
    };
    const files = new Set(result.map(({ url }) => url).filter((url) => url.startsWith('file:')));
    // The hooks of tsx take two fifths of a start, and these projects can be compiled without it.
    check(![...files].some((url) => url.includes('/node_modules/tsx/')), 'serve has loaded tsx');
    // Distinguishes the server from the process of `npx`, which loads none of our files.
    return [...files].some((url) => url.endsWith('/dist/bin/steadfast.js')) ? files.size : 0;
  });
  const loaded = Math.max(0, ...counts);
  const allowed = `${MOST_FILES_SERVED} are allowed`;
  check(loaded > 0 && loaded <= MOST_FILES_SERVED, `serve has loaded ${loaded} files; ${allowed}`);
  say(`serve has loaded ${loaded} files`);
}

/** All checks of the package in a TypeScript project. @returns the output of its local system */
export async function use(cwd: string): Promise<string> {
  await checked(cwd, 'npm');
  await serveIt(cwd);
  return await tryIt(cwd);
}

export async function checked(cwd: string, manager: 'npm' | 'pnpm'): Promise<void> {
  await run(cwd, 'npx tsc');
  await run(cwd, 'npx cdk synth --quiet');
  await run(cwd, `${manager} test`);
}

/**
 * Compiles as a monorepo with project references does: declarations can be emitted for all of it, including a
 * file that exports whatever the package's functions return.
 *
 * @param tsc the compiler, and its arguments
 */
export async function declares(cwd: string, tsc = 'npx tsc'): Promise<void> {
  const file = join(cwd, 'workflows', 'declared.ts');
  copyFileSync(join(ROOT, 'scripts', 'adopt', 'declared.ts'), file);
  // `composite` works only in a configuration file.
  const config = join(cwd, 'tsconfig.declared.json');
  const compilerOptions = {
    noEmit: false,
    composite: true,
    emitDeclarationOnly: true,
    outDir: 'declarations',
  };
  writeFileSync(config, JSON.stringify({ extends: './tsconfig.json', compilerOptions }));
  await run(cwd, `${tsc} --project tsconfig.declared.json`);
  rmSync(config);
  rmSync(file);
}

/** Runs one execution, as a CI job does. @throws Failed unless the exit code says that it succeeded */
export async function tryOnce(cwd: string): Promise<void> {
  const said = await run(cwd, 'npx steadfast dev --once --fresh --port 0');
  check(said.includes('It ended: succeeded.'), `in ${cwd}: dev --once ended well, and said:\n${said}`);
}

/** Checks that the whole tree has one copy of a package, however often it is linked. @throws Failed */
export function onlyOne(cwd: string, name: string): void {
  const modules = join(cwd, 'node_modules');
  const found = readdirSync(modules, { recursive: true, encoding: 'utf8' })
    .filter((path) => path === name || path.endsWith(`node_modules/${name}`))
    .map((path) => realpathSync(join(modules, path)));
  const copies = [...new Set(found)];
  check(copies.length === 1, `there are ${copies.length} copies of ${name}: ${copies.join(', ')}`);
}
