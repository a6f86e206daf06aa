/**
 * An index without capacity: for a while a write that changes its contents is refused as a whole, while reads
 * and all other writes succeed. DynamoDB does so if a partition of an index gets too many writes.
 *
 * Owns: when, in which index and for which share of the writes, drawn from its own random stream, so that the
 * worlds of all seeds stay as they were until the first refusal. Does not own: the reaction of a refused
 * caller.
 *
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/gsi-throttling.html
 */

import { isOpen, type Question, questionKey } from '../../lib/core/records/question.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { seededRandom } from '../../lib/memory/world.ts';
import type { Faults } from './faults.ts';
import { isIn, type Span } from './outages.ts';
import { choiceOf } from './plans.ts';

/** A stream other than the world's own. */
const INDEX_STREAM = 0x1d_e4_ed;
const SHARE = 0.5;
const MOST_SPANS = 3;
const LATEST_START_MS = 500_000;

const INDEXES = ['wake', 'list', 'inbox'] as const;
type Index = (typeof INDEXES)[number];

interface Refusal extends Span {
  readonly index: Index;
  /** The only shard of the wake index without capacity. */
  readonly shard: number;
  readonly share: number;
}

/** Whether a write is refused now. */
export type RefusedIndex = (
  now: number,
  shard: number,
  before: Snapshot | undefined,
  write: Omit<Write, 'executionId'>,
) => boolean;

export function drawRefusedIndex(
  seed: number,
  faults: Faults,
  startAt: number,
  shards: number,
): RefusedIndex {
  const choice = choiceOf(seededRandom(seed ^ INDEX_STREAM));
  const count = choice.chance(SHARE) ? choice.between(1, MOST_SPANS) : 0;
  const refusals = Array.from({ length: count }, (): Refusal => {
    const from = startAt + choice.between(0, LATEST_START_MS);
    const until = from + choice.between(5_000, 120_000);
    // Nothing goes on without a wake time, so the worst index is the most likely.
    const index = choice.chance(0.6) ? 'wake' : choice.pick(INDEXES);
    return { from, until, index, shard: choice.between(0, shards - 1), share: choice.pick([0.3, 0.8, 1]) };
  });
  return (now, shard, before, write) =>
    refusals.some(
      (one) =>
        isIn(one, now) &&
        (one.index !== 'wake' || one.shard === shard) &&
        changes(one.index, before, write) &&
        choice.chance(one.share) &&
        faults.strikes('refusedIndex'),
    );
}

const wasOpen = (before: Snapshot | undefined, question: Question): boolean => {
  const known = before?.questions?.[questionKey(question)];
  return known !== undefined && isOpen(known);
};

function changes(
  index: Index,
  before: Snapshot | undefined,
  { execution, question }: Omit<Write, 'executionId'>,
): boolean {
  if (index === 'inbox') return question !== undefined && isOpen(question) !== wasOpen(before, question);
  if (execution === undefined) return false;
  const was = before?.execution;
  return index === 'wake' ? execution.wakeAt !== was?.wakeAt : execution.status !== was?.status;
}
