/**
 * The types and short texts that all parts of an explanation share.
 *
 * Owns: the text of a failure and of the items of a list. Does not own: the explanations (`explain/why.ts`,
 * `explain/past.ts`, `explain/waiting-for.ts`, `explain/warnings.ts`).
 */

import { BUG } from '../core/values/bug.ts';
import type { Failure } from '../core/values/failure.ts';
import type { Step } from '../core/records/state.ts';
import { defined } from '../core/values/defined.ts';
import { durationText, timeText } from '../core/values/text.ts';
import type { Coming } from '../core/step/rule.ts';
import type { ItemsSoFar } from '../core/waiting/map.ts';

/** A future event: it happens by `at` at the latest, unless an earlier event changes it. */
export interface Next {
  readonly what: string;
  /** Epoch ms; absent if the event waits for another step. */
  readonly at?: number;
  /** Absent if nothing will happen. */
  readonly who?: Coming['who'];
  readonly step?: string;
}

/** Follows the evidence of a step that stands still because its execution is paused. */
export const AND_PAUSED = ', and the execution is paused';

/** A past event, with the record that shows it. */
export interface Happened {
  readonly at: number;
  readonly what: string;
  readonly step?: string;
  readonly evidence: Readonly<Record<string, unknown>>;
}

/**
 * Prints 'at least 25 of 60 items ended'. The parent of a list sees how items ended only once all items of a
 * part have ended, so some ended items may not be counted yet.
 */
export function itemsText({ count, begun, ended }: ItemsSoFar, isRunning: boolean): string {
  const over = Object.values(ended).reduce((sum, one) => sum + one, 0);
  const waiting = isRunning && begun < count ? `, ${count - begun} not begun` : '';
  if (isRunning && over === 0) return `${begun} of ${count} items under way${waiting}`;
  return `${over < begun ? 'at least ' : ''}${over} of ${count} items ended${waiting}`;
}

/** Follows a failure that the code itself caused: says what to do, and what happens then. */
export function mendText(failure: Failure | undefined, status: Step['status']): string {
  const mends =
    failure?.code === BUG
      ? 'deploy a fixed version'
      : failure?.code === 'input-refused'
        ? "fix the workflow's input or the agent's schema, and deploy"
        : undefined;
  const then = THEN[status];
  return mends === undefined || then === undefined ? '' : `; ${mends}${then}`;
}

const THEN: Partial<Readonly<Record<Step['status'], string>>> = {
  retrying: ': it then continues by itself',
  unknown: ': it then continues by itself',
  compensating: ': it then continues by itself',
  waiting: ", then answer 'retry'",
  'compensation-failed': ", then answer 'retry'",
  failed: ', then retry what has failed',
};

export const inBrackets = (failure: Failure | undefined): string =>
  failure === undefined ? '' : ` (${failure.code}: ${failure.message})`;

interface LaneText {
  readonly name: string;
  readonly place?: number;
  readonly holders: readonly string[];
}

const MOST_NAMED = 3;

/** Prints "place 2 in the queue of lane 'import'; e-1 and e-7 have a place". */
export function laneText(lane: LaneText | undefined): string {
  if (lane === undefined) return 'it waits for a place in its lane';
  const { name, place, holders } = lane;
  const where = place === undefined ? 'it waits' : `place ${place}`;
  const more = holders.length > MOST_NAMED ? [`${holders.length - MOST_NAMED} more`] : [];
  const named = [...holders.slice(0, MOST_NAMED), ...more].join(', ');
  return `${where} in the queue of lane '${name}'${named === '' ? '' : `; held by ${named}`}`;
}

/** Code that began to run at most this long before a failure began may have caused it. */
const SOON_MS = 300_000;
/** A supervisor notices a deployment this much later than agents run its code: it ticks once a minute. */
const NOTICED_WITHIN_MS = 120_000;

/** When the running code was started, in one process, or deployed; empty if that is unknown. */
export interface CodeStart {
  readonly startedAt?: number;
  readonly deployedAt?: number;
}

/**
 * Returns the starts that the failure followed soon.
 * @param since when the failure began
 */
export function startBehind(since: number | undefined, { startedAt, deployedAt }: CodeStart): CodeStart {
  const soon = (at: number | undefined, earlyMs = 0): number | undefined =>
    since !== undefined && at !== undefined && since >= at - earlyMs && since - at <= SOON_MS
      ? at
      : undefined;
  return defined({ startedAt: soon(startedAt), deployedAt: soon(deployedAt, NOTICED_WITHIN_MS) });
}

export function afterStart(at: number, { startedAt, deployedAt }: CodeStart): string {
  if (deployedAt !== undefined) return `, with the deployment of ${timeText(deployedAt)}`;
  return startedAt === undefined
    ? ''
    : `, ${durationText(at - startedAt)} after the start of ${timeText(startedAt)}`;
}
