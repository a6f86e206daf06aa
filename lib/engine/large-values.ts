/**
 * Loads values that are stored outside the table, once something reads them.
 *
 * Owns: the check of what was read, and the loop of a decision that asks for values or for the mailbox
 * (`mailbox.ts`). Does not own: putting values there (`values-apart.ts`), the keys and the fields
 * (`core/records/large-values.ts`), what follows if a value is lost (`core/step/left-out.ts`).
 */

import { decide } from '../core/decide.ts';
import type { Decision } from '../core/decisions/decision.ts';
import type { Event } from '../core/decisions/events.ts';
import type { Plan } from '../core/plan/plan.ts';
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
 * The value's text, or nothing if it is lost: the object is missing or holds another text.
 * @throws the port's error
 */
async function read(ports: Ports, owner: Owner, { holder, ref }: WantedValue): Promise<string | undefined> {
  const { largeValues } = ports;
  // Records may name values although the setting is off now: they can be read once the place is back.
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
 * The state with the value, or with the note that it is lost.
 * @throws the port's error
 */
export async function loadedValue(ports: Ports, state: Snapshot, wanted: WantedValue): Promise<Snapshot> {
  const json = await read(ports, state.execution, wanted);
  return withValue(state, wanted, json === undefined ? 'lost' : { value: JSON.parse(json) as Json });
}

const NONE_LOST: ReadonlySet<string> = new Set();

/** The state as known to a process that may have values outside the table. */
const knowing = ({ largeValues }: Pick<Ports, 'largeValues'>, state: Snapshot): Snapshot =>
  largeValues === undefined || state.values !== undefined ? state : { ...state, values: { lost: NONE_LOST } };

/** No execution has more values: a decision that loads more keeps asking for one that it already got. */
const MAX_LOADS = 3_000;

export interface Decided {
  readonly decision: Decision;
  /** The state with the values that the decision rests on. */
  readonly state: Snapshot;
}

/**
 * Decides, with the values that the decision asks for.
 * @returns the result at once if it asks for none
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
 * A mailbox says nothing about messages that came after it was read: each decision reads it after its own
 * time.
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
 * Computes a result from the state, and loads the values that the computation asks for. @throws the ports'
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

/**
 * The state with all values that conditions, times and lists of its plan read: views and questions need no
 * more.
 */
export async function withConditions(ports: Ports, plan: Plan, state: Snapshot): Promise<Snapshot> {
  const { execution, steps } = state;
  const isAnyApart = execution.inputAt !== undefined || Object.values(steps).some(({ outputAt }) => outputAt);
  if (!isAnyApart) return knowing(ports, state);
  const conditions = [...plan.steps, ...(plan.onFailure ?? [])].flatMap((step) => [
    step.when ?? null,
    ...(step.kind === 'wait' ? [step.for ?? null, step.until ?? null] : []),
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

/** The state with all of its values except the execution's output, which its steps contain. */
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
