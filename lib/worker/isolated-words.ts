/**
 * The messages between a process that runs authors' code and the process that calls it.
 *
 * Owns: the message types. Does not own: when they are sent (`isolated-process.ts`, `isolated-calls.ts`).
 * Each side sends all words of one turn of its loop as one list: a message costs more than its contents.
 */

import { deserialize, serialize } from 'node:v8';
import type { AttemptContext, AttemptLog } from '../core/plan/agent.ts';
import type { Mode } from '../core/records/state.ts';
import type { ErrorMark } from '../core/values/errors.ts';
import { type JsonLimits, jsonProblem, LARGE_JSON_LIMITS } from '../core/values/json.ts';

/** Where the process finds the other end of its pipe: behind stdin, stdout, stderr and the channel. */
export const PIPE_FD = 4;
/** How often a process reports that its event loop still turns. */
export const PULSE_MS = 500;
/** A process that has been silent this long counts as blocked. */
export const BLOCKED_MS = 3 * PULSE_MS;

/** A message to the process. */
export type ToProcess =
  | Call
  | { readonly abort: number }
  /** A call has got more time. */
  | { readonly timed: number; readonly timeLeftMs: number };
export interface Call {
  /** The call's number within its process. */
  readonly number: number;
  readonly agent: string;
  readonly mode: Mode;
  readonly ctx: Pick<AttemptContext, 'executionId' | 'step' | 'attempt' | 'idempotencyKey' | 'accepted'>;
  readonly timeLeftMs: number;
  readonly input: unknown;
  readonly output?: unknown;
}

/** The agent whose call it is, and its lease. */
export interface Caller {
  readonly name: string;
  readonly leaseMs: number;
}

/** A message from the process. */
export type Word =
  /** By agent, why its code cannot be loaded. */
  | { readonly kind: 'ready'; readonly failed: Readonly<Record<string, string>> }
  | { readonly kind: 'alive'; readonly rssBytes: number }
  | Fault
  | (Said & { readonly of: number });

/** What ends an unguarded process: an uncaught error, or a call of `process.exit`. */
export interface Fault {
  readonly kind: 'fault';
  /** The call that it belongs to, if known; that call may be over. */
  readonly of?: number;
  readonly agent?: string;
  readonly why: string;
}

export type Said =
  | { readonly kind: 'progress'; readonly token: string | number }
  | {
      readonly kind: 'log';
      readonly level: keyof AttemptLog;
      readonly message: string;
      readonly fields: Readonly<Record<string, unknown>>;
    }
  | Answered;
export type Answered =
  | { readonly kind: 'answer'; readonly answer: unknown }
  /** The work is done, but its output cannot leave the process. */
  | { readonly kind: 'unsendable'; readonly message: string }
  /** The process has ended, and the call is not at fault. */
  | { readonly kind: 'interrupted'; readonly message: string; readonly hasBegun: boolean }
  | {
      readonly kind: 'thrown';
      readonly mark?: ErrorMark;
      readonly name: string;
      readonly message: string;
      readonly code?: string;
      readonly retryAfter?: string | number;
    };

/** The answer of a call for which the author's code was not called. */
export const neverBegan = (why: { readonly code: string; readonly message: string }): Answered => ({
  kind: 'thrown',
  mark: 'transient',
  name: 'Error',
  ...why,
});

/** The answer of a call whose process died: the author's code may have acted. */
export const diedOf = (why: string): Answered => ({
  kind: 'thrown',
  name: 'Error',
  code: 'process-died',
  message: `the process of the attempt died: ${why}`,
});

/** The answer of a call whose input, as the schema has made it, cannot be sent to another process. */
export const unsendableInput = (error: unknown): Answered => ({
  kind: 'thrown',
  mark: 'permanent',
  name: 'Error',
  code: 'input-unsendable',
  message: `its input cannot be sent: ${String(error)}`,
});

/** The limits of a large value: JSON within them is not read back. */
const PLAIN: JsonLimits = { ...LARGE_JSON_LIMITS, anyText: true };

/** Far more than an output may have: the caller stands still while it reads a message. */
const MOST_CHARS = 33_554_432;
const TOO_MANY = `it has more than ${LARGE_JSON_LIMITS.nodes} values or ${LARGE_JSON_LIMITS.keys} different keys: store it elsewhere and return a reference`;

/** True if the texts and keys of a JSON value have more characters than `most`; stops counting there. */
function isLonger(root: unknown, most: number): boolean {
  const rest = [root];
  let chars = 0;
  while (rest.length > 0 && chars <= most) {
    const value = rest.pop();
    if (typeof value === 'string') chars += value.length;
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, item] of Object.entries(value)) {
      chars += key.length;
      rest.push(item);
    }
  }
  return chars > most;
}

/**
 * True if a value that need not be JSON has more parts, or different keys, than a large value may have: its
 * receiver stands still while V8 reads them.
 */
function hasMoreParts(root: unknown): boolean {
  const { nodes, keys: mostKeys = nodes } = LARGE_JSON_LIMITS;
  const objects = new Set<unknown>([root]);
  const keys = new Set<string>();
  let parts = 0;
  // The loop also visits objects that are added meanwhile, and each object once.
  for (const value of objects) {
    const items = itemsOf(value, keys);
    parts += items.length;
    if (parts > nodes || keys.size > mostKeys) return true;
    for (const item of items) if (typeof item === 'object' && item !== null) objects.add(item);
  }
  return false;
}

function itemsOf(value: unknown, keys: Set<string>): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (value instanceof Map) return [...value].flat();
  if (value instanceof Set) return [...value];
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [];
  for (const key of Object.keys(value)) keys.add(key);
  return Object.values(value);
}

/** The receiver's stack may be fuller: it reads fewer levels of nesting than V8 writes. */
const SPARE_LEVELS = 100;

/**
 * The value, if the receiver can certainly read it: V8 writes some values that it cannot read again, such as
 * an error that is its own cause, and an unreadable value ends its receiver.
 * @param most characters, or bytes of a value that is not JSON
 * @throws Error if it cannot be sent
 */
export function readBack<Value>(value: Value, most: number = MOST_CHARS): Value {
  const tooLong = `it has more than ${most} characters: store it elsewhere and return a reference`;
  if (value === undefined) return value;
  if (jsonProblem(value, PLAIN) === undefined) {
    if (isLonger(value, most)) throw new Error(tooLong);
    return value;
  }
  if (hasMoreParts(value)) throw new Error(TOO_MANY);
  let within: unknown = value;
  for (let level = 0; level < SPARE_LEVELS; level += 1) within = [within];
  const written = serialize(within);
  if (written.length > most) throw new Error(tooLong);
  deserialize(written);
  return value;
}

/** Collects the items of one turn into one message; one that cannot be sent fails alone. */
export class Outbox<Item> {
  readonly #send: (all: readonly Item[]) => void;
  #waiting: { readonly said: Item; readonly onFailed: (error: unknown) => void }[] = [];

  /** @param send throws if an item cannot be sent, and then has sent none */
  constructor(send: (all: readonly Item[]) => void) {
    this.#send = send;
  }

  /** @param onFailed is called if the item cannot be sent */
  say(said: Item, onFailed: (error: unknown) => void): void {
    if (this.#waiting.length === 0) setImmediate(() => this.flush());
    this.#waiting.push({ said, onFailed });
  }

  flush(): void {
    const all = this.#waiting;
    if (all.length === 0) return;
    this.#waiting = [];
    try {
      this.#send(all.map(({ said }) => said));
    } catch (error) {
      if (all.length === 1) return all[0]?.onFailed(error);
      for (const { said, onFailed } of all)
        try {
          this.#send([said]);
        } catch (one) {
          onFailed(one);
        }
    }
  }
}

/** Trouble that a process had with its agents. */
export interface Trouble {
  /** The agent at fault, if it is known. */
  readonly agent?: string;
  /** The agents whose calls were under way. */
  readonly atWork: readonly string[];
  readonly why: string;
  /** The agent blocked the loop for all others. */
  readonly isBlock?: true;
  /** The agent's code cannot be loaded; no call has ended. */
  readonly isLoad?: true;
}
