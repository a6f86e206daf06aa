/**
 * What the demo says at its end: per order what happened and whether it is as expected, then one JSON line.
 *
 * Owns: the judgement (status, history, ledger and fault of every order) and its wording. Pure. Does not own: what
 * each order expects (`scenarios.ts`), what a double or a loss is (`world/audit.ts`).
 */

import { audit, type Counts } from '../world/audit.ts';
import type { Rule } from '../world/behaviour.ts';
import type { Entry } from '../world/ledger.ts';
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

/** Everything that was seen, before any judgement. */
export interface Observations {
  readonly orders: readonly { readonly scenario: Scenario; readonly execution: Execution }[];
  readonly entries: readonly Entry[];
  readonly rules: readonly Rule[];
  readonly kill: Kill | undefined;
  readonly freeze: Freeze | undefined;
  readonly supervisorKill: Kill | undefined;
  readonly seconds: number;
}

/** The JSON line. */
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

export function report(seen: Observations): Report {
  const executions = seen.orders.map(({ execution }) => execution);
  const audited = audit(seen.entries, executions);
  const orders = seen.orders.map(({ scenario, execution }) => {
    const counts = audited.executions.find(
      ({ executionId }) => executionId === execution.executionId,
    )?.counts;
    const facts = factsOf(seen, scenario, execution, counts ?? scenario.expectedCounts);
    const findings = audited.findings.filter(({ executionId }) => executionId === execution.executionId);
    const problems = [
      ...problemsOf(scenario, facts),
      ...findings.map(({ kind, detail }) => `${kind}: ${detail}`),
    ];
    return { scenario, execution, facts, problems };
  });
  const ownIds = new Set(executions.map(({ executionId }) => executionId));
  const general = [
    ...audited.findings.filter(({ executionId }) => !ownIds.has(executionId)).map(({ detail }) => detail),
    ...supervisorProblems(seen),
  ];
  const detections = orders.map(({ facts }) => detectedAfter(facts)).filter((ms) => ms !== undefined);
  const summary: Summary = {
    executions: orders.length,
    asExpected: orders.filter(({ problems }) => problems.length === 0).length,
    doubleCharges: audited.doubleCharges,
    lostCharges: audited.lostCharges,
    stuck: executions.filter((execution) => !hasEnded(execution)).length,
    recoveries: executions.filter(hasEnded).reduce((sum, execution) => sum + recoveriesOf(execution), 0),
    detectMsP50: median(detections),
    seconds: Math.round(seen.seconds * 10) / 10,
  };
  const lines = [
    ...orders.flatMap(({ scenario, execution, facts, problems }) =>
      orderLines(scenario, execution, facts, problems),
    ),
    ...supervisorLines(seen),
    ...general.map((problem) => `  NOT AS EXPECTED: ${problem}`),
  ];
  const { asExpected, doubleCharges, lostCharges, stuck } = summary;
  const clean =
    asExpected === orders.length && doubleCharges + lostCharges + audited.doubleRefunds + stuck === 0;
  return { lines, summary, allAsExpected: clean && general.length === 0 };
}

/** The fault belongs to the order it was meant for. */
function factsOf(seen: Observations, scenario: Scenario, execution: Execution, counts: Counts): Facts {
  const rules = seen.rules.filter((rule) => rule.match?.orderId === scenario.orderId);
  return {
    execution,
    counts,
    entries: seen.entries.filter(({ executionId }) => executionId === execution.executionId),
    fired: rules.reduce((sum, rule) => sum + rule.fired, 0),
    kill: scenario === KILLED ? seen.kill : undefined,
    freeze: scenario === FROZEN ? seen.freeze : undefined,
  };
}

function problemsOf(scenario: Scenario, facts: Facts): string[] {
  const { status } = facts.execution;
  const counts = JSON.stringify(facts.counts);
  const expected = JSON.stringify(scenario.expectedCounts);
  return [
    status !== scenario.expectedStatus && `its status is ${status}, not ${scenario.expectedStatus}`,
    counts !== expected && `its ledger has ${counts}, not ${expected}`,
    ...scenario.problems(facts),
  ].filter((problem) => problem !== false);
}

/** It must have been killed, and what it should have noticed must have been noticed afterwards. */
function supervisorProblems({ supervisorKill, orders }: Observations): string[] {
  if (supervisorKill === undefined) return ['the supervisor was not killed'];
  const after = orders.flatMap(({ execution }) =>
    lostAttempts(execution).filter(({ endedAt }) => endedAt > supervisorKill.at),
  );
  return after.length > 0 ? [] : ['nothing was noticed after the supervisor had been killed'];
}

/** Attempts whose outcome became unknown; in an ended execution each of them was settled. */
const lostAttempts = (execution: Execution): Execution['steps'][number]['attempts'] =>
  execution.steps.flatMap(({ attempts }) => attempts.filter(({ outcome }) => outcome === 'unknown'));

const recoveriesOf = (execution: Execution): number => lostAttempts(execution).length;

export function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? null : Math.round((low + high) / 2);
}

function orderLines(
  scenario: Scenario,
  execution: Execution,
  facts: Facts,
  problems: readonly string[],
): string[] {
  const took =
    execution.endedAt === undefined
      ? ''
      : ` after ${((execution.endedAt - execution.startedAt) / 1_000).toFixed(1)} s`;
  return [
    `${problems.length === 0 ? '✔' : '✘'} ${scenario.orderId} (${scenario.title}): ${execution.status}${took}`,
    ...(problems.length === 0 ? [`  ${scenario.tell(facts)}`] : []),
    ...problems.map((problem) => `  NOT AS EXPECTED: ${problem}`),
    `  Ledger: ${inWords(facts.counts)}.`,
  ];
}

function supervisorLines({ supervisorKill }: Observations): string[] {
  return supervisorKill === undefined
    ? []
    : [
        '✔ The supervisor was killed (SIGKILL) while it watched all this. The next one found the same work in the table.',
      ];
}

function inWords(counts: Counts): string {
  const words = Object.entries(counts).filter(([, count]) => count > 0);
  return words.map(([kind, count]) => `${count} ${kind}${count === 1 ? '' : 's'}`).join(', ') || 'nothing';
}
