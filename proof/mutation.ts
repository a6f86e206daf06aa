/**
 * `npm run mutation`: Stryker's mutants of `lib/core`, each judged by the tests of the
 * core and of the roles in memory.
 *
 * Owns: the options, the scratch copy, Stryker's process. Does not own: the verdicts (`mutation/runner.ts`),
 * what is said about them (`mutation/report.ts`), bugs chosen by hand (`npm run mutants`).
 */

import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { NOTES } from './mutation/notes.ts';
import { documentOf, merged, type Report, summaryOf } from './mutation/report.ts';

/** Not among our packages: it would bring 170 of its own to every `npm ci`. */
const STRYKER = '@stryker-mutator/core@9.6.1';
const ROOT = join(import.meta.dirname, '..');
const DOCUMENT = join(ROOT, 'proof/results/mutation.txt');
const COPIED = [
  'bench/parts',
  'kit',
  'lib',
  'local',
  'proof',
  'serve',
  'test',
  'scripts',
  'package.json',
  'tsconfig.json',
];

interface Options {
  readonly files?: string;
  readonly runs: string;
  readonly costsAtMost: string;
  readonly json?: boolean;
  readonly writeResults?: boolean;
  readonly report?: string;
  readonly keep?: string;
}

const program = new Command('mutation')
  .description("Stryker's mutants of lib/core and the tests that notice them (docs/PROOF.md).")
  .option('--files <list>', 'only these files, by commas; a file:12-40 is only these lines')
  .option('--runs <count>', 'runs of a property at most; "all" for as many as in npm test', '100')
  .option(
    '--costs-at-most <ms>',
    'tests that cost more of the processor’s time are left out; "all" for none',
    '250',
  )
  .option('--json', 'one JSON line at the end')
  .option('--write-results', 'write proof/results/mutation.txt from this run')
  .option('--keep <path>', "keep Stryker's own report there")
  .option('--report <paths>', 'run nothing and read reports that were kept, by commas');

const listed = (list: string): string[] => list.split(',').map((name) => name.trim());
const CORE = readdirSync(join(ROOT, 'lib/core'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => `lib/core/${name}`);

function scratchCopy(): string {
  const root = mkdtempSync(join(tmpdir(), 'steadfast-mutation-'));
  for (const name of COPIED) cpSync(join(ROOT, name), join(root, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  return root;
}

/** What Stryker prints is progress: the only thing on our standard output is the result. */
async function stryker(root: string, options: Options): Promise<void> {
  const { RUNS_AT_MOST: _, ...environment } = process.env;
  const args = [
    'run',
    'proof/mutation/stryker.json',
    '--mutate',
    (options.files === undefined ? CORE : listed(options.files)).join(','),
  ];
  const child = spawn('npx', ['--yes', '--package', STRYKER, 'stryker', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...environment,
      // Its processes import our runner, which is TypeScript.
      NODE_OPTIONS: '--import tsx',
      ...(options.runs === 'all' ? {} : { RUNS_AT_MOST: options.runs }),
      ...(options.costsAtMost === 'all' ? {} : { TEST_COSTS_AT_MOST_MS: options.costsAtMost }),
    },
  });
  child.stdout.pipe(process.stderr);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`Stryker ended with ${code ?? 'a signal'}`);
}

async function reportOf(options: Options): Promise<Report> {
  if (options.report !== undefined) {
    return merged(listed(options.report).map((path) => JSON.parse(readFileSync(path, 'utf8')) as Report));
  }
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
    cwd: ROOT,
    encoding: 'utf8',
  }).trim();
  const root = scratchCopy();
  const startedAt = Date.now();
  try {
    await stryker(root, options);
    const read = (name: string): Record<string, unknown> =>
      JSON.parse(readFileSync(join(root, name), 'utf8')) as Record<string, unknown>;
    const report = {
      ...read('mutation-report.json'),
      run: {
        at: new Date(startedAt).toISOString().slice(0, 10),
        commit,
        seconds: Math.round((Date.now() - startedAt) / 1_000),
        runs: options.runs,
        leftOut: (read('mutation-learned.json')['leftOut'] as string[]).length,
        tests: Object.keys(read('mutation-learned.json')['costsMs'] as object).length,
      },
    } as unknown as Report;
    if (options.keep !== undefined) writeFileSync(options.keep, JSON.stringify(report));
    return report;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

program.parse();
const options = program.opts<Options>();
const report = await reportOf(options);
const summary = summaryOf(report);
if (options.writeResults === true) writeFileSync(DOCUMENT, documentOf(report, NOTES, CORE.length));
console.log(options.json === true ? JSON.stringify(summary) : summary);
