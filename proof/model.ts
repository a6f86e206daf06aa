/**
 * `npm run model`: every state that small configurations of the protocol can reach, under the real `decide`.
 *
 * Owns: the options, one process per configuration, the summary. Does not own: the model (`proof/model`).
 */

import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { Command } from 'commander';
import { CONFIGS, RACED } from './model/config.ts';
import { ABLATIONS, REAL_RULES } from './model/rules.ts';
import { PLANTS } from './model/real/plants.ts';
import { runScene, SCENES } from './model/real/scenes.ts';
import { NO_BOUND, runConfig, type RunResult } from './model/run.ts';

interface Task {
  readonly run: string;
  readonly ablate?: string;
  readonly maxStates: number;
}

interface Options {
  readonly run?: string;
  readonly max: number;
  readonly ablate?: string;
  readonly json?: boolean;
  readonly trace?: boolean;
}

const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`${text} is not a whole number above 0`);
  return value;
};

/** The rules of `decide`, or of the engine around it, that can be removed, by name. */
const TAKEN: Readonly<Record<string, { readonly rule: string; readonly run: string }>> = {
  ...ABLATIONS,
  ...PLANTS,
};
const RUNS: readonly string[] = [...CONFIGS.map(({ name }) => name), ...Object.keys(SCENES)];

async function perform(task: Task): Promise<RunResult> {
  if (task.run in SCENES) return runScene(task.run, task.maxStates, task.ablate);
  const config = [...CONFIGS, RACED].find(({ name }) => name === task.run);
  if (config === undefined) throw new Error(`there is no run '${task.run}'`);
  const rules = task.ablate === undefined ? REAL_RULES : (ABLATIONS[task.ablate] ?? REAL_RULES);
  return runConfig(config, { rules, maxStates: task.maxStates });
}

/** Runs in a process of its own, so that its memory is given back and the other processor is used. */
function inProcess(task: Task): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const child = fork(import.meta.filename, [], {
      env: { ...process.env, MODEL_TASK: '1' },
      execArgv: [...process.execArgv, '--max-old-space-size=6144'],
    });
    let result: RunResult | undefined;
    child.on('message', (message) => {
      result = message as RunResult;
    });
    child.on('error', reject);
    child.on('exit', (code) => {
      if (result === undefined) reject(new Error(`the process of run '${task.run}' ended with ${code}`));
      else resolve(result);
    });
    child.send(task);
  });
}

/** Performs all tasks, as many at once as there are processors; results in the order of the tasks. */
async function performAll(tasks: readonly Task[], onResult: (task: Task, result: RunResult) => void) {
  const results: RunResult[] = [];
  let at = 0;
  const lane = async (): Promise<void> => {
    while (at < tasks.length) {
      const index = at;
      at += 1;
      const task = tasks[index] as Task;
      const result = await inProcess(task);
      results[index] = result;
      onResult(task, result);
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), tasks.length) }, lane));
  return results;
}

function lineOf({ name, states, edges, closed, violations, stuck, unreached, seconds }: RunResult): string {
  const end = closed ? 'closed' : 'NOT CLOSED';
  return `${name}: ${states} states, ${edges} edges, ${end}, ${violations} violations, ${stuck} stuck, ${unreached.length > 0 ? `NOT REACHED: ${unreached.join(', ')}, ` : ''}${seconds.toFixed(1)} s`;
}

function showTrace({ name, first }: RunResult): void {
  if (first === undefined) return;
  console.error(`${name}: ${first.problems.join('; ')}`);
  for (const [at, label] of first.trace.entries()) console.error(`  ${at + 1}. ${label}`);
}

async function checkAll(options: Options): Promise<void> {
  const chosen = RUNS.filter((name) => options.run === undefined || name === options.run);
  if (chosen.length === 0) program.error(`there is no run '${options.run}'; see --help`);
  const tasks = chosen.map((run) => ({ run, maxStates: options.max }));
  const results = await performAll(tasks, (_, result) => {
    if (options.json !== true) console.log(lineOf(result));
    if (options.trace === true || result.violations > 0 || result.stuck > 0) showTrace(result);
  });
  const sum = (pick: (result: RunResult) => number): number =>
    results.reduce((total, result) => total + pick(result), 0);
  const model = {
    runs: results.map(({ first, ...result }) =>
      first === undefined ? result : { ...result, problems: first.problems },
    ),
    states: sum(({ states }) => states),
    edges: sum(({ edges }) => edges),
    closed: results.every(({ closed }) => closed),
    violations: sum(({ violations }) => violations),
    stuck: sum(({ stuck }) => stuck),
    unreached: sum(({ unreached }) => unreached.length),
  };
  if (options.json === true) console.log(JSON.stringify({ model }));
  else
    console.log(
      `${model.states} states in ${results.length} runs, ${model.violations} violations, ${model.stuck} stuck`,
    );
  if (!model.closed || model.violations + model.stuck + model.unreached > 0) process.exitCode = 1;
}

/** Here a violation must be found. */
async function checkAblations(options: Options): Promise<void> {
  const chosen = Object.keys(TAKEN).filter((name) => options.ablate === 'all' || name === options.ablate);
  if (chosen.length === 0) {
    program.error(
      `there is no ablation '${options.ablate}'; there are: all, ${Object.keys(TAKEN).join(', ')}`,
    );
  }
  const tasks = chosen.map((ablate) => ({
    ablate,
    run: options.run ?? (TAKEN[ablate]?.run as string),
    maxStates: options.max,
  }));
  const ablations: object[] = [];
  let missed = 0;
  await performAll(tasks, ({ ablate = '' }, result) => {
    const found = result.violations > 0 || result.stuck > 0;
    if (!found) missed += 1;
    const { name, states, seconds, first } = result;
    const problem = first?.problems[0];
    ablations.push({
      ablate,
      rule: TAKEN[ablate]?.rule,
      run: name,
      found,
      states,
      stuck: result.stuck,
      seconds,
      problem,
    });
    if (options.json !== true) {
      console.log(`${ablate} (${name}, ${states} states): ${found ? (problem ?? 'stuck') : 'NOTHING FOUND'}`);
    }
    if (options.trace === true) showTrace(result);
  });
  if (options.json === true) console.log(JSON.stringify({ ablations }));
  if (missed > 0) process.exitCode = 1;
}

const program = new Command('model')
  .description(
    'Explores every state that small configurations can reach under the real rules (docs/PROOF.md).',
  )
  .option('--run <name>', `only this run: ${RUNS.join(', ')}`)
  .option('--max <n>', 'stop a run at so many states', whole, NO_BOUND)
  .option('--ablate <rule>', `take a rule away and find what breaks: all, ${Object.keys(TAKEN).join(', ')}`)
  .option('--trace', 'print the shortest trace to a violation')
  .option('--json', 'one JSON line at the end');

if (process.env['MODEL_TASK'] === '1') {
  process.once('message', (task: Task) => {
    void perform(task).then((result) => process.send?.(result, () => process.disconnect()));
  });
} else {
  program.parse();
  const options = program.opts<Options>();
  await (options.ablate === undefined ? checkAll(options) : checkAblations(options));
}
