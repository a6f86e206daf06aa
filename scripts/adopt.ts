/**
 * Takes the package up as its users do: builds and packs it, installs the tarball into fresh projects, and in each checks types,
 * synthesis and tests, starts the local system, and waits for a finished execution.
 *
 * It needs the registry of npm. Everything is in a temporary folder, which is removed if all went well.
 */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FIXTURES, type Given, type Measured } from './adopt/fixtures.ts';
import { check, Failed, ROOT, run, say, work } from './adopt/steps.ts';

const HELP = `npm run adopt -- [options]

Builds, packs and checks the package, then takes it up in fresh projects. Says what it does on the terminal.

  --only <name>   one of the projects; may be given more than once: ${Object.keys(FIXTURES).join(', ')}
  --json          ends with one line of JSON
  --help
`;
const MAX_TARBALL_KB = 900;
const MAX_FILES = 600;
const PUBLINT = 'publint@0.3.25';
const ATTW = '@arethetypeswrong/cli@0.18.5';

interface Packed extends Given {
  readonly tarballKB: number;
  readonly files: number;
}

interface Packing {
  readonly size: number;
  readonly entryCount: number;
  readonly filename: string;
}

function packed(what: string): Packing {
  // It builds first; what the build says is not part of the answer.
  const line = `npm pack ${what} --json --foreground-scripts=false --pack-destination ${work}`;
  const [made] = JSON.parse(run(ROOT, line)) as [Packing];
  return made;
}

function pack(): Packed {
  const { size, entryCount: files, filename } = packed('.');
  const tarballKB = Math.ceil(size / 1024);
  check(tarballKB <= MAX_TARBALL_KB, `the tarball has ${tarballKB} KB; ${MAX_TARBALL_KB} are allowed`);
  check(files <= MAX_FILES, `the tarball has ${files} files; ${MAX_FILES} are allowed`);
  const tarball = join(work, filename);
  run(ROOT, `npx --yes ${PUBLINT} ${tarball} --strict`);
  run(ROOT, `npx --yes ${ATTW} ${tarball} --profile node16`);
  run(ROOT, 'npm publish --dry-run --ignore-scripts');
  run(ROOT, 'npm publish --dry-run ./create');
  return { tarball, createTarball: join(work, packed('./create').filename), tarballKB, files };
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: Object.keys(FIXTURES) },
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
  say('package');
  const { tarballKB, files, ...given } = pack();
  const failed: string[] = [];
  let measured: Measured = {};
  for (const [index, name] of values.only.entries()) {
    say(`${name}  (${index + 1} of ${values.only.length})`);
    try {
      measured = { ...measured, ...(await FIXTURES[name]?.(given)) };
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      failed.push(name);
      say(`    FAILED: ${error.message}\nagain: npm run adopt -- --only ${name}`);
    }
  }
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
// What failed is left to be looked at.
if (process.exitCode !== 1) rmSync(work, { recursive: true, force: true });
