/**
 * The effect key: the name under which the external service knows a step's request.
 *
 * Owns: the key's text, and when an attempt gets another key than the previous one. Does not own: where a
 * life is stored (`execution/start.ts`), when a variant begins (`report.ts`).
 *
 * S18 a key identifies one life of an execution, one step, and one request: the agent and the input of a
 * variant of the step's recovery, or the input that a person gave. A service that knows the key may answer
 * from memory, or refuse any other request under it. So plain repetitions keep the key. A different request
 * gets the next number, and so does any attempt after an undo, because the service would answer with the
 * result that it has undone. The claim records the request of its key; probes, undos and late successes use
 * that record. No variant begins while the outcome of another is open (`report.ts`), so at most one key of a
 * step is in effect.
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
 * A life in lower-case letters and digits, so that a key can be part of a file's name or an address.
 * @param freshId of the random source
 */
export const lifeOf = (freshId: string): string =>
  freshId
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .slice(-LIFE_CHARS);

/**
 * `<execution>.<step>.<life>`, for later keys with `-<number>` at the end. For an on-failure step
 * `<execution>.on-failure-<epoch>.<step>.<life>`, so that the same end is never reported twice, but the next
 * one is. For an item of a list its index replaces its name.
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

/** Only for an on-failure step: the epoch, which names the end that it follows. */
export const keyEpoch = (plan: Plan, { name, epoch }: Pick<Step, 'name' | 'epoch'>): number | undefined =>
  isOnFailure(plan, name) ? epoch : undefined;

/**
 * Returns the fields about its key that the claim of an attempt to execute records.
 * @param step as in the plan, or any of its variants; also a child's next try
 */
export function keyOfClaim(step: Pick<AgentStep, 'recovery'>, before: Step): StepChanges {
  const keyVariant = variantNumber(step, before.stage);
  const isSameVariant = keyVariant === before.keyVariant;
  // An input that a person gave also applies to this variant's further attempts.
  const keyInput = firstDefined(before.givenInput, isSameVariant ? before.keyInput : undefined);
  const isSame = isSameVariant && isSameInput(keyInput, before.keyInput);
  const isNext = before.keySpent === true || (before.attempt > 0 && !isSame);
  return {
    // Nothing is open under the previous key: its outcome is known, it is undone, or its attempt had no
    // effect and is over.
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
