/**
 * A world whose values are stored outside the table: its processes store all values there except the
 * smallest.
 *
 * Owns: the objects, a process's view of records, and the judgement: an object exists before the record that
 * names it, as long as that record, under a key of its own; and no service gets input made from a value that
 * was not loaded. It also owns which objects are lost, drawn from its own random stream, and that nothing
 * else fails as lost. Does not own: calls and their faults (`process.ts`).
 *
 * The table has both the reference and the value, so that every other judge sees the values. A process has to
 * load them.
 */

import { NOT_LOADED } from '../../lib/agent/task.ts';
import type { Plan } from '../../lib/core/plan/plan.ts';
import { evaluateExpression } from '../../lib/core/plan/refs.ts';
import type { LargeValues, Page, StoredValue } from '../../lib/core/ports.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import {
  holderOf,
  type ValueHolder,
  valueKeyIn,
  valueKeyOf,
  valueKeysIn,
} from '../../lib/core/records/large-values.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { type Execution, isForward, type Step } from '../../lib/core/records/state.ts';
import { absentMark, byLife, mayBeGone, verdictOf } from '../../lib/core/supervision/stored-values.ts';
import type { ValueRef } from '../../lib/core/records/value-ref.ts';
import { scopeOf } from '../../lib/core/step/turn.ts';
import { canonicalJson, type Json } from '../../lib/core/values/json.ts';
import { seededRandom } from '../../lib/memory/world.ts';
import { textHash } from '../../lib/memory/text-hash.ts';
import { THROTTLED } from './call-failed.ts';
import type { Faults } from './faults.ts';
import type { KindCounts } from './kinds.ts';
import { choiceOf } from './plans.ts';

/** Smaller than the text of nearly every input and output of a world. */
const ABOVE_BYTES = 24;

/** How often a read in half of the worlds finds that its object is gone, for good. */
const LOST_SHARE = 0.04;
/** How often a call fails in worlds whose processes share what they know; there it takes no time. */
const FAILED_SHARE = 0.03;
/** Half of the lost objects have been replaced by another. */
const ANOTHER = '{"key":"another"}';
const isReplaced = (key: string): boolean => key.charCodeAt(key.length - 1) % 2 === 0;
const RETENTION_MS = 30 * 86_400_000;
const VALUE_STREAM = 0x10_57_0b;

type Owner = Pick<Execution, 'id' | 'life'>;

type Ask = <Answer>(execute: () => Answer) => Promise<Answer>;

export class WorldValues {
  readonly #objects = new Map<string, string>();
  /** The lost values as they were: the judges still see them. */
  readonly #lost = new Map<string, string>();
  /** Erased values: the write of a process that does not know this yet is refused. */
  readonly #erased = new Map<string, string>();
  readonly #storedAt = new Map<string, number>();
  /** Whether all processes know what each of them has stored, as if one played all roles. */
  readonly #isShared: boolean;
  #shared: LargeValues | undefined;
  readonly #failsNow: () => boolean;
  readonly #now: () => number;
  readonly #isLostNow: () => boolean;
  readonly #kinds: KindCounts;
  readonly #violate: (about: string, problem: string) => void;

  constructor(
    seed: number,
    faults: Faults,
    kinds: KindCounts,
    violate: (about: string, problem: string) => void,
    now: () => number = () => 0,
  ) {
    this.#now = now;
    const choice = choiceOf(seededRandom(seed ^ VALUE_STREAM));
    const share = choice.chance(0.5) ? LOST_SHARE : 0;
    this.#isShared = choice.chance(0.5);
    this.#failsNow = () => choice.chance(FAILED_SHARE) && faults.strikes('unreached');
    this.#isLostNow = () => share > 0 && choice.chance(share) && faults.strikes('lostValue');
    this.#kinds = kinds;
    this.#violate = violate;
  }

  /** @param ask a call of the process */
  portOf(ask: Ask): LargeValues {
    if (this.#isShared) return (this.#shared ??= this.#portOf(this.#askAtOnce));
    return this.#portOf(ask);
  }

  readonly #askAtOnce: Ask = async (execute) => {
    if (this.#failsNow()) throw THROTTLED;
    return execute();
  };

  #portOf(ask: Ask): LargeValues {
    return {
      hash: textHash,
      above: ABOVE_BYTES,
      put: (key, json) => ask(() => this.#put(key, json)),
      get: (key) =>
        ask(() => {
          this.#kinds.valueLoaded += 1;
          const json = this.#objects.get(key);
          if (json !== undefined && this.#isLostNow()) {
            this.#objects.delete(key);
            this.#lost.set(key, json);
          }
          return this.#objects.get(key) ?? (this.#lost.has(key) && isReplaced(key) ? ANOTHER : undefined);
        }),
    };
  }

  #put(key: string, json: string): void {
    const before = this.#objects.get(key);
    if (before !== undefined && before !== json) this.#violate(key, 'V3 a key is used for another value');
    this.#objects.set(key, json);
    this.#storedAt.set(key, this.#now());
  }

  /** The keys of the values that are gone for good. */
  lostKeys(): ReadonlySet<string> {
    return new Set(this.#lost.keys());
  }

  keys(): readonly string[] {
    return [...this.#objects.keys()];
  }

  /** Lists values for an erasure. */
  list(prefix: string): Page<StoredValue> {
    const of = (key: string): StoredValue => ({ key, storedAt: this.#storedAt.get(key) ?? 0, bytes: 1 });
    return {
      items: this.keys()
        .filter((key) => key.startsWith(prefix))
        .map(of),
    };
  }

  remove(keys: readonly string[]): void {
    for (const key of keys) {
      this.#erased.set(key, this.#objects.get(key) ?? 'null');
      this.#objects.delete(key);
    }
  }

  /** A step that fails as lost reads a lost object: of its own execution, or of one below it. */
  judgeLost(executionId: string, before: Step | undefined, { status, failure }: Step): void {
    if (failure?.code !== 'value-lost' || before?.status === status) return;
    // A value that only could not be read may be there at the next attempt.
    if (failure.message.startsWith(NOT_LOADED)) return;
    this.#kinds.valueLostFor += 1;
    if (![...this.#lost.keys()].some((key) => valueKeyIn(key)?.executionId.startsWith(executionId) === true))
      this.#violate(executionId, 'V4 it fails for a lost value, and none of it is lost');
  }

  /** The record as the table has it. */
  executionIn(execution: Execution): Execution {
    const { inputAt, outputAt } = execution;
    const input = this.#value(execution, 'input', inputAt);
    const output = this.#value(execution, 'output', outputAt);
    return {
      ...execution,
      ...(input === undefined ? {} : { input }),
      ...(output === undefined ? {} : { output }),
    };
  }

  writeIn({ execution, step, ...write }: Write): Write {
    return {
      ...write,
      ...(execution === undefined ? {} : { execution: this.executionIn(execution) }),
      ...(step === undefined ? {} : { step: this.#stepIn(write.executionId, step) }),
    };
  }

  #stepIn(id: string, step: Step): Step {
    const owner = { id, life: step.life };
    const { children } = step;
    const output = this.#value(owner, holderOf(step.name), step.outputAt);
    const input = this.#value(owner, holderOf(step.name), children?.rounds?.inputAt);
    return {
      ...step,
      ...(output === undefined ? {} : { output }),
      ...(input === undefined || children?.rounds === undefined
        ? {}
        : { children: { ...children, rounds: { ...children.rounds, input } } }),
    };
  }

  #value(owner: Owner, holder: ValueHolder, ref: ValueRef | undefined): Json | undefined {
    if (ref === undefined) return undefined;
    const key = valueKeyOf(owner, holder, ref);
    const json = this.#objects.get(key) ?? this.#lost.get(key) ?? this.#erased.get(key);
    this.#kinds.valueApart += 1;
    if (json !== undefined) return JSON.parse(json) as Json;
    this.#violate(owner.id, `V1 a record names an object that is not there: ${holder}`);
    return undefined;
  }

  /** A service's input matches the step's input, made from the values themselves. */
  given(plan: Plan | undefined, state: Snapshot | undefined, name: string, input: unknown): void {
    const step = plan?.steps.find((one) => one.name === name);
    const record = state?.steps[name];
    if (step?.kind !== 'agent' || state === undefined || record === undefined) return;
    if (!isForward(state.execution.status) || record.keyVariant > 0 || record.keyInput !== undefined) return;
    const expected = evaluateExpression(step.input, scopeOf(state)) ?? null;
    if (canonicalJson(expected) !== canonicalJson(input as Json))
      this.#violate(state.execution.id, `V4 '${name}' was given another input than its values make`);
  }

  /**
   * An object that no record names was left by a process that died, or lost a race, between object and
   * record.
   */
  judgeEnd(states: Iterable<Snapshot>): void {
    const named = new Set<string>();
    for (const state of states) {
      this.#judgeMark(state.execution);
      const keys = valueKeysIn(state);
      for (const { hash, id } of refsIn([state.execution, state.steps]))
        if (!keys.some((key) => key.endsWith(`/${hash}/${id}`)))
          this.#violate(state.execution.id, `V5 it names an object that is not among those kept: ${hash}`);
      for (const key of keys) {
        named.add(key);
        if (!this.#objects.has(key) && !this.#lost.has(key))
          this.#violate(state.execution.id, `V1 an object is gone: ${key}`);
      }
    }
    for (const key of this.#objects.keys()) if (!named.has(key)) this.#kinds.valueLeft += 1;
  }

  /** V5 If a table is restored, the audit removes the marks of the executions that are there again. */
  #judgeMark(execution: Execution): void {
    const { id, life } = execution;
    const now = this.#now();
    const [marked] = byLife([{ key: absentMark(id, life, now), storedAt: now }]);
    const isRead = marked !== undefined && mayBeGone(marked, RETENTION_MS, now);
    if (!isRead || verdictOf(marked, execution, now).kind !== 'unmark')
      this.#violate(id, 'V5 a mark stays that it is gone');
  }
}

/** A process's view: it has to load named values. */
export function seenIn(state: Snapshot | undefined): Snapshot | undefined {
  if (state === undefined) return undefined;
  const steps = Object.entries(state.steps).map(([name, step]) => [name, stepSeen(step)] as const);
  return { ...state, execution: executionSeen(state.execution), steps: Object.fromEntries(steps) };
}

export function executionSeen(execution: Execution): Execution {
  if (execution.inputAt === undefined && execution.outputAt === undefined) return execution;
  const { output, ...rest } = execution;
  return {
    ...rest,
    ...(execution.outputAt === undefined && output !== undefined ? { output } : {}),
    ...(execution.inputAt === undefined ? {} : { input: null }),
  };
}

function stepSeen(step: Step): Step {
  const { output: _output, ...rest } = step;
  const seen = step.outputAt === undefined ? step : rest;
  const { children } = seen;
  if (children?.rounds?.inputAt === undefined) return seen;
  const { input: _, ...rounds } = children.rounds;
  return { ...seen, children: { ...children, rounds } };
}

/** All names of objects in records, wherever they stand. */
function refsIn(value: unknown): ValueRef[] {
  if (typeof value !== 'object' || value === null) return [];
  const { hash, id, bytes } = value as Partial<ValueRef>;
  if (hash !== undefined && id !== undefined && bytes !== undefined) return [value as ValueRef];
  return Object.values(value).flatMap(refsIn);
}
