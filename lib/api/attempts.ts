/**
 * The attempts at a step as a client sees them: the variant of the recovery, the agent, the effect key and
 * the input.
 *
 * Owns: which parts are shown, and how much of an input. Does not own: the meaning of a key
 * (`core/step/effect-key.ts`).
 */

import { isOnFailure } from '../core/plan/on-failure.ts';
import type { AgentStep, Plan } from '../core/plan/plan.ts';
import { evaluateExpression } from '../core/plan/refs.ts';
import { type Json, utf8Bytes } from '../core/values/json.ts';
import { NotLoaded, outputIn } from '../core/records/large-values.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import type { Attempt, Step } from '../core/records/state.ts';
import { effectKeyOf, keyEpoch } from '../core/step/effect-key.ts';
import { variantAt } from '../core/step/recovery.ts';
import { scopeOf } from '../core/step/turn.ts';
import type { AttemptView } from './answers.ts';

/**
 * The longest input that is shown, in characters of JSON: an execution has many attempts, and its own input
 * is shown once.
 */
const MAX_INPUT_BYTES = 512;

export const attemptsView = (plan: Plan, step: AgentStep, record: Step, state: Snapshot): AttemptView[] =>
  record.attempts.map((attempt) => {
    const { key = 1, variant = 0, given, epoch = record.epoch, ...shown } = attempt;
    return {
      ...shown,
      variant: variant + 1,
      agent: variantAt(step, variant).agent,
      idempotencyKey: effectKeyOf(
        state.execution,
        step.name,
        key,
        keyEpoch(plan, { name: step.name, epoch }),
      ),
      ...(given === true ? { inputGiven: true as const } : {}),
      // Neither the reason of an earlier end nor the values read then are kept.
      ...(isOnFailure(plan, step.name) && epoch < state.execution.epoch
        ? {}
        : inputOf(step, record, attempt, state)),
    };
  });

/** The input of an attempt. Of inputs given by a person only the latest is kept. */
function inputOf(
  step: AgentStep,
  record: Step,
  { key = 1, variant = 0, given }: Attempt,
  state: Snapshot,
): Pick<AttemptView, 'input' | 'inputBytes'> {
  const isKept = given !== true || key === record.key;
  let input: Json | undefined;
  try {
    input =
      given === true
        ? record.keyInput
        : evaluateExpression(variantAt(step, variant).input, shownScope(state));
  } catch (error) {
    if (!(error instanceof NotLoaded)) throw error;
    return { inputBytes: error.wanted.ref.bytes };
  }
  if (!isKept || input === undefined) return {};
  const bytes = utf8Bytes(JSON.stringify(input));
  return bytes <= MAX_INPUT_BYTES ? { input } : { inputBytes: bytes };
}

/**
 * The values as the attempt read them, even those undone since. Tokens are hidden, because their bearer may
 * answer.
 */
const shownScope = (state: Snapshot): ReturnType<typeof scopeOf> => ({
  ...scopeOf(state),
  output: (step): Json | undefined => outputIn(state, state.steps[step]),
  token: () => '(token)',
});
