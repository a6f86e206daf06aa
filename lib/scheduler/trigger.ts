/**
 * A trigger starts executions from outside, or sends messages to them. One part of an event becomes the input
 * or the body, one the key of the start or the id of the message, and one names the execution.
 *
 * Owns: the record to which the infrastructure compiles a trigger, and turning an event into a request. Does
 * not own: compiling paths as people write them (when the stack is built), checking the input (the workflow's
 * schema).
 *
 * S11 the key comes from the event, never from its delivery: an event delivered several times is one start.
 */

import { refuse } from '../core/values/errors.ts';
import { defined } from '../core/values/defined.ts';
import { canonicalJson, isJsonObject, JSON_LIMITS, type Json, jsonProblem } from '../core/values/json.ts';
import { evaluateExpression, type Expr } from '../core/plan/refs.ts';
import { refsIn } from '../core/plan/refs-in.ts';
import { cut, hasReplacement, REPLACED_IN_KEY } from '../core/values/text.ts';
import { type JsonPath, refusedNumbers, roundedIn } from '../core/values/whole-numbers.ts';

export interface Trigger {
  /** The value of the tag `trigger` on executions that it starts. No two triggers share keys. */
  readonly name: string;
  readonly workflow: string;
  /**
   * 'event': the message's text is the event. 'message': the event is the message, with its id and
   * attributes. 'webhook': the message's text is the body of a request with a correct signature.
   */
  readonly from: 'event' | 'message' | 'webhook';
  /** The form of a webhook's body, if it is not JSON. */
  readonly body?: 'form';
  /**
   * The input, whose references with the source `input` read the event. With `answers` it is the callback's
   * output.
   */
  readonly input: Expr;
  /** The parts of the key, which together distinguish events; each must have a value. */
  readonly key: readonly Expr[];
  /** Instead of a start: the callback step to answer, and where the event has its token. */
  readonly answers?: { readonly step: string; readonly token: Expr };
  /** Instead of a start: the message to send, with `input` as its body, and its execution. */
  readonly send?: {
    readonly message: string;
    /** The parts of the key that the execution was started with; each must have a value. */
    readonly key: readonly Expr[];
    /** The trigger that started it, with a key of the same values; absent if a call did. */
    readonly startedBy?: string;
    /** The input of an execution that is started if none has the key. */
    readonly startWith?: Expr;
  };
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
  /** Only if the trigger sends: the key that the execution was started with. */
  readonly to?: string;
  readonly startWith?: { readonly input: Json };
}

export interface EventAnswer {
  readonly output: Json;
  readonly token: string;
}

/**
 * The start that a message asks for.
 * @throws SteadfastError `bad-event`: the event is not JSON, the key has no value in it, or a part that is
 * read is not Unicode text; `unsafe-number`: a part that is read has a whole number that would be rounded.
 * Other parts may contain anything.
 */
export function startOf(trigger: Trigger, message: StartMessage): EventStart {
  const scope = { input: eventOf(trigger, message), output: () => undefined };
  const known = keyParts(trigger.key, scope, 'its idempotency key');
  const input = acceptable('input', evaluateExpression(trigger.input, scope), known);
  const start = { input, key: keyOf(trigger.name, known) };
  if (trigger.send === undefined) return start;
  const { key, startedBy, startWith } = trigger.send;
  const parts = keyParts(key, scope, 'the key of its execution');
  const first =
    startWith === undefined
      ? undefined
      : { input: acceptable('input', evaluateExpression(startWith, scope)) };
  acceptable('input', input, parts);
  const to = startedBy === undefined ? String(parts[0]) : keyOf(startedBy, parts);
  return { ...start, to, ...defined({ startWith: first }) };
}

type Scope = Parameters<typeof evaluateExpression>[1];
type KeyPart = string | number | boolean;

/** The key of an execution that a trigger starts. */
const keyOf = (trigger: string, parts: readonly KeyPart[]): string => canonicalJson([trigger, ...parts]);

/** @throws SteadfastError `bad-event` */
function keyParts(key: readonly Expr[], scope: Scope, what: string): readonly KeyPart[] {
  const parts = key.map((part) => evaluateExpression(part, scope));
  const known = parts.filter(isKeyPart);
  if (known.length < parts.length || known.length === 0)
    throw refuse('bad-event', `the event has no value at the paths of ${what}`);
  if (known.some((part) => typeof part === 'string' && hasReplacement(part)))
    throw refuse('bad-event', `the event has no value for ${what}: ${REPLACED_IN_KEY}`);
  return known;
}

/** The answer to a callback that a message carries. @throws SteadfastError as `startOf` */
export function answerOf(
  trigger: Trigger,
  { step, token: place }: NonNullable<Trigger['answers']>,
  message: StartMessage,
): EventAnswer {
  const scope = { input: eventOf(trigger, message), output: () => undefined };
  const token = evaluateExpression(place, scope);
  // The token names the step: a sender that signs for one step cannot answer another.
  if (typeof token !== 'string' || token.split('.').at(-2) !== step)
    throw refuse('bad-event', `the event has no token of callback '${step}' at the path of the token`);
  return { token, output: acceptable('output', evaluateExpression(trigger.input, scope)) };
}

function acceptable(what: 'input' | 'output', value: Json | undefined, others: readonly Json[] = []): Json {
  if (value === undefined) throw refuse('bad-event', `the event has no value at the path of the ${what}`);
  const problem = [value, ...others].map((part) => jsonProblem(part)).find((one) => one !== undefined);
  if (problem === undefined) return value;
  throw refuse('bad-event', `the ${what} read from the message is not acceptable: ${cut(problem, 200)}`);
}

function eventOf(trigger: Trigger, { id, body: text, attributes }: StartMessage): Json {
  if (trigger.body === 'form') return webhookEvent(id, fieldsOf(text), attributes);
  const body = parsed(text);
  const rounded = roundedIn(text).filter((path) => isRead(trigger, path));
  if (rounded.length > 0) throw refusedNumbers('the message', rounded);
  if (trigger.from === 'webhook') return webhookEvent(id, body, attributes);
  return trigger.from === 'event' ? body : { messageId: id, body, attributes };
}

/** The signed body and the token, which is secret. Headers are left out: most senders do not sign them. */
const webhookEvent = (hash: string, body: Json, { token }: StartMessage['attributes']): Json => ({
  hash,
  body,
  ...defined({ token }),
});

/** The fields of a form. A field that occurs several times is a list. */
function fieldsOf(text: string): Json {
  const fields = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const known = fields.get(name);
    if (known === undefined) fields.set(name, [value]);
    else known.push(value);
  }
  const one = ([name, values]: [string, string[]]): [string, Json] => [
    name,
    values.length === 1 ? (values[0] ?? '') : values,
  ];
  return Object.fromEntries([...fields].map(one));
}

/** True if the trigger reads the part of the message at this path. */
function isRead({ from, input, key, answers, send }: Trigger, path: JsonPath): boolean {
  const place = from === 'event' ? path : ['body', ...path];
  const sent = [...(send?.key ?? []), send?.startWith ?? null];
  return refsIn([input, ...key, ...sent, ...(answers === undefined ? [] : [answers.token])]).some(
    (read) => read.source === 'input' && read.path.every((part, at) => part === place[at]),
  );
}

const isKeyPart = (value: Json | undefined): value is KeyPart =>
  value !== undefined && value !== null && value !== '' && typeof value !== 'object';

function parsed(text: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse('bad-event', 'the message is not JSON');
  }
  const problem = jsonProblem(value, { ...JSON_LIMITS, anyText: true });
  if (problem !== undefined) throw refuse('bad-event', `the message is not acceptable: ${cut(problem, 200)}`);
  return value as Json;
}

/** Reads a trigger from the text of a file. @throws SteadfastError `bad-trigger` */
export function parseTrigger(text: string): Trigger {
  const value = JSON.parse(text) as Json;
  const known =
    isJsonObject(value) &&
    typeof value['name'] === 'string' &&
    typeof value['workflow'] === 'string' &&
    ['event', 'message', 'webhook'].includes(String(value['from'])) &&
    value['input'] !== undefined &&
    Array.isArray(value['key']);
  if (!known) throw refuse('bad-trigger', 'the settings of the trigger are not valid');
  return value as unknown as Trigger;
}
