/**
 * Tests the package as users get it: builds and packs it, installs the tarball into new projects, and in each
 * checks types, synthesis and tests, starts the local system, and waits for a finished execution.
 *
 * It needs the npm registry. It works in a temporary folder, which is removed after a success.
 */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FIXTURES, type Given, LANES, type Measured } from './adopt/fixtures.ts';
import { check, Failed, ROOT, run, say, useNode, within, work } from './adopt/steps.ts';

const HELP = `npm run adopt -- [options]

Builds, packs and checks the package, then takes it up in fresh projects. Says what it does on the terminal.

  --only <name>   one of the projects; may be given more than once: ${Object.keys(FIXTURES).join(', ')}
  --node <major>  by this Node, from npm's package of that name; begins with this repository's demo and the tests of real processes
  --json          ends with one line of JSON
  --help
`;
const MAX_TARBALL_KB = 1_340;
const MAX_FILES = 760;
const PUBLINT = 'publint@0.3.25';
const ATTW = '@arethetypeswrong/cli@0.18.5';

interface Packing {
  readonly size: number;
  readonly entryCount: number;
  readonly filename: string;
}

async function packed(cwd: string, what: string): Promise<Packing> {
  // Packing a folder builds it first; the build's output is left out.
  const line = `npm pack ${what} --json --foreground-scripts=false --pack-destination ${work}`;
  const [made] = JSON.parse(await run(cwd, line)) as [Packing];
  return made;
}

async function publishable(cwd: string, what: string): Promise<void> {
  const said = await run(cwd, `npm publish --dry-run ${what} 2>&1`);
  check(!said.includes('auto-corrected'), `npm would publish another package.json than is written:\n${said}`);
}

interface Packed {
  readonly tarball: string;
  readonly createTarball: string;
  readonly tarballKB: number;
  readonly files: number;
}

const NOT_PACKED: Packed = { tarball: '', createTarball: '', tarballKB: 0, files: 0 };

/** @param what the folder to build and pack, or the finished tarball */
async function pack(cwd: string, what: string): Promise<Packed> {
  const { size, entryCount: files, filename } = await packed(cwd, what);
  const tarballKB = Math.ceil(size / 1024);
  check(tarballKB <= MAX_TARBALL_KB, `the tarball has ${tarballKB} KB; ${MAX_TARBALL_KB} are allowed`);
  check(files <= MAX_FILES, `the tarball has ${files} files; ${MAX_FILES} are allowed`);
  const tarball = join(work, filename);
  // In parallel: most of the time is spent waiting for the registry.
  const [create] = await Promise.all([
    packed(cwd, './create'),
    run(cwd, `npx --yes ${PUBLINT} ${tarball} --strict`),
    run(cwd, `npx --yes ${ATTW} ${tarball} --profile node16`),
    ...['. --ignore-scripts', './create'].map((each) => publishable(cwd, each)),
  ]);
  return { tarball, createTarball: join(work, create.filename), tarballKB, files };
}

/** Tests for which the Node version matters most: processes, signals, sockets, streams. */
const TESTS = 'test/cli test/worker test/remote';

async function runRepository(): Promise<void> {
  await run(ROOT, 'npm run demo');
  await run(ROOT, 'npm run test:processes');
  await run(ROOT, `npm test -- ${TESTS}`);
}

interface Outcome {
  readonly failed: readonly string[];
  readonly measured: Measured;
}

/** Runs the named projects, one at a time in each lane. */
async function takeUp(names: readonly string[], given: Given): Promise<Outcome> {
  const failed: string[] = [];
  let measured: Measured = {};
  const one = async (name: string): Promise<void> => {
    const beganAt = Date.now();
    try {
      const found = await FIXTURES[name]?.(given);
      measured = { ...measured, ...found };
      say(`passed in ${Math.round((Date.now() - beganAt) / 1_000)} s`);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      failed.push(name);
      say(`FAILED: ${error.message}\nagain: npm run adopt -- --only ${name}`);
    }
  };
  await Promise.all(
    LANES.map(async (lane) => {
      for (const name of lane) if (names.includes(name)) await within(name, () => one(name));
    }),
  );
  return { failed, measured };
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: Object.keys(FIXTURES) },
      node: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const strangers = values.only.filter((name) => !(name in FIXTURES));
  if (strangers.length > 0) {
    say(`there is no project ${strangers.join(', ')}; there are ${Object.keys(FIXTURES).join(', ')}`);
    return 2;
  }
  const startedAt = Date.now();
  if (values.node !== undefined) await within('node', () => useNode(values.node ?? ''));
  // The project that follows README packs the package itself, so it is not built here if no other project
  // needs it.
  const isForReader = values.only.join() === 'printed';
  let made = isForReader ? NOT_PACKED : await within('package', () => pack(ROOT, '.'));
  const onPacked = async (clone: string): Promise<void> => {
    if (isForReader) made = await within('package', () => pack(clone, './steadfast-*.tgz'));
  };
  if (values.node !== undefined) await within('repository', runRepository);
  const { failed, measured } = await takeUp(values.only, { ...made, onPacked });
  const { tarballKB, files } = made;
  const fixtures = values.only.length;
  const passed = fixtures - failed.length;
  const seconds = Math.round((Date.now() - startedAt) / 1_000);
  say(`${passed} of ${fixtures} in ${seconds} s; the tarball has ${tarballKB} KB in ${files} files`);
  const adopt = { fixtures, passed, tarballKB, files, ...measured, seconds };
  if (values.json) process.stdout.write(`${JSON.stringify({ adopt })}\n`);
  if (failed.length === 0) return 0;
  say(`failed: ${failed.join(', ')}; their folders are left in ${work}`);
  return 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  say(error instanceof Failed ? error.message : String((error as Error).stack));
  process.exitCode = 1;
}
// Failed projects are left for inspection.
if (process.exitCode !== 1) rmSync(work, { recursive: true, force: true });
