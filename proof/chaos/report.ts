/**
 * Makes the verdict of a run from its records. Pure.
 *
 * Owns: the summary (the JSON line), the limits, the lines that explain a failure. Does not own: the checks
 * themselves (`table-audit.ts`, `detection.ts`, the example's `audit.ts`).
 */

import { audit, type AuditedExecution, type Finding } from '../../examples/order-fulfilment/audit.ts';
import type { OrderEntry as Entry } from '../../examples/order-fulfilment/world.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import { detectionLimitMs, longestLeaseMs } from './bounds.ts';
import {
  bereaved,
  type Claim,
  type Detection,
  detectionsOf,
  type Interval,
  percentile,
  type Strike,
  totalMs,
  unseen,
} from './detection.ts';
import type { EndedEvent } from './ended-events.ts';
import type { BlindSpots, Tally } from './saboteur.ts';
import { auditTable, interruptionsIn, type StartedKey, type TableContent } from './table-audit.ts';

export interface Facts {
  readonly minutes: number;
  readonly seed: number;
  readonly seconds: number;
  readonly healSeconds: number;
  readonly table: TableContent;
  readonly entries: readonly Entry[];
  readonly keys: readonly StartedKey[];
  readonly clientProblems: readonly string[];
  readonly tally: Tally;
  readonly strikes: readonly Strike[];
  readonly claims: readonly Claim[];
  readonly withoutSupervisor: readonly Interval[];
  /** The bodies of the messages in all dead-letter queues. */
  readonly deadLetters: readonly string[];
  readonly events: readonly EndedEvent[];
  readonly machine: Machine;
}

/** Whether the machine could keep up: all calls of all functions go through this one process. */
export interface Machine {
  readonly processors: number;
  /** Mean number of processes that ran or waited for a processor, over the last five minutes. */
  readonly load: number;
  /** How late this process's timers were, p99. */
  readonly lateMs: number;
}

interface Times {
  readonly p50: number;
  readonly p99: number;
  readonly n: number;
}

/** Every summary's description of the run: what struck, and how long it took. */
export interface Run extends Readonly<BlindSpots> {
  readonly minutes: number;
  readonly seed: number;
  readonly kills: Tally['kills'];
  readonly totalKills: number;
  readonly freezes: number;
  readonly storeRestarts: number;
  readonly ambiguous: number;
  readonly throttled: number;
  readonly transactions: number;
  readonly deadLetters: number;
  readonly healSeconds: number;
  readonly seconds: number;
  readonly machine: Machine;
}

export interface Summary extends Run {
  readonly executions: number;
  readonly succeeded: number;
  readonly compensated: number;
  readonly failed: number;
  readonly canceled: number;
  readonly lost: number;
  readonly doubled: number;
  readonly stuck: number;
  /** Other things that must not happen: a leased step after the end, a wrong answer to a client, … */
  readonly findings: number;
  /** All detections; `supervised` leaves out those during which a struck supervisor was missing. */
  readonly detectMs: Times & { readonly max: number; readonly limit: number; readonly supervised: Times };
  readonly secondsWithoutSupervisor: number;
  /** Leases that ended although nothing struck their holder: the store was away for too long. */
  readonly otherLeaseEnds: number;
}

export interface Report {
  readonly summary: Summary;
  /** Limits that were broken; empty if all is well. */
  readonly failures: readonly string[];
  /** The findings, one line each. */
  readonly lines: readonly string[];
}

/** Only runs of at least this length can meet the contract's own numbers. */
const LONG_ENOUGH_MINUTES = 1;
const KILLS_PER_MINUTE = 20;

export function report(facts: Facts): Report {
  const plan = [...facts.table.plans.values()][0];
  if (plan === undefined) throw new Error('there is no plan in the table: nothing was started');
  const executions = facts.table.snapshots.map(({ execution }) => execution);
  const byStatus = (status: Execution['status']): number =>
    executions.filter((execution) => execution.status === status).length;
  const table = auditTable(facts.table, facts.keys);
  const ledger = audit(facts.entries, facts.table.snapshots.map(claimOf)).findings;
  const found = detectionsOf(interruptionsIn(facts.table), facts.strikes, facts.claims, longestLeaseMs(plan));
  const alone = bereaved(facts.withoutSupervisor, facts.strikes);
  const supervised = found.detections.filter((detection) => !unseen(detection, alone));
  const all = timesOf(found.detections);
  const findings = [...table.findings, ...facts.clientProblems];
  const summary: Summary = {
    ...runOf(facts),
    executions: executions.length,
    succeeded: byStatus('succeeded'),
    compensated: byStatus('compensated'),
    failed: byStatus('failed'),
    canceled: byStatus('canceled'),
    lost: table.lost.length + countOf(ledger, 'lost', 'untrue', 'stray-undo'),
    doubled: table.doubled.length + countOf(ledger, 'double', 'double-undo'),
    stuck: table.stuck.length,
    findings: findings.length,
    detectMs: {
      ...all,
      max: Math.max(0, ...found.detections.map(({ ms }) => ms)),
      limit: detectionLimitMs(plan),
      supervised: timesOf(supervised),
    },
    secondsWithoutSupervisor: Math.round(totalMs(alone) / 1_000),
    otherLeaseEnds: found.unexplained.length,
  };
  const lines = [
    ...table.stuck.map((line) => `stuck    ${line}`),
    ...table.lost.map((line) => `lost     ${line}`),
    ...table.doubled.map((line) => `doubled  ${line}`),
    ...ledger.map(({ kind, executionId, detail }) => `${kind.padEnd(8)} ${executionId}: ${detail}`),
    ...findings.map((line) => `finding  ${line}`),
    ...notesOn(executions, facts.deadLetters),
    ...found.detections
      .filter(({ ms }) => ms > summary.detectMs.limit)
      .map((late) => lateLine(late, unseen(late, alone))),
  ];
  return { summary, failures: failuresOf(summary), lines };
}

/** Things that are allowed, but still worth knowing. */
function notesOn(executions: readonly Execution[], deadLetters: readonly string[]): string[] {
  const statusOf = new Map(executions.map(({ id, status }) => [id, status]));
  return [
    ...executions
      .filter(isCompensationFailed)
      .map(({ id, cause }) => `note     ${id}: ${cause?.failure.message}`),
    ...deadLetters.map((body) => {
      const { execution = '' } = JSON.parse(body) as { readonly execution?: string };
      return `note     dead letter ${body}: its execution is ${statusOf.get(execution) ?? 'not known'}`;
    }),
  ];
}

function lateLine({ executionId, step, strike, ms }: Detection, wasUnseen: boolean): string {
  const { kind, target, pid, at } = strike;
  const why = wasUnseen ? '; for a part of it there was no supervisor' : '';
  return `late     ${executionId} ${step}: ${kind} of ${target} (pid ${pid}, ${new Date(at).toISOString()}) was recorded after ${ms} ms${why}`;
}

export function failuresOf(summary: Summary): string[] {
  const { detectMs } = summary;
  const mustBeZero = (['lost', 'doubled', 'stuck', 'findings'] as const)
    .filter((key) => summary[key] > 0)
    .map((key) => `${summary[key]} ${key}`);
  const late = detectMs.p99 > detectMs.limit;
  const onlyUnseen = detectMs.supervised.n > 0 && detectMs.supervised.p99 <= detectMs.limit;
  const because = onlyUnseen
    ? ` (${detectMs.supervised.p99} ms while there was a supervisor: a dead one delays by one tick)`
    : '';
  return [
    ...mustBeZero,
    ...(late ? [`detection p99 is ${detectMs.p99} ms, the limit is ${detectMs.limit} ms${because}`] : []),
    ...(summary.minutes >= LONG_ENOUGH_MINUTES ? missingFaults(summary) : []),
  ];
}

export function runOf({ tally, ...facts }: Facts): Run {
  return {
    minutes: facts.minutes,
    seed: facts.seed,
    ...tally,
    totalKills: Object.values(tally.kills).reduce((sum, count) => sum + count, 0),
    deadLetters: facts.deadLetters.length,
    healSeconds: facts.healSeconds,
    seconds: facts.seconds,
    machine: facts.machine,
  };
}

/** Kinds of faults that never struck, and too few kills. */
export function missingFaults(
  summary: Omit<Run, 'seed' | 'deadLetters' | 'healSeconds' | 'seconds' | 'machine'>,
): string[] {
  const enough = Math.floor(summary.minutes * KILLS_PER_MINUTE);
  const never = [
    ...Object.entries(summary.kills).map(([name, count]) => [`kill of ${name}`, count] as const),
    ['freeze', summary.freezes] as const,
    ['store restart', summary.storeRestarts] as const,
    ['ambiguous answer', summary.ambiguous] as const,
    ['throttling', summary.throttled] as const,
    ['late index', summary.lateIndexes] as const,
    // Simple orders rarely need a transaction, and some runs need none.
    ...(summary.transactions > 0 ? [['write refused by an index', summary.refusedIndexes] as const] : []),
    ['thaw with its connections cut', summary.cutThaws] as const,
    ['receive of a throttled function', summary.burntReceives] as const,
  ].filter(([, count]) => count === 0);
  return [
    ...(summary.totalKills < enough ? [`${summary.totalKills} kills, ${enough} are asked for`] : []),
    ...never.map(([name]) => `no ${name} struck, so it was not tested`),
  ];
}

const timesOf = (detections: readonly { readonly ms: number }[]): Times => {
  const ms = detections.map((detection) => detection.ms);
  return { p50: percentile(ms, 0.5), p99: percentile(ms, 0.99), n: ms.length };
};

const countOf = (findings: readonly Finding[], ...kinds: Finding['kind'][]): number =>
  findings.filter(({ kind }) => kinds.includes(kind)).reduce((sum, { count }) => sum + count, 0);

const isCompensationFailed = ({ cause }: Execution): boolean => cause?.failure.code === 'compensation-failed';

/**
 * An execution's report of its effects, in the words of the example's audit. `failed` means that nothing had
 * to be undone, unless an undo failed: only then may effects be left.
 */
const claimOf = ({ execution, steps }: Snapshot): AuditedExecution => ({
  executionId: execution.id,
  steps: Object.values(steps),
  status:
    execution.status === 'failed' && !isCompensationFailed(execution) ? 'compensated' : execution.status,
});
