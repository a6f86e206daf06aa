/**
 * The effect key: the name under which the external service knows a step's request.
 *
 * Owns: its text, which part of it is fresh, and when an attempt gets another key than the one before. Does
 * not own: where a life is stored (`execution/start.ts`), when a variant is entered (`report.ts`).
 *
 * S18 a key stands for one life of an execution, one step, and one request of it: the agent and the input of
 * a variant of its recovery, or the input that a person gave. If an external service knows the key, it may
 * answer from memory, or refuse anything else under it. So plain repetitions keep the key; a different
 * request has the next number, and so has any attempt after an undo, because the service would answer with
 * what it has taken back. The claim records what its key stands for; probes, undos and a late success go by
 * that record. No variant is entered while the outcome of another is open (`report.ts`), so at most one key
 * of a step is in effect.
 */

import { canonicalJson, type Json } from '../values/json.ts';
import { keyPartOf } from '../values/names.ts';
import { variantNumber } from './recovery.ts';
import { isOnFailure } from '../plan/on-failure.ts';
import type { AgentStep, Plan } from '../plan/plan.ts';
import type { Execution, Step } from '../records/state.ts';
import type { StepChanges } from '../decisions/change.ts';
import { firstDefined } from '../values/defined.ts';

const LIFE_CHARS = 10;

/**
 * Lower-case letters and digits, so that a key may be a part of a file's name or of an address.
 * @param freshId of the random source
 */
export const lifeOf = (freshId: string): string =>
  freshId
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .slice(-LIFE_CHARS);

/**
 * `<execution>.<step>.<life>`, for a later key `-<number>` after that. For an on-failure step
 * `<execution>.on-failure-<epoch>.<step>.<life>`: the same end is never reported twice, and the next end is
 * reported again. For an item of a list its place replaces its name.
 * @param number from 1
 * @param epoch of an on-failure step, `keyEpoch`
 */
export function effectKeyOf(
  { id, life }: Pick<Execution, 'id' | 'life'>,
  step: string,
  number = 1,
  epoch?: number,
): string {
  const first = `${id}.${epoch === undefined ? '' : `on-failure-${epoch}.`}${keyPartOf(step)}.${life}`;
  return number === 1 ? first : `${first}-${number}`;
}

/** The part of the effect key that says after which end an on-failure step follows; none for other steps. */
export const keyEpoch = (plan: Plan, { name, epoch }: Pick<Step, 'name' | 'epoch'>): number | undefined =>
  isOnFailure(plan, name) ? epoch : undefined;

/**
 * The fields about its key that the claim of an attempt to execute records.
 * @param step as the plan has it, or any variant of it; also a child's next try
 */
export function keyOfClaim(step: Pick<AgentStep, 'recovery'>, before: Step): StepChanges {
  const keyVariant = variantNumber(step, before.stage);
  const isSameVariant = keyVariant === before.keyVariant;
  // The input that a person gave also counts for this variant's further attempts.
  const keyInput = firstDefined(before.givenInput, isSameVariant ? before.keyInput : undefined);
  const isSame = isSameVariant && isSameInput(keyInput, before.keyInput);
  const isNext = before.keySpent === true || (before.attempt > 0 && !isSame);
  return {
    // Nothing of the former key is open: its outcome is known, it is undone, or it has no effect and is over.
    ...(isNext ? { mayHaveActed: false } : {}),
    key: isNext ? before.key + 1 : before.key,
    keyVariant,
    keyInput,
    keySpent: undefined,
    givenInput: undefined,
  };
}

const isSameInput = (one: Json | undefined, other: Json | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && canonicalJson(one) === canonicalJson(other));
