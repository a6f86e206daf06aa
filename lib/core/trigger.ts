/**
 * What starts executions from outside: the part of an event that becomes the input, and the part that makes it one start.
 *
 * Owns: the record that the infrastructure compiles a trigger to, and what it makes of an event. Does not own: paths as
 * people write them (they are compiled when the stack is built), whether the input fits (the workflow's schema says so).
 *
 * S11 the key comes from the event, never from its delivery: the same event, however often delivered, is one start.
 */

import { refuse } from './errors.ts';
import { canonicalJson, isJsonObject, type Json, jsonProblem } from './json.ts';
import { evaluate, type Expr } from './refs.ts';

export interface Trigger {
  /** The executions that it starts carry it as the tag `trigger`, and no two triggers share keys. */
  readonly name: string;
  readonly workflow: string;
  /** 'event': the message's text is the event. 'message': the event is the message, with its id and attributes. */
  readonly from: 'event' | 'message';
  /** References of source `input` read the event. */
  readonly input: Expr;
  /** Together they tell one event from another; each must have a value. */
  readonly key: readonly Expr[];
}

/** A message as a queue delivers it. */
export interface StartMessage {
  readonly id: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface EventStart {
  readonly input: Json;
  readonly key: string;
}

/**
 * The start that a message asks for.
 * @throws SteadfastError `bad-event`: it is not JSON, or the key has no value in it
 */
export function startOf(trigger: Trigger, message: StartMessage): EventStart {
  const body = parsed(message.body);
  const { id, attributes } = message;
  const event: Json = trigger.from === 'event' ? body : { messageId: id, body, attributes };
  const scope = { input: event, output: () => undefined };
  const parts = trigger.key.map((part) => evaluate(part, scope));
  const known = parts.filter(isKeyPart);
  if (known.length < parts.length || known.length === 0) {
    throw refuse('bad-event', 'the event has no value from which its idempotency key could be made');
  }
  const input = evaluate(trigger.input, scope);
  if (input === undefined)
    throw refuse('bad-event', 'the event has no value where the input should come from');
  return { input, key: canonicalJson([trigger.name, ...known]) };
}

const isKeyPart = (value: Json | undefined): value is string | number | boolean =>
  value !== undefined && value !== null && value !== '' && typeof value !== 'object';

function parsed(text: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse('bad-event', 'the message is not JSON');
  }
  const problem = jsonProblem(value);
  if (problem !== undefined)
    throw refuse('bad-event', `the message is not acceptable: ${problem.slice(0, 200)}`);
  return value as Json;
}

/** A trigger as it comes out of a file. @throws SteadfastError `bad-trigger` */
export function parseTrigger(text: string): Trigger {
  const value = JSON.parse(text) as Json;
  const known =
    isJsonObject(value) &&
    typeof value['name'] === 'string' &&
    typeof value['workflow'] === 'string' &&
    (value['from'] === 'event' || value['from'] === 'message') &&
    value['input'] !== undefined &&
    Array.isArray(value['key']);
  if (!known) throw refuse('bad-trigger', 'the trigger is not one that the infrastructure has written');
  return value as unknown as Trigger;
}
