/**
 * Values that are too large for a record, and are stored outside the table as objects.
 *
 * Owns: which fields of records may name one, the form of that name, the keys of the objects, and refusing to
 * read a value that is not loaded. Does not own: writing and loading them (`engine/large-values.ts`),
 * removing them (the audit).
 *
 * V2 a record can name only objects of its own execution, life and holder: the key is made from these, and
 * the record has only the rest of the key. V3 a key contains the id of one put, and is never used twice.
 */

import type { Json } from '../values/json.ts';
import type { Snapshot } from './snapshot.ts';
import type { Execution, Step } from './state.ts';
import type { ValueRef } from './value-ref.ts';

/** The owner of a value: the execution's input, its output, or a step's output. */
export type ValueHolder = 'input' | 'output' | `step.${string}`;

/** The parts of an object's key. */
export interface ValueKey {
  readonly executionId: string;
  readonly life: string;
  readonly holder: ValueHolder;
  readonly hash: string;
  readonly id: string;
}

type Owner = Pick<Execution, 'id' | 'life'>;

/** A value whose JSON text is larger than this is stored outside the table, if there is such a store. */
export const LARGE_VALUE_BYTES: number = 32 * 1_024;
/** The largest value in a record: with the rest of the record it fits into an item of the store (400 KB). */
export const MAX_RECORD_VALUE_BYTES: number = 256 * 1_024;
/** The largest value, as JSON text in UTF-8. */
export const MAX_VALUE_BYTES: number = 16 * 1_024 * 1_024;

/** The largest total of a step's outputs: a reader has all of it in memory. */
export const MAX_WHOLE_BYTES: number = 32 * 1_024 * 1_024;

/** @param inRecord the limit if there is no place outside the table */
export const mostBytes = (
  { values }: Pick<Snapshot, 'values'>,
  inRecord: number,
  beside: number = MAX_VALUE_BYTES,
): number => (values === undefined ? inRecord : beside);

/**
 * The holder for a step's output. Brackets in an item's name are replaced, because they have a meaning in
 * addresses and file patterns.
 */
export const holderOf = (step: string): ValueHolder => `step.${step.replace('[', '.').replace(']', '')}`;

/**
 * The prefix of all objects of all lives of an id. It begins with a hash, because successive ids would
 * otherwise be in one part of the store, which takes a limited number of writes a second.
 */
export const valuesOf = (id: string): string => `${spreadOf(id)}/${id}/`;

/** Four digits, from both halves of FNV-1a; no secret depends on them. */
function spreadOf(id: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return ((hash ^ (hash >>> 16)) & 0xffff).toString(16).padStart(4, '0');
}

/** The common prefix of all objects of an execution. */
export const valuesPrefixOf = ({ id, life }: Owner): string => `${valuesOf(id)}${life}/`;

export const valueKeyOf = (owner: Owner, holder: ValueHolder, ref: Pick<ValueRef, 'hash' | 'id'>): string =>
  `${valuesPrefixOf(owner)}${holder}/${ref.hash}/${ref.id}`;

/** @returns undefined for text that is not a key of a value */
export function valueKeyIn(key: string): ValueKey | undefined {
  const [, executionId = '', life, holder, hash, id, ...more] = key.split('/');
  const isKey = more.length === 0 && [life, holder, hash, id].every(Boolean) && isOf(executionId, key);
  if (!isKey || !(holder === 'input' || holder === 'output' || holder?.startsWith('step.') === true))
    return undefined;
  return { executionId, life, holder, hash, id } as ValueKey;
}

/** @returns true if the key begins as this execution's keys do */
export const isOf = (executionId: string, key: string): boolean =>
  executionId !== '' && key.startsWith(valuesOf(executionId));

/** The keys of all objects that the records of an execution name. */
export function valueKeysIn({ execution, steps }: Pick<Snapshot, 'execution' | 'steps'>): readonly string[] {
  const { inputAt, outputAt } = execution;
  const named = (holder: ValueHolder, refs: readonly (ValueRef | undefined)[]): readonly string[] =>
    refs.flatMap((ref) => (ref === undefined ? [] : [valueKeyOf(execution, holder, ref)]));
  return [
    ...named('input', [inputAt]),
    ...named('output', [outputAt]),
    ...Object.values(steps).flatMap((step) => named(holderOf(step.name), refsIn(step))),
  ];
}

const refsIn = ({ outputAt, children }: Step): readonly (ValueRef | undefined)[] => [
  outputAt,
  children?.rounds?.inputAt,
];

/** A value that is read but not loaded. */
export interface WantedValue {
  readonly holder: ValueHolder;
  readonly ref: ValueRef;
}

/** Ends an evaluation, so that the value is loaded and everything is evaluated again. */
export class NotLoaded extends Error {
  readonly wanted: WantedValue;

  constructor(wanted: WantedValue) {
    super(`a value of ${wanted.ref.bytes} bytes is not loaded: ${wanted.holder}`);
    this.name = 'NotLoaded';
    this.wanted = wanted;
  }
}

/** True if the value is stored outside the table and can no longer be read. */
export const isLost = ({ execution, values }: Snapshot, { holder, ref }: WantedValue): boolean =>
  values?.lost.has(valueKeyOf(execution, holder, ref)) === true;

/**
 * @returns undefined if the value is lost: a step that reads it has failed already (`step/left-out.ts`)
 * @throws NotLoaded
 */
function loaded(
  state: Snapshot,
  holder: ValueHolder,
  value: Json | undefined,
  ref: ValueRef | undefined,
): Json | undefined {
  if (ref === undefined || (value !== undefined && value !== null)) return value;
  if (isLost(state, { holder, ref })) return undefined;
  throw new NotLoaded({ holder, ref });
}

/** @throws NotLoaded */
export const inputIn = (state: Snapshot): Json =>
  loaded(state, 'input', state.execution.input, state.execution.inputAt) ?? null;

/** @throws NotLoaded */
export const outputIn = (state: Snapshot, step: Step | undefined): Json | undefined =>
  step && loaded(state, holderOf(step.name), step.output, step.outputAt);

/** The input of the current round. @throws NotLoaded */
export const roundInputIn = (state: Snapshot, step: Step | undefined): Json | undefined =>
  step && loaded(state, holderOf(step.name), step.children?.rounds?.input, step.children?.rounds?.inputAt);

/** Adds a value that was loaded, or the fact that it is lost. */
export function withValue(
  state: Snapshot,
  wanted: WantedValue,
  read: { readonly value: Json } | 'lost',
): Snapshot {
  const { execution, steps } = state;
  const { holder, ref } = wanted;
  if (read === 'lost') {
    const lost = new Set([...(state.values?.lost ?? []), valueKeyOf(execution, holder, ref)]);
    return { ...state, values: { lost } };
  }
  const { value } = read;
  if (holder === 'input') return { ...state, execution: { ...execution, input: value } };
  if (holder === 'output') return { ...state, execution: { ...execution, output: value } };
  const step = Object.values(steps).find(({ name }) => holderOf(name) === holder);
  return step === undefined
    ? state
    : { ...state, steps: { ...steps, [step.name]: stepWith(step, ref, value) } };
}

function stepWith(step: Step, ref: ValueRef, value: Json): Step {
  const { children } = step;
  const rounds = children?.rounds;
  if (children === undefined || rounds === undefined || rounds.inputAt?.id !== ref.id)
    return { ...step, output: value };
  const isOutput = step.outputAt?.id === ref.id && step.outputAt.hash === ref.hash;
  if (isOutput && step.output === undefined) return { ...step, output: value };
  return { ...step, children: { ...children, rounds: { ...rounds, input: value } } };
}
