/**
 * Keeps processes out of the suite `logic`: only its one end-to-end test runs a local cloud, a synthesis or a
 * bundler. Any other test that starts a process fails, with a message that names the right suite.
 */

import childProcess from 'node:child_process';
import Module, { createRequire, syncBuiltinESMExports } from 'node:module';
import { relative } from 'node:path';
import { promisify } from 'node:util';
import workerThreads from 'node:worker_threads';
import suites from './suites.cjs';

const ROOT = `${import.meta.dirname}/../..`;
const STARTING = ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'];

const { cache, resolve } = createRequire(import.meta.url);
const ESBUILD = resolve('esbuild');

const CDK = /(^|\/node_modules\/)aws-cdk-lib\//;

/** The command lines that tests below a folder may start. */
const ALLOWED = [
  { below: 'test/', line: /^git ls-files /, is: 'the list of files' },
  { below: 'test/aws/', line: /guardian\.mjs|dynoxide/, is: 'a database' },
  { below: 'test/contract/', line: /guardian\.mjs|dynoxide/, is: 'a database' },
  { below: 'test/proof/simulation/', line: /\/esbuild |worker\.mjs/, is: 'simulated worlds' },
  { below: 'test/cli/', line: /^bash -c /, is: 'a shell' },
  { below: 'examples/video-encoding/', line: /^ff(mpeg|probe) /, is: 'ffmpeg' },
  { below: suites.END_TO_END, line: /./, is: 'all of it' },
];

/**
 * @param {string} file from the project's root
 * @param {string} line a command line, or in words what would be done
 * @returns {string | undefined} why this file may not start it
 */
export function refusal(file, line) {
  if (suites.suiteOf(file) !== 'logic') return undefined;
  if (ALLOWED.some((each) => file.startsWith(each.below) && each.line.test(line))) return undefined;
  const allowed = ALLOWED.map(({ below, is }) => `${is} (${below})`).join(', ');
  return [
    `${file} starts \`${line.slice(0, 200)}\`. Tests that npm test runs may start only: ${allowed}.`,
    `Put the test below ${suites.FOLDERS.join(' or ')}, or let its file's name end in ${suites.ENDING}: then npm run test:processes runs it.`,
  ].join('\n');
}

const fileOf = (path) => relative(ROOT, path).replaceAll('\\', '/');

const asking =
  (real, ask) =>
  (...args) => (ask(args), real(...args));

/** Wraps a function to check first, also in its `promisify` variant. */
function guarded(real, ask) {
  const { [promisify.custom]: promised } = real;
  const own = promised === undefined ? {} : { [promisify.custom]: asking(promised, ask) };
  return Object.assign(asking(real, ask), own);
}

/** Refuses the processes of a test file. @returns the function that ends this */
export function refuseProcesses(path) {
  const file = fileOf(path);
  // Its process may be that of an earlier file, which was allowed it: this one starts its own.
  cache[ESBUILD]?.exports.stop();
  const refuse = (line) => {
    const wrong = refusal(file, line);
    if (wrong !== undefined) throw new Error(wrong);
  };
  const [realProcess, realThreads, load] = [{ ...childProcess }, { ...workerThreads }, Module._load];
  for (const name of STARTING) {
    childProcess[name] = guarded(realProcess[name], ([command, args]) =>
      refuse(
        [name === 'fork' ? 'node ' : '', command, ...(Array.isArray(args) ? args : [])].join(' ').trim(),
      ),
    );
  }
  // In one of these esbuild starts a process of its own.
  workerThreads.Worker = class extends realThreads.Worker {
    constructor(script, options) {
      refuse(`a thread of ${script}`);
      super(script, options);
    }
  };
  syncBuiltinESMExports();
  // It synthesises without a process. A module is loaded once: what had it before would be refused nothing.
  Module._load = (name, ...more) => {
    if (CDK.test(name)) refuse(`aws-cdk-lib: ${name}`);
    return load(name, ...more);
  };
  return () => {
    Module._load = load;
    Object.assign(childProcess, realProcess);
    Object.assign(workerThreads, realThreads);
    syncBuiltinESMExports();
  };
}
