/**
 * Loads values that are stored outside the table, at the first read.
 *
 * Owns: checking a loaded value, and the loop of a decision that asks for values or for the mailbox
 * (`mailbox.ts`). Does not own: storing values there (`values-apart.ts`), the keys and fields
 * (`core/records/large-values.ts`), what follows a lost value (`core/step/left-out.ts`).
 */

import { decide } from '../core/decide.ts';
import type { Decision } from '../core/decisions/decision.ts';
import type { Event } from '../core/decisions/events.ts';
import { ownExpressions, type Plan } from '../core/plan/plan.ts';
import { outputsIn, sourcesIn } from '../core/plan/refs-in.ts';
import type { Ports } from '../core/ports.ts';
import {
  holderOf,
  isLost,
  NotLoaded,
  valueKeyOf,
  type WantedValue,
  withValue,
} from '../core/records/large-values.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import type { Execution } from '../core/records/state.ts';
import { defined } from '../core/values/defined.ts';
import type { Json } from '../core/values/json.ts';
import { withMailbox } from './mailbox.ts';

type Owner = Pick<Execution, 'id' | 'life'>;

/**
 * The value's text; undefined if it is lost: the object is missing or has another text.
 * @throws the port's error
 */
async function read(ports: Ports, owner: Owner, { holder, ref }: WantedValue): Promise<string | undefined> {
  const { largeValues } = ports;
  // The setting may be off now: the values can be read once it is on again.
  if (largeValues === undefined)
    throw new Error('a record names a value beside the table, and this process has no place for such');
  const json = await largeValues.get(valueKeyOf(owner, holder, ref));
  if (json !== undefined && largeValues.hash(json) === ref.hash) return json;
  const detail = json === undefined ? 'not there' : 'another';
  const step = holder.startsWith('step.') ? { step: holder.slice('step.'.length) } : {};
  ports.log.note({ what: 'value-lost', executionId: owner.id, ...step, detail });
  return undefined;
}

/**
 * Adds the value to the state, or the fact that it is lost.
 * @throws the port's error
 */
export async function loadedValue(ports: Ports, state: Snapshot, wanted: WantedValue): Promise<Snapshot> {
  const json = await read(ports, state.execution, wanted);
  return withValue(state, wanted, json === undefined ? 'lost' : { value: JSON.parse(json) as Json });
}

const NONE_LOST: ReadonlySet<string> = new Set();

/** Notes in the state that values may be stored outside the table. */
const knowing = ({ largeValues }: Pick<Ports, 'largeValues'>, state: Snapshot): Snapshot =>
  largeValues === undefined || state.values !== undefined ? state : { ...state, values: { lost: NONE_LOST } };

/** More than any execution has: a decision that loads more keeps asking for one that it has got. */
const MAX_LOADS = 3_000;

export interface Decided {
  readonly decision: Decision;
  /** The state with the values that the decision used. */
  readonly state: Snapshot;
}

/**
 * Decides, loading the values that the decision asks for.
 * @returns the result, without a promise if nothing was loaded
 * @throws the ports' errors
 */
export function decideWith(
  ports: Ports,
  plan: Plan,
  before: Snapshot,
  event: Event,
): Decided | Promise<Decided> {
  const state = knowing(ports, unread(before));
  const decision = decide(plan, state, event);
  return asksForMore(decision) ? decideLoading(ports, plan, state, event) : { decision, state };
}

/**
 * Removes the mailbox: each decision reads it anew, because a mailbox lacks messages that came after its
 * read.
 */
function unread(state: Snapshot): Snapshot {
  if (state.mailbox === undefined) return state;
  const { mailbox: _, ...rest } = state;
  return rest;
}

const asksForMore = ({ next }: Decision): boolean => next.kind === 'load' || next.kind === 'read-mailbox';

async function decideLoading(ports: Ports, plan: Plan, before: Snapshot, event: Event): Promise<Decided> {
  let state = before;
  for (let loads = 0; loads < MAX_LOADS; loads += 1) {
    const decision = decide(plan, state, event);
    const { next } = decision;
    if (next.kind === 'load') state = await loadedValue(ports, state, next.value);
    else if (next.kind === 'read-mailbox') state = await withMailbox(ports, state, next.message);
    else return { decision, state };
  }
  throw new Error('a decision asked for the same value again and again');
}

/**
 * Computes a result from the state, loading the values that the computation asks for. @throws the ports'
 * errors
 */
export async function withValues<Made>(
  ports: Ports,
  before: Snapshot,
  make: (state: Snapshot) => Made,
): Promise<{ readonly made: Made; readonly state: Snapshot }> {
  let state = knowing(ports, before);
  for (let loads = 0; loads < MAX_LOADS; loads += 1) {
    try {
      return { made: make(state), state };
    } catch (error) {
      if (!(error instanceof NotLoaded)) throw error;
      state = await loadedValue(ports, state, error.wanted);
    }
  }
  throw new Error('an evaluation asked for the same value again and again');
}

/** Adds all values that the plan's conditions and waits read; views and questions need no others. */
export async function withConditions(ports: Ports, plan: Plan, state: Snapshot): Promise<Snapshot> {
  const { execution, steps } = state;
  const isAnyApart = execution.inputAt !== undefined || Object.values(steps).some(({ outputAt }) => outputAt);
  if (!isAnyApart) return knowing(ports, state);
  const conditions = [...plan.steps, ...(plan.onFailure ?? [])].flatMap((step) => [
    step.when ?? null,
    ...(step.kind === 'wait' ? ownExpressions(step) : []),
  ]);
  const wanted: WantedValue[] = [];
  if (sourcesIn(conditions).includes('input') && execution.inputAt !== undefined && execution.input === null)
    wanted.push({ holder: 'input', ref: execution.inputAt });
  for (const name of new Set(outputsIn(conditions))) {
    const { output, outputAt } = steps[name] ?? {};
    if (outputAt !== undefined && output === undefined)
      wanted.push({ holder: holderOf(name), ref: outputAt });
  }
  let loaded = knowing(ports, state);
  for (const one of wanted) if (!isLost(loaded, one)) loaded = await loadedValue(ports, loaded, one);
  return loaded;
}

export interface Answer {
  readonly output?: Json;
  /** The size of an answer that is lost. */
  readonly lostBytes?: number;
}

/** An execution's answer, as its parent reads it. */
export async function answerOf(ports: Ports, execution: Execution): Promise<Answer> {
  const { output, outputAt: ref, lostBytes } = execution;
  if (output !== undefined) return { output };
  if (ref === undefined) return defined({ lostBytes });
  const json = await read(ports, execution, { holder: 'output', ref });
  return json === undefined ? { lostBytes: ref.bytes } : { output: JSON.parse(json) as Json };
}

/** Adds all values except the execution's output, which its steps contain. */
export async function withAllValues(ports: Ports, state: Snapshot): Promise<Snapshot> {
  const { input, inputAt } = state.execution;
  const wanted: WantedValue[] =
    inputAt !== undefined && input === null ? [{ holder: 'input', ref: inputAt }] : [];
  for (const { name, output, outputAt } of Object.values(state.steps))
    if (outputAt !== undefined && output === undefined)
      wanted.push({ holder: holderOf(name), ref: outputAt });
  let loaded = state;
  for (const one of wanted) loaded = await loadedValue(ports, loaded, one);
  return loaded;
}
