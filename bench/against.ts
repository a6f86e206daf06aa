/**
 * `npm run bench:against -- <rev>`: measures this tree and another revision alternately in one run, and
 * prints the ratios of their figures.
 *
 * Owns: the other checkout, the order of turns, the output. Does not own: what a turn measures
 * (`parts/turn.ts`).
 *
 * Results of different days also differ by the machine's state. Here both sides run from the first turn to
 * the last, and alternate in beginning a round, so that a slower machine affects both.
 */

import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { percentile } from './parts/load.ts';
import { machine } from './parts/machine.ts';
import { atLeastOne } from './parts/options.ts';
import { nodeOfAll } from './parts/participants.ts';
import { table } from './parts/print.ts';
import type { Answer, Turn, TurnOptions } from './parts/turn.ts';

const ROOT = join(import.meta.dirname, '..');
const TURN = join('bench', 'parts', 'turn.ts');
const START_WITHIN_MS = 600_000;
const TURN_WITHIN_MS = 900_000;

interface Figure {
  readonly of: keyof Turn;
  readonly name: string;
  readonly digits: number;
}
const FIGURES: readonly Figure[] = [
  { of: 'writeUnits', name: 'write units of an execution', digits: 2 },
  { of: 'readUnits', name: 'read units', digits: 2 },
  { of: 'sqsRequests', name: 'SQS requests', digits: 2 },
  { of: 'invocations', name: 'invocations', digits: 2 },
  { of: 'events', name: 'events', digits: 2 },
  { of: 'awsCalls', name: 'AWS calls', digits: 2 },
  { of: 'cpuFunctions', name: 'CPU s of functions, 1,000 steps', digits: 2 },
  { of: 'cpuAll', name: 'CPU s of all processes, 1,000 steps', digits: 2 },
  { of: 'stepsPerSecond', name: 'steps/s', digits: 0 },
  { of: 'p50Ms', name: 'p50 of five steps, ms', digits: 1 },
];

interface Options extends TurnOptions {
  readonly rounds: number;
  readonly oneHost?: true;
  readonly json?: true;
}

const program = new Command('bench:against')
  .description(
    'Measures this tree, with what is not committed, and another revision in turns: a chain of five steps, one execution after the other and many at once, each on a local cloud of its own.',
  )
  .argument('<rev>', 'a commit, branch or tag')
  .option('--rounds <n>', 'turns of each; the median counts', atLeastOne, 3)
  .option('--single <n>', 'executions one after the other in a turn', atLeastOne, 40)
  .option('--executions <n>', 'executions at once in a turn', atLeastOne, 600)
  .option('--in-flight <n>', 'how many of them at a time', atLeastOne, 64)
  .option('--one-host', 'in this tree all agents share one function, which takes one message an invocation')
  .option('--json', 'one line of JSON at the end');

const say = (text: string): void => void process.stderr.write(`${text}\n`);
const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();

function commitOf(rev: string): string {
  try {
    return execFileSync('git', ['rev-parse', '--verify', '--quiet', `${rev}^{commit}`], {
      cwd: ROOT,
      encoding: 'utf8',
    }).trim();
  } catch {
    return program.error(`error: git knows no revision ${rev}: name a commit, a branch or a tag`);
  }
}

/**
 * Checks out a revision below this folder, so that it uses this tree's packages, or its own if its lock file
 * differs.
 */
function checkOut(commit: string): string {
  mkdirSync(join(ROOT, '.steadfast'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, '.steadfast', 'against-'));
  const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 1 << 30 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  if (!existsSync(join(folder, TURN))) copyFileSync(join(ROOT, TURN), join(folder, TURN));
  const lockOf = (root: string): string => readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (lockOf(folder) !== lockOf(ROOT)) {
    say(`${commit.slice(0, 8)} has other packages: npm ci …`);
    execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: folder,
      stdio: 'ignore',
    });
  }
  return folder;
}

interface Side {
  readonly name: string;
  readonly child: ChildProcess;
  readonly turns: Turn[];
}

function launch(name: string, folder: string, settings: readonly string[]): Side {
  const { path, args } = nodeOfAll();
  const child = fork(join(folder, TURN), settings, {
    cwd: folder,
    execPath: path,
    execArgv: [...args],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  return { name, child, turns: [] };
}

/** Waits for a side's answer. @throws Error if the process fails, ends or does not answer in time */
function answerOf({ name, child }: Side, withinMs: number): Promise<Exclude<Answer, { failed: string }>> {
  return new Promise((resolve, reject) => {
    const onMessage = (answer: Answer): void =>
      'failed' in answer
        ? settle(() => reject(new Error(`${name}: ${answer.failed}`)))
        : settle(() => resolve(answer));
    const onExit = (code: number | null, signal: string | null): void =>
      settle(() => reject(new Error(`${name}: its process ended (${code ?? signal})`)));
    const limit = setTimeout(
      () => settle(() => reject(new Error(`${name}: no answer within ${withinMs / 1_000} s`))),
      withinMs,
    );
    const settle = (then: () => void): void => {
      clearTimeout(limit);
      child.off('message', onMessage).off('exit', onExit);
      then();
    };
    child.on('message', onMessage).on('exit', onExit);
  });
}

async function turnOf(side: Side, options: TurnOptions): Promise<void> {
  const { single, executions, inFlight } = options;
  const answer = answerOf(side, TURN_WITHIN_MS);
  side.child.send({ single, executions, inFlight } satisfies TurnOptions);
  const got = await answer;
  if (!('turn' in got)) throw new Error(`${side.name} gave no figures`);
  side.turns.push(got.turn);
  const { stepsPerSecond, cpuAll, p50Ms } = got.turn;
  say(
    `  ${side.name}: ${stepsPerSecond.toFixed(0)} steps/s, ${cpuAll.toFixed(2)} CPU s per 1,000 steps, p50 ${p50Ms} ms`,
  );
}

async function ended({ child }: Side): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  await gone;
}

async function main(rev: string, options: Options): Promise<void> {
  const commit = commitOf(rev);
  const folder = checkOut(commit);
  const sides: Side[] = [];
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    const changed = git('status', '--porcelain') === '' ? '' : ' and what is not committed';
    const names = [
      `this tree (${git('rev-parse', '--short', 'HEAD')}${changed})`,
      commit.slice(0, 8),
    ] as const;
    for (const [name, root, settings] of [
      [names[0], ROOT, options.oneHost ? ['--one-host'] : []],
      [names[1], folder, []],
    ] as const) {
      say(`${name} starts and warms up …`);
      const side = launch(name, root, settings);
      sides.push(side);
      await answerOf(side, START_WITHIN_MS);
    }
    for (let round = 0; round < options.rounds; round += 1) {
      say(`Round ${round + 1} of ${options.rounds}`);
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) await turnOf(side, options);
    }
  } finally {
    await Promise.all(sides.map(ended));
    remove();
  }
  print(sides, options);
}

function print([here, there]: readonly Side[], options: Options): void {
  if (here === undefined || there === undefined) throw new Error('nothing was measured');
  const median = (values: readonly number[]): number => percentile(values, 0.5);
  const rows = FIGURES.map(({ of, name, digits }) => {
    const [ours, theirs] = [here.turns.map((one) => one[of]), there.turns.map((one) => one[of])];
    const ratios = ours.map((value, at) => value / (theirs[at] ?? Number.NaN));
    return { of, name, digits, here: median(ours), there: median(theirs), ratios };
  });
  const { load, processors } = machine();
  console.log(
    `\nHere is ${here.name}, there ${there.name}. ${options.rounds} rounds in turns of ${options.single} executions one after the other and ${options.executions} with ${options.inFlight} in flight; ${processors} processors, load average ${load.join(' and ')}; ratios round by round\n`,
  );
  console.log(
    table(
      ['five steps', 'here', 'there', 'ratio', 'lowest', 'highest'],
      rows.map(({ name, digits, here: ours, there: theirs, ratios }) => [
        name,
        ours.toFixed(digits),
        theirs.toFixed(digits),
        ...[median(ratios), Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(3)),
      ]),
    ),
  );
  if (options.json)
    console.log(
      JSON.stringify({
        against: Object.fromEntries(
          rows.map(({ of, here: ours, there: theirs, ratios }) => [
            of,
            { here: ours, there: theirs, ratio: median(ratios), ratios },
          ]),
        ),
      }),
    );
}

program.parse();
await main(program.args[0] ?? '', program.opts<Options>());
