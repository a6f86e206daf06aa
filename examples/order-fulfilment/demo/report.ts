/**
 * Prints the demo's final report: what happened to each order, whether it was expected, and one JSON line.
 *
 * Owns: the judgement (status, history, ledger and fault of every order) and its wording. Pure. Does not own:
 * the expectations (`scenarios.ts`), what counts as double or lost (`audit.ts`).
 */

import { type Audit, audit, type Counts } from '../audit.ts';
import type { Rule } from '../../world/behaviour.ts';
import type { OrderEntry as Entry } from '../world.ts';
import { type Execution, hasEnded } from './api.ts';
import {
  detectedAfter,
  type Facts,
  FROZEN,
  type Freeze,
  type Kill,
  KILLED,
  type Scenario,
} from './scenarios.ts';

/** All observations, before any judgement. */
export interface Observations {
  readonly orders: readonly { readonly scenario: Scenario; readonly execution: Execution }[];
  readonly entries: readonly Entry[];
  readonly rules: readonly Rule[];
  readonly kill: Kill | undefined;
  readonly freeze: Freeze | undefined;
  readonly supervisorKill: Kill | undefined;
  readonly seconds: number;
}

/** The content of the JSON line. */
export interface Summary {
  readonly executions: number;
  readonly asExpected: number;
  readonly doubleCharges: number;
  readonly lostCharges: number;
  readonly stuck: number;
  readonly recoveries: number;
  readonly detectMsP50: number | null;
  readonly seconds: number;
}

export interface Report {
  readonly lines: readonly string[];
  readonly summary: Summary;
  readonly allAsExpected: boolean;
}

interface Judged {
  readonly scenario: Scenario;
  readonly facts: Facts;
  /** Why the order did not go as expected. */
  readonly problems: readonly string[];
}

export function report(seen: Observations): Report {
  const executions = seen.orders.map(({ execution }) => execution);
  const audited = audit(seen.entries, executions);
  const orders = seen.orders.map(({ scenario, execution }) => judge(seen, scenario, execution, audited));
  const ownIds = new Set(executions.map(({ executionId }) => executionId));
  const unsupervised = supervisorProblems(seen);
  const general = [
    ...audited.findings.filter(({ executionId }) => !ownIds.has(executionId)).map(({ detail }) => detail),
    ...unsupervised,
  ];
  const detections = orders.map(({ facts }) => detectedAfter(facts)).filter((ms) => ms !== undefined);
  const summary: Summary = {
    executions: orders.length,
    asExpected: orders.filter(({ problems }) => problems.length === 0).length,
    doubleCharges: audited.doubleCharges,
    lostCharges: audited.lostCharges,
    stuck: executions.filter((execution) => !hasEnded(execution)).length,
    recoveries: executions.filter(hasEnded).flatMap(lostAttempts).length,
    detectMsP50: median(detections),
    seconds: Math.round(seen.seconds * 10) / 10,
  };
  const lines = [
    ...orders.flatMap(orderLines),
    ...(unsupervised.length === 0 ? SUPERVISOR_STORY : []),
    ...general.map((problem) => `  NOT AS EXPECTED: ${problem}`),
    inOneLine(summary),
  ];
  // A finding of the audit is a problem of its order, or a general one.
  const allAsExpected = summary.asExpected === orders.length && general.length === 0;
  return { lines, summary, allAsExpected };
}

function judge(seen: Observations, scenario: Scenario, execution: Execution, audited: Audit): Judged {
  const { executionId } = execution;
  const counts = audited.executions.find((each) => each.executionId === executionId)?.counts;
  if (counts === undefined) throw new Error(`the audit left out ${executionId}`);
  const rules = seen.rules.filter((rule) => rule.match?.about === scenario.orderId);
  const facts: Facts = {
    execution,
    counts,
    entries: seen.entries.filter((entry) => entry.executionId === executionId),
    fired: rules.reduce((sum, rule) => sum + rule.fired, 0),
    // A fault belongs to the order that it was meant for.
    kill: scenario === KILLED ? seen.kill : undefined,
    freeze: scenario === FROZEN ? seen.freeze : undefined,
  };
  const findings = audited.findings.filter((finding) => finding.executionId === executionId);
  const problems = [
    ...problemsOf(scenario, facts),
    ...findings.map(({ kind, detail }) => `${kind}: ${detail}`),
  ];
  return { scenario, facts, problems };
}

function problemsOf(scenario: Scenario, facts: Facts): string[] {
  const { status } = facts.execution;
  const counts = inWords(facts.counts);
  const expected = inWords(scenario.expectedCounts);
  return [
    status !== scenario.expectedStatus && `its status is ${status}, not ${scenario.expectedStatus}`,
    counts !== expected && `its ledger has ${counts}, not ${expected}`,
    ...scenario.problems(facts),
  ].filter((problem) => problem !== false);
}

/** The supervisor must have been killed, and the two silent agents noticed afterwards. */
function supervisorProblems({ supervisorKill, orders }: Observations): string[] {
  if (supervisorKill === undefined) return ['the supervisor was not killed'];
  const silent = orders.filter(({ scenario }) => scenario === KILLED || scenario === FROZEN);
  const unnoticed = silent.filter(
    ({ execution }) => !lostAttempts(execution).some(({ endedAt }) => endedAt > supervisorKill.at),
  );
  return unnoticed.map(
    ({ scenario }) => `after the supervisor was killed, nobody noticed ${scenario.orderId}`,
  );
}

/** Attempts with an unknown outcome; in an ended execution each of them was resolved. */
const lostAttempts = (execution: Execution): Execution['steps'][number]['attempts'] =>
  execution.steps.flatMap(({ attempts }) => attempts.filter(({ outcome }) => outcome === 'unknown'));

export function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? null : Math.round((low + high) / 2);
}

function orderLines({ scenario, facts, problems }: Judged): string[] {
  const { status, startedAt, endedAt } = facts.execution;
  const took = endedAt === undefined ? '' : ` after ${((endedAt - startedAt) / 1_000).toFixed(1)} s`;
  return [
    `${problems.length === 0 ? '✔' : '✘'} ${scenario.orderId} (${scenario.title}): ${status}${took}`,
    ...(problems.length === 0 ? wrapped(scenario.tell(facts)) : []),
    ...problems.map((problem) => `  NOT AS EXPECTED: ${problem}`),
    `  Ledger: ${inWords(facts.counts)}.`,
  ];
}

/** Indents a text, and wraps it at a readable width. */
function wrapped(text: string): string[] {
  return (text.match(/.{1,98}(?:\s|$)/g) ?? []).map((line) => `  ${line.trimEnd()}`);
}

const inOneLine = (summary: Summary): string =>
  `${summary.asExpected} of ${summary.executions} orders as expected. Charged twice: ${summary.doubleCharges}. ` +
  `Charges lost: ${summary.lostCharges}. Stuck: ${summary.stuck}.`;

const SUPERVISOR_STORY = [
  '✔ The supervisor was killed (SIGKILL) before it had noticed either silent agent.',
  '  It keeps nothing to itself: the next one read the same table and noticed both.',
];

function inWords(counts: Counts): string {
  const words = Object.entries(counts).filter(([, count]) => count > 0);
  return words.map(([kind, count]) => `${count} ${kind}${count === 1 ? '' : 's'}`).join(', ') || 'nothing';
}
