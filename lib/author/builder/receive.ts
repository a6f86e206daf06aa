/**
 * The step that takes a message sent to the execution.
 *
 * Owns: its options and defaults, and the rule that messages of one name have one schema. Does not own: the
 * refusals (`check-waiting.ts`), the options of every step (`waiting-steps.ts`).
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ReceiveStep } from '../../core/plan/plan.ts';
import type { Duration } from '../../core/values/duration.ts';
import { problem, refusal } from '../checks/refusal.ts';
import { type AnyStepOptions, baseOf, type MayFailOptions, parseDurationOrNone } from './waiting-steps.ts';

/** The options of a step that takes a message. */
export interface ReceiveOptions<O, E extends 'fail' | 'continue' = 'fail'>
  extends AnyStepOptions,
    MayFailOptions {
  /**
   * The schema of the message's body, any Standard Schema. A body that does not fit is refused when it is
   * sent.
   */
  readonly message: StandardSchemaV1<unknown, O>;
  /**
   * How long to wait for a message. A message accepted in that time is taken, even if it is processed late; a
   * later message is kept for the next step that takes this name.
   */
  readonly within: Duration;
  /**
   * What happens without a message in time. 'continue': the execution goes on, and the output is null.
   * 'fail': the step fails with `no-message`.
   * @default 'fail'
   */
  readonly otherwise?: E;
  /**
   * The name of the messages. The step takes the first one that no other step has taken.
   * @default the step's name
   */
  readonly name?: string;
}

/** The workflow that is declared, and the schemas of its messages so far. */
interface Declaring {
  readonly workflow: string;
  readonly messages: Record<string, StandardSchemaV1>;
}

/** The body of a message; with `otherwise: 'continue'` it may be null. */
export type Received<O, E extends 'fail' | 'continue'> = E extends 'continue' ? O | null : O;

/**
 * Declares the step, and the schema of its messages.
 * @throws SteadfastError `workflow-refused`
 */
export function receiveOf(
  { workflow, messages }: Declaring,
  name: string,
  options: ReceiveOptions<unknown, 'fail' | 'continue'>,
): ReceiveStep {
  const { message: schema, name: message = name, otherwise } = options;
  declareMessage({ workflow, messages }, name, message, schema);
  return {
    kind: 'receive',
    ...baseOf(name, options),
    message,
    withinMs: parseDurationOrNone(options.within, `within of step '${name}'`),
    ...(otherwise === undefined || otherwise === 'fail' ? {} : { otherwise }),
  };
}

/**
 * Adds the schema of messages of this name, and refuses a second schema. @throws SteadfastError
 * `workflow-refused`
 */
export function declareMessage(
  { workflow, messages }: Declaring,
  step: string,
  name: string,
  schema: StandardSchemaV1,
): void {
  if ((messages[name] ?? schema) !== schema) {
    const text = `another step takes messages '${name}' with another schema: give both the same one, or another name`;
    throw refusal(workflow, step, problem('bad-message', text));
  }
  messages[name] = schema;
}
