/**
 * A draft: the content of a form as typed, as a tree like that of its shape.
 *
 * Owns: converting a value to a draft and back, and the mistakes in a draft. Does not own: the fields
 * (`schema-form.tsx`), validating by the schema (the API).
 */

import type { Json } from '../../lib/api/answers.ts';
import { exactJson } from '../../lib/api/client.ts';
import { isObject, type Shape } from './schema.ts';

export type Draft =
  /** A text, number or JSON as typed; for a choice, the option as JSON. '' leaves the field out. */
  | { readonly kind: 'typed'; readonly text: string }
  | { readonly kind: 'fields'; readonly fields: Readonly<Record<string, Draft>>; readonly rest: Rest }
  | { readonly kind: 'items'; readonly items: readonly Draft[] };

/** Fields of the value that the form does not show; they are sent unchanged. */
type Rest = { readonly [key: string]: Json };

/** Mistakes by the path of their field, such as 'items.0.sku'; '' is the whole value. */
export type Problems = ReadonlyMap<string, string>;

export const placeOf = (within: string, name: string | number): string =>
  within === '' ? String(name) : `${within}.${name}`;

/** @param value undefined for an empty form */
export function draftOf(shape: Shape, value: Json | undefined): Draft {
  switch (shape.kind) {
    case 'object': {
      const given = isObject(value) ? value : {};
      const names = new Set(shape.fields.map(({ name }) => name));
      return {
        kind: 'fields',
        fields: Object.fromEntries(
          shape.fields.map((field) => [field.name, draftOf(field.shape, given[field.name])]),
        ),
        rest: Object.fromEntries(Object.entries(given).filter(([name]) => !names.has(name))),
      };
    }
    case 'list':
      return {
        kind: 'items',
        items: Array.isArray(value) ? value.map((item) => draftOf(shape.item, item as Json)) : [],
      };
    case 'text':
      return { kind: 'typed', text: typeof value === 'string' ? value : '' };
    case 'json':
      return { kind: 'typed', text: value === undefined ? '' : JSON.stringify(value, null, 2) };
    default:
      return { kind: 'typed', text: value === undefined ? firstOf(shape) : JSON.stringify(value) };
  }
}

/** The initial option: the only one, or none. */
const firstOf = (shape: Shape): string =>
  shape.kind === 'choice' && shape.options.length === 1 ? JSON.stringify(shape.options[0]) : '';

/** Whether the form can show the value; otherwise it is edited as JSON. */
export function fits(shape: Shape, value: Json | undefined): boolean {
  if (value === undefined || shape.kind === 'json') return true;
  switch (shape.kind) {
    case 'object':
      return isObject(value) && shape.fields.every((field) => fits(field.shape, value[field.name]));
    case 'list':
      return Array.isArray(value) && value.every((item) => fits(shape.item, item as Json));
    case 'choice':
      return shape.options.some((option) => JSON.stringify(option) === JSON.stringify(value));
    case 'text':
      return typeof value === 'string';
    default:
      return typeof value === shape.kind;
  }
}

/** Converts a draft to its value, or to its mistakes. An empty optional field gives undefined. */
export function valueOf(shape: Shape, draft: Draft, isRequired = true): { value?: Json; problems: Problems } {
  const problems = new Map<string, string>();
  const value = read(shape, draft, isRequired, '', problems);
  return { ...(value === undefined ? {} : { value }), problems };
}

function read(
  shape: Shape,
  draft: Draft,
  isRequired: boolean,
  place: string,
  problems: Map<string, string>,
): Json | undefined {
  if (draft.kind === 'typed') return typed(shape, draft.text, isRequired, place, problems);
  if (draft.kind === 'items' && shape.kind === 'list') {
    const items = draft.items.map(
      (item, at) => read(shape.item, item, true, placeOf(place, at), problems) ?? null,
    );
    return items.length === 0 && !isRequired ? undefined : items;
  }
  if (draft.kind !== 'fields' || shape.kind !== 'object') return undefined;
  const given = shape.fields.flatMap((field): [string, Json][] => {
    const own = draft.fields[field.name];
    const at = placeOf(place, field.name);
    // An optional object needs its required fields only once one of its fields is filled.
    const isMissed = field.isRequired && (isRequired || hasAny(draft));
    const value = own === undefined ? undefined : read(field.shape, own, isMissed, at, problems);
    return value === undefined ? [] : [[field.name, value]];
  });
  if (given.length === 0 && Object.keys(draft.rest).length === 0 && !isRequired) return undefined;
  return { ...draft.rest, ...Object.fromEntries(given) };
}

const hasAny = (draft: Draft): boolean => {
  if (draft.kind === 'typed') return draft.text !== '';
  if (draft.kind === 'items') return draft.items.length > 0;
  return Object.keys(draft.rest).length > 0 || Object.values(draft.fields).some(hasAny);
};

function typed(
  shape: Shape,
  text: string,
  isRequired: boolean,
  place: string,
  problems: Map<string, string>,
): Json | undefined {
  if (shape.kind === 'text') return text === '' && !isRequired ? undefined : text;
  if (text.trim() === '') {
    if (isRequired) problems.set(place, shape.kind === 'json' ? 'JSON is required' : 'this is required');
    return undefined;
  }
  try {
    const value = exactJson(text, 'it');
    if (shape.kind !== 'number' || typeof value === 'number') return value;
    problems.set(place, 'a number is required');
  } catch (error) {
    const wanted = shape.kind === 'number' ? 'a number is required' : 'this is not valid JSON';
    problems.set(place, error instanceof SyntaxError ? wanted : String(Object(error).message));
  }
  return undefined;
}
