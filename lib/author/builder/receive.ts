/**
 * How authors write a step that takes a message to the execution.
 *
 * Owns: its options and defaults, and that the messages of one name have one schema. Does not own: what is
 * refused of the plan (`check-waiting.ts`), what every step has (`waiting-steps.ts`).
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ReceiveStep } from '../../core/plan/plan.ts';
import type { Duration } from '../../core/values/duration.ts';
import { problem, refusal } from '../checks/refusal.ts';
import type { Draft } from './draft.ts';
import { type AnyStepOptions, baseOf, type MayFailOptions, parseDurationOrNone } from './waiting-steps.ts';

/** The options of a step that takes a message. */
export interface ReceiveOptions<O, E extends 'fail' | 'continue' = 'fail'>
  extends AnyStepOptions,
    MayFailOptions {
  /** Any Standard Schema: what the body of such a message must fit; one that does not is refused. */
  readonly message: StandardSchemaV1<unknown, O>;
  /**
   * How long to wait for a message. One that was accepted in that time is taken, however late that is seen;
   * a later one is kept for the next step of its name.
   */
  readonly within: Duration;
  /**
   * What holds without a message in time. 'continue': it goes on, and the output is null. 'fail': the step
   * fails with `no-message`.
   * @default 'fail'
   */
  readonly otherwise?: E;
  /**
   * The name of the messages, of which it takes the first that no other step has taken.
   * @default the step's
   */
  readonly name?: string;
}

/** The body of a message; null where there may be none. */
export type Received<O, E extends 'fail' | 'continue'> = E extends 'continue' ? O | null : O;

/**
 * Declares the step, and the schema of its messages.
 * @throws SteadfastError `workflow-refused`
 */
export function receiveOf(
  { workflow, messages }: Pick<Draft, 'workflow' | 'messages'>,
  name: string,
  options: ReceiveOptions<unknown, 'fail' | 'continue'>,
): ReceiveStep {
  const { message: schema, name: message = name, otherwise } = options;
  const known = messages[message] ?? schema;
  if (known !== schema) {
    const text = `another step takes messages '${message}' with another schema: give both the same one, or another name`;
    throw refusal(workflow, name, problem('bad-message', text));
  }
  messages[message] = schema;
  return {
    kind: 'receive',
    ...baseOf(name, options),
    message,
    withinMs: parseDurationOrNone(options.within, `within of step '${name}'`),
    ...(otherwise === undefined || otherwise === 'fail' ? {} : { otherwise }),
  };
}
