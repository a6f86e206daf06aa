/**
 * The shapes and small words that all parts of an explanation share.
 *
 * Owns: how a failure and the items of a list are written. Does not own: what is said (`explain/why.ts`,
 * `explain/past.ts`, `explain/waiting-for.ts`, `explain/warnings.ts`).
 */

import { BUG } from '../core/values/bug.ts';
import type { Failure } from '../core/values/failure.ts';
import type { Step } from '../core/records/state.ts';
import { durationText, timeText } from '../core/values/text.ts';
import type { Coming } from '../core/step/rule.ts';
import type { ItemsSoFar } from '../core/waiting/map.ts';

/** Something that will happen: by itself at `at` at the latest, unless something earlier changes it. */
export interface Next {
  readonly what: string;
  /** Epoch ms; absent when it waits for another step. */
  readonly at?: number;
  /** Absent when nothing is to happen. */
  readonly who?: Coming['who'];
  readonly step?: string;
}

/** Something that happened, with the record it is read from. */
export interface Happened {
  readonly at: number;
  readonly what: string;
  readonly step?: string;
  readonly evidence: Readonly<Record<string, unknown>>;
}

/**
 * 'at least 25 of 60 items ended'. The parent of a list learns how its items ended once all of a part have:
 * until then some of them may have ended that are not counted.
 */
export function itemsText({ count, begun, ended }: ItemsSoFar, isRunning: boolean): string {
  const over = Object.values(ended).reduce((sum, one) => sum + one, 0);
  const waiting = isRunning && begun < count ? `, ${count - begun} not begun` : '';
  if (isRunning && over === 0) return `${begun} of ${count} items under way${waiting}`;
  return `${over < begun ? 'at least ' : ''}${over} of ${count} items ended${waiting}`;
}

/** Behind a failure that is the code's own: what is to be done, and what follows then. */
export function mendText(failure: Failure | undefined, status: Step['status']): string {
  const mends =
    failure?.code === BUG
      ? 'deploy a mended version'
      : failure?.code === 'input-refused'
        ? "mend the workflow's input or the agent's schema, and deploy"
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

/** "place 2 in the queue of lane 'import'; e-1 and e-7 have a place". */
export function laneText(lane: LaneText | undefined): string {
  if (lane === undefined) return 'it waits for a place in its lane';
  const { name, place, holders } = lane;
  const where = place === undefined ? 'it waits' : `place ${place}`;
  const more = holders.length > MOST_NAMED ? [`${holders.length - MOST_NAMED} more`] : [];
  const named = [...holders.slice(0, MOST_NAMED), ...more].join(', ');
  return `${where} in the queue of lane '${name}'${named === '' ? '' : `; held by ${named}`}`;
}

/** What began soon after other code began to run may well be its work. */
const SOON_MS = 300_000;

/**
 * @param since when it began
 * @param startedAt when the code that runs began to, where that is known
 * @returns the latter, if the former followed soon
 */
export const startBehind = (since: number | undefined, startedAt: number | undefined): number | undefined =>
  since !== undefined && startedAt !== undefined && since >= startedAt && since - startedAt <= SOON_MS
    ? startedAt
    : undefined;

export const afterStart = (at: number, startedAt: number | undefined): string =>
  startedAt === undefined
    ? ''
    : `, ${durationText(at - startedAt)} after the start of ${timeText(startedAt)}`;
