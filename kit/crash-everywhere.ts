/**
 * Runs a workflow once for every point at which a fault may occur, lets the system recover, and compares the
 * executions' records with the effects outside.
 *
 * Owns: the points, one run for each, the report. Does not own: judging a run (`verdict.ts`), driving it
 * (`driver.ts`).
 *
 * Each run has one fault. With deterministic agents, the runs are the same every time.
 */

import type { KeysOf } from '../lib/core/values/options.ts';
import type { Duration } from '../lib/core/values/duration.ts';
import { isSteadfastError, refuse } from '../lib/core/values/errors.ts';
import type { Workflow } from '../lib/core/plan/workflow.ts';
import { checkOptions } from './test-options.ts';
import type { AgentCall } from './agent-calls.ts';
import type { WorldEffect, ExternalWorld } from './external-world.ts';
import {
  type Evidence,
  type Expectation,
  expectationOf,
  namesOf,
  performed,
  placeOf,
  type Problem,
  problemsOf,
} from './verdict.ts';
import type { Injects } from './process.ts';
import { checkSlowest, type Slowest, slowestMs, timesOf, unsaid } from './slowest.ts';
import type { TestRun } from './test-run.ts';
import { TEST, type TestOptions, WorkflowTest } from './workflow-test.ts';

/** The options of `crashEverywhere`: the workflow's input, its external world and the faults to try. */
export interface CrashOptions<I> extends TestOptions {
  /** The input of every run. */
  readonly input: I;
  /**
   * Reads all effects of a run from the external world, by idempotency key, including undone ones. Effects of
   * other executions are ignored.
   * @default the effects of `world`; without it they are guessed from the calls of the agents' code: see
   * `blind` in the report
   */
  readonly effects?: () => readonly WorldEffect[] | Promise<readonly WorldEffect[]>;
  /**
   * The external world that the agents call, if it is an `externalWorld()`. Then each of their requests also
   * gets faults.
   */
  readonly world?: ExternalWorld;
  /**
   * What happens in a run: faults of external services, a cancel, answers to incidents. Afterwards, open
   * executions are run to their end.
   * @default (trial, input) => trial.start(input)
   */
  readonly scenario?: (trial: WorkflowTest<I>, input: I) => Promise<TestRun>;
  /**
   * How long a request may still take effect after its caller gave up, for all agents or by agent. Late
   * effects occur after the longer of this and the agent's `lateEffectWithin`.
   * @default the agent's `lateEffectWithin`; `blind` in the report says so
   */
  readonly slowest?: Slowest;
  /**
   * Tries one point only, as the report names it: 'after:write:7'. 'write:7' tries all faults at that place.
   */
  readonly only?: string;
  /**
   * The longest duration of a run in the test's time; a longer run counts as stuck.
   * @default '60d'
   */
  readonly within?: Duration;
  /**
   * The most runs. If there are more points, this many are chosen at equal distances.
   * @default 2000
   */
  readonly maxRuns?: number;
}

const CRASH = {
  ...TEST,
  input: true,
  effects: true,
  world: true,
  scenario: true,
  slowest: true,
  only: true,
  within: true,
  maxRuns: true,
} as const satisfies KeysOf<CrashOptions<unknown>>;

/** A fault with its wrong result. */
export interface CrashFinding extends Problem {
  /** The point; 'none' if the result is wrong even without a fault. */
  readonly point: string;
  /** The call or message with the fault: 'charge-card writes step 'charge' as done'. */
  readonly about: string;
  /** How to run this point alone. */
  readonly replay: string;
}

/** The result of all runs. */
export interface CrashReport {
  /** The findings. If it is empty, nothing is lost, doubled or stuck. */
  readonly findings: readonly CrashFinding[];
  /** The number of runs with a fault. */
  readonly runs: number;
  /** The number of points that `maxRuns` or `only` left out. */
  readonly leftOut: number;
  /** How the runs ended, including those without a fault: `{ succeeded: 61 }`. */
  readonly ends: Readonly<Record<string, number>>;
  /** All points, in the order of a run. */
  readonly points: readonly string[];
  /** What this test cannot judge: agents and effects. */
  readonly blind: readonly string[];
  /**
   * Texts about agents that never acted or whose undo was never called; a `scenario` can reach them. Empty if
   * points were left out.
   */
  readonly untouched: readonly string[];
  /** The whole report in words. */
  readonly text: string;
}

interface Point {
  readonly name: string;
  readonly about: string;
  readonly advice?: string | undefined;
}

/** Longer than any process lives. */
const LAST_PROCESS: Duration = '16m';

interface Outcome {
  readonly problems: readonly Problem[];
  readonly evidence: Evidence;
  readonly end: string;
}

/**
 * Breaks a workflow at every point, with one fault in each run. A process dies before and after each of its
 * writes, sends and announcements, with each message it has taken, and before and after each `execute`,
 * `probe` and `undo`. The reply of an `execute` or `undo` is lost, or its effect comes late. A process
 * freezes for two leases before it executes. A message is delivered twice. With `world`, all this also
 * happens around each of its requests.
 * @returns a report of lost and doubled effects and stuck executions; it does not throw for these
 * @throws SteadfastError `missing-agent`, `bad-input`, `unknown-agent`, `unknown-point`; whatever `scenario`
 * and `effects` throw
 */
export async function crashEverywhere<I>(
  workflow: Workflow<I>,
  options: CrashOptions<I>,
): Promise<CrashReport> {
  checkOptions('crashEverywhere', options, CRASH);
  checkSlowest(workflow, options.slowest);
  const points: Point[] = [];
  const first = await runOnce(workflow, options, 'none', undefined, (name, about, advice) => {
    points.push({ name, about, advice });
    return false;
  });
  const findings = first.problems.map((problem) => findingOf(workflow, problem, { name: 'none', about: '' }));
  const expected = expectationOf(first.evidence);
  const chosen = first.problems.length > 0 ? [] : choose(points, options);
  const ends: Record<string, number> = { [first.end]: 1 };
  const called = new Called(first.evidence.calls);
  for (const point of chosen) {
    const { name } = point;
    const outcome = await runOnce(workflow, options, name, expected, (reached) => reached === name);
    ends[outcome.end] = (ends[outcome.end] ?? 0) + 1;
    called.add(outcome.evidence.calls);
    findings.push(...outcome.problems.map((problem) => findingOf(workflow, problem, point)));
  }
  const report = {
    findings,
    runs: chosen.length,
    leftOut: points.length - chosen.length,
    ends,
    points: points.map((point) => point.name),
    blind: [
      ...blindSpots(first.evidence, expected),
      ...unsaid(workflow, options.slowest, first.evidence.calls),
    ],
    untouched: chosen.length < points.length ? [] : called.untouched(workflow),
  };
  return { ...report, text: textOf(workflow, report) };
}

async function runOnce<I>(
  workflow: Workflow<I>,
  options: CrashOptions<I>,
  point: string,
  expected: Expectation | undefined,
  injects: Injects,
): Promise<Outcome> {
  const { input, world, scenario = (trial: WorkflowTest<I>) => trial.start(input), within = '60d' } = options;
  // Every run has different idempotency keys, so that all runs can share agents.
  const prefix = `${workflow.name.slice(0, 30)}-${point.replaceAll(':', '-').replace(/[^a-z0-9-]/gi, '')}`;
  const trial = new WorkflowTest(workflow, options, {
    injects,
    idPrefix: prefix.toLowerCase(),
    slowestMs: (agent) => slowestMs(options.slowest, agent),
    ...(world === undefined ? {} : { world }),
  });
  const effects = options.effects ?? world?.effects;
  const problems: Problem[] = [];
  let end = 'stuck';
  try {
    const run = await scenario(trial, input);
    end = (await run.waitForEnd(within)).status;
    for (const other of trial.runs()) await other.waitForEnd(within);
    // Waits, because a frozen process, or one that counts as dead, may act after the end.
    await trial.skip(LAST_PROCESS);
    for (const late of timesOf(options.slowest)) await trial.skip(late);
  } catch (error) {
    if (!(isSteadfastError(error) && error.code === 'stuck')) throw error;
    problems.push({ kind: 'stuck', message: error.message });
  }
  const evidence: Evidence = {
    executions: await Promise.all(trial.runs().map((one) => one.records())),
    calls: trial.calls(),
    ...(effects === undefined ? {} : { effects: await effects() }),
  };
  const stuck = problems.length > 0;
  const judged = problemsOf(evidence, expected).filter(({ kind }) => !(stuck && kind === 'stuck'));
  return { problems: [...problems, ...judged], evidence, end };
}

/** @throws SteadfastError `unknown-point` */
function choose<I>(points: readonly Point[], { only, maxRuns = 2_000 }: CrashOptions<I>): readonly Point[] {
  if (only !== undefined) {
    const found = points.filter(({ name }) => name === only || name.endsWith(`:${only}`));
    if (found.length > 0 || only === 'none') return found;
    const shown = points.map(({ name }) => name).join(', ');
    throw refuse('unknown-point', `no run reaches '${only}'; there are: ${shown}`);
  }
  if (points.length <= maxRuns) return points;
  return Array.from(
    { length: maxRuns },
    (_, at) => points[Math.floor((at * points.length) / maxRuns)] as Point,
  );
}

function findingOf(workflow: { readonly name: string }, problem: Problem, point: Point): CrashFinding {
  const { name, about, advice } = point;
  const call = workflow.name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const message = advice === undefined ? problem.message : `${problem.message}; ${advice}`;
  return {
    ...problem,
    message,
    point: name,
    about,
    replay: `crashEverywhere(${call}, { …, only: '${name}' })`,
  };
}

/** Collects the agents whose code was called in any run. */
class Called {
  readonly #acted = new Set<string>();
  readonly #undone = new Set<string>();

  constructor(calls: readonly AgentCall[]) {
    this.add(calls);
  }

  add(calls: readonly AgentCall[]): void {
    for (const { agent, on } of calls) (on === 'undo' ? this.#undone : this.#acted).add(agent);
  }

  untouched({ agents }: Pick<Workflow, 'agents'>): string[] {
    const specs = agents.map(({ spec }) => spec);
    const idle = specs.filter(({ name }) => !this.#acted.has(name));
    const kept = specs.filter(
      ({ name, undo }) => this.#acted.has(name) && undo !== 'none' && !this.#undone.has(name),
    );
    return [...noted('never acted here', idle), ...noted('never undone here', kept)];
  }
}

const noted = (what: string, specs: readonly { readonly name: string }[]): string[] =>
  specs.length === 0 ? [] : [`${what}: ${specs.map(({ name }) => name).join(', ')}`];

function blindSpots(evidence: Evidence, { effects: usual }: Expectation): string[] {
  const { effects, executions } = evidence;
  const names = namesOf(evidence);
  const unseen = executions.flatMap((shown) =>
    performed(shown)
      .filter(({ name, status }) => status === 'done' && !usual.has(placeOf(shown, name)))
      .map(
        ({ name }) =>
          `the effects given have none of step ${names.quoted(shown.state.execution.id, name)}, so a missing one would not be noticed`,
      ),
  );
  if (effects !== undefined) return [...new Set(unseen)];
  return [
    'without `effects` only the agents’ code is seen: whether it ran to its end, and what it returned. Whether an idempotent service deduplicates is judged by its answers alone, and an undo that returns is believed',
  ];
}

function textOf(workflow: { readonly name: string }, report: Omit<CrashReport, 'text'>): string {
  const { findings, runs, leftOut, ends, blind, untouched } = report;
  const ended = Object.entries(ends).map(([status, count]) => `${count} ${status}`);
  const leftOutText = leftOut === 0 ? '' : `, ${leftOut} points left out`;
  return [
    `${workflow.name}: ${runs} runs with one fault each${leftOutText}; ended: ${ended.join(', ')}; ${findings.length === 0 ? 'nothing lost, doubled or stuck' : `${findings.length} ${findings.length === 1 ? 'finding' : 'findings'}`}`,
    ...findings.flatMap(({ kind, point, about, message, replay }) => [
      about === '' ? `${kind} without any fault` : `${kind} at ${point} (${about})`,
      `  ${message}`,
      `  again: ${replay}`,
    ]),
    ...blind.map((line) => `not seen: ${line}`),
    ...untouched,
  ].join('\n');
}
