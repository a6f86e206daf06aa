/**
 * Compiles the mapping of an event to a workflow's input: constants, and paths into the event.
 *
 * Owns: the refusals at synthesis, and the references to which it is compiled. Does not own: the form for
 * authors (`author/triggers/trigger-declaration.ts`), the evaluation, which is that of a plan's references.
 */

import { isPlainObject } from '../core/values/json.ts';
import type { Startable } from '../author/triggers/trigger-declaration.ts';

/** A workflow, or its name. For a workflow itself the mapping must have the fields of its input. */
export type WorkflowReference<Input = unknown> = string | Startable<Input>;

/** The fields of an event, by name; `true` if they are unknown. */
export type EventShape = true | { readonly [field: string]: EventShape };

const SEGMENT = /^(?:\.([A-Za-z_][\w-]*)|\[(\d+)\]|\['([^']+)'\])/;

/** The form of a plan's references. */
export type Compiled =
  | null
  | boolean
  | number
  | string
  | readonly Compiled[]
  | { readonly [key: string]: Compiled };

/**
 * Compiles a mapping for the starter.
 * @param shape the fields of this kind of event
 * @param place for messages: which mapping of which trigger
 * @throws Error about an invalid part, with its place
 */
export function compileMapping(mapping: unknown, shape: EventShape, place: string): Compiled {
  if (typeof mapping === 'string')
    return mapping.startsWith('$') ? reference(mapping, shape, place) : mapping;
  if (mapping === null || typeof mapping === 'boolean') return mapping;
  if (typeof mapping === 'number' && Number.isFinite(mapping)) return mapping;
  if (Array.isArray(mapping))
    return mapping.map((item, at) => compileMapping(item, shape, `${place}[${at}]`));
  if (typeof mapping !== 'object' || !isPlainObject(mapping)) {
    throw new Error(
      `${place}: ${String(mapping)} is not JSON; allowed: paths into the event, constants, and structures of both`,
    );
  }
  return compileObject(mapping as Record<string, unknown>, shape, place);
}

function compileObject(
  mapping: Readonly<Record<string, unknown>>,
  shape: EventShape,
  place: string,
): Compiled {
  const entries = Object.entries(mapping).filter(([, value]) => value !== undefined);
  const operator = entries.find(([key]) => key.startsWith('$'));
  if (operator === undefined) {
    return Object.fromEntries(
      entries.map(([key, value]) => [key, compileMapping(value, shape, `${place}.${key}`)]),
    );
  }
  const [name, argument] = operator;
  if (entries.length === 1 && name === '$literal') return { $literal: compileConstant(argument, place) };
  if (entries.length === 1 && name === '$concat' && Array.isArray(argument)) {
    return { $concat: compileMapping(argument, shape, `${place}.$concat`) };
  }
  throw new Error(
    `${place}: ${JSON.stringify(mapping)} is not understood; of keys with $ there are { $concat: […] } and { $literal: … }`,
  );
}

/** Compiles a constant: the same checks, without paths. */
function compileConstant(value: unknown, place: string): Compiled {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map((item, at) => compileConstant(item, `${place}[${at}]`));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, compileConstant(item, `${place}.${key}`)]),
    );
  }
  return compileMapping(value, true, place);
}

function reference(text: string, shape: EventShape, place: string): Compiled {
  const path: string[] = [];
  for (let rest = text.slice(1); rest !== ''; ) {
    const match = SEGMENT.exec(rest);
    if (match === null) {
      throw new Error(
        `${place}: '${text}' is not a path; write $.field, $.list[0] or $['odd name'], and a text that begins with $ as { $literal: … }`,
      );
    }
    path.push(match[1] ?? match[2] ?? match[3] ?? '');
    rest = rest.slice(match[0].length);
  }
  refuseUnknown(text, path, shape, place);
  return { $ref: 'input', path };
}

/** Refuses a path that no event has: with a misspelled path, every event would be refused. */
function refuseUnknown(text: string, path: readonly string[], shape: EventShape, place: string): void {
  let at: EventShape | undefined = shape;
  const walked: string[] = ['$'];
  for (const field of path) {
    if (at === true || at === undefined) return;
    const fields: readonly string[] = Object.keys(at);
    at = at[field];
    if (at === undefined) {
      throw new Error(
        `${place}: '${text}' is not in events of this kind; ${walked.join('.')} has ${fields.join(', ') || 'no fields'}`,
      );
    }
    walked.push(field);
  }
}

/** The key as a list of references. @throws Error if a part is not a path */
export function compileKey(
  key: string | readonly string[],
  shape: EventShape,
  place: string,
): readonly Compiled[] {
  const paths = [key].flat();
  const constant = paths.find((path) => !path.startsWith('$'));
  if (paths.length === 0 || constant !== undefined) {
    throw new Error(
      `${place}: ${constant === undefined ? 'no path' : `'${constant}' is the same for every event`}; allowed: paths into the event whose value differs from event to event`,
    );
  }
  return paths.map((path) => compileMapping(path, shape, place));
}
