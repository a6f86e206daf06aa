/**
 * A form for a value: a field for each part of its schema, or one JSON field. Mistakes are shown at their
 * fields.
 *
 * Owns: the fields, and switching between fields and JSON. Does not own: which schemas have fields
 * (`schema.ts`), the value (`draft.ts`).
 */

import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Json } from '../../lib/api/answers.ts';
import { ApiError, exactJson } from '../../lib/api/client.ts';
import { problemOf } from '../api.ts';
import { ChoiceField, JsonField, TextField } from '../parts/fields.tsx';
import { type Draft, draftOf, fits, placeOf, type Problems, valueOf } from './draft.ts';
import { isObject, type Shape, shapeOf } from './schema.ts';

/** A value while a person edits it. */
export interface Writing {
  readonly shape: Shape;
  readonly draft: Signal<Draft>;
  /** The JSON text while the value is edited as JSON; undefined while the fields are used. */
  readonly json: Signal<string | undefined>;
  readonly problems: Signal<Problems>;
}

const NONE: Problems = new Map();

/** @param schema if undefined, the form is one JSON field @param first the initial value */
export function useWriting(schema: Json | undefined, first: Json | undefined): Writing {
  const shape = useSignal(shapeOf(schema)).value;
  return {
    shape,
    draft: useSignal<Draft>(draftOf(shape, first)),
    json: useSignal<string | undefined>(asJson(shape, first)),
    problems: useSignal<Problems>(NONE),
  };
}

const asJson = (shape: Shape, value: Json | undefined): string | undefined =>
  shape.kind !== 'json' && fits(shape, value) ? undefined : textOf(value);

const textOf = (value: Json | undefined): string =>
  value === undefined ? '{}' : JSON.stringify(value, null, 2);

/** Replaces the value. */
export function write({ shape, draft, json, problems }: Writing, value: Json): void {
  draft.value = draftOf(shape, value);
  if (json.value !== undefined || !fits(shape, value)) json.value = textOf(value);
  problems.value = NONE;
}

/** The entered value. @throws ApiError `not-filled-in`; the fields show the mistakes */
export function written({ shape, draft, json, problems }: Writing, what: string): Json {
  problems.value = NONE;
  if (json.value !== undefined) return exactJson(json.value, what);
  const { value, problems: found } = valueOf(shape, draft.value);
  if (found.size === 0) return value ?? {};
  problems.value = found;
  throw new ApiError('not-filled-in', `${what} is not filled in correctly: see its fields`);
}

/** Shows an API error at the fields that it names. @returns whether all its issues have a field */
export function refusedAt({ shape, json, problems }: Writing, error: unknown): boolean {
  const { issues } = Object(error instanceof ApiError ? error.details : undefined) as { issues?: unknown };
  if (!Array.isArray(issues) || json.value !== undefined) return false;
  const found = new Map<string, string>();
  for (const { path, message } of issues as { path: string; message: string }[])
    if (hasField(shape, path)) found.set(path, message);
  problems.value = found;
  return found.size > 0 && found.size === issues.length;
}

function hasField(shape: Shape, path: string): boolean {
  const [first = '', ...rest] = path.split('.');
  if (path === '') return shape.kind !== 'object' && shape.kind !== 'list';
  if (shape.kind === 'list') return hasField(shape.item, rest.join('.'));
  if (shape.kind !== 'object') return false;
  const field = shape.fields.find(({ name }) => name === first);
  if (field === undefined) return false;
  return rest.length === 0 || hasField(field.shape, rest.join('.'));
}

interface FormProps {
  readonly writing: Writing;
  /** The label, such as 'Input'. */
  readonly label: string;
  readonly hint?: string;
  /** A mistake of the whole value. */
  readonly problem?: string | undefined;
}

export function SchemaForm({ writing, label, hint, problem }: FormProps): JSX.Element {
  const { shape, draft, json, problems } = writing;
  const switched = useSignal<string | undefined>(undefined);
  if (json.value !== undefined)
    return (
      <>
        <JsonField
          label={`${label}, as JSON`}
          text={json as { value: string }}
          problem={switched.value ?? problem}
          hint={hint}
        />
        {shape.kind === 'json' ? null : (
          <Switch
            to={`Fill in ${label.toLowerCase()} by its fields`}
            act={() => (switched.value = toFields(writing))}
          />
        )}
      </>
    );
  return (
    <>
      <Part
        shape={shape}
        draft={draft.value}
        change={(next) => (draft.value = next)}
        label={label}
        place=""
        problems={problems.value}
        isRequired
      />
      {problem === undefined ? null : (
        <p class="notice bad" role="alert">
          {problem}
        </p>
      )}
      <Switch
        to={`Write ${label.toLowerCase()} as JSON`}
        act={() => (json.value = textOf(valueOf(shape, draft.value).value))}
      />
    </>
  );
}

const Switch = ({ to, act }: { to: string; act: () => void }): JSX.Element => (
  <button type="button" class="quiet" onClick={act}>
    {to}
  </button>
);

/** Switches from JSON to fields. @returns why this is impossible, or undefined */
function toFields({ shape, draft, json }: Writing): string | undefined {
  try {
    const value = exactJson(json.value ?? '', 'it');
    if (!fits(shape, value)) return 'The form cannot show this value: its type differs from the schema.';
    draft.value = draftOf(shape, value);
    json.value = undefined;
    return undefined;
  } catch (error) {
    return problemOf(error).what;
  }
}

interface PartProps {
  readonly shape: Shape;
  readonly draft: Draft;
  readonly change: (draft: Draft) => void;
  readonly label: string;
  readonly place: string;
  readonly problems: Problems;
  readonly isRequired: boolean;
}

function Part(props: PartProps): JSX.Element {
  const { shape, draft } = props;
  if (shape.kind === 'object' && draft.kind === 'fields')
    return <Fields {...props} shape={shape} draft={draft} />;
  if (shape.kind === 'list' && draft.kind === 'items')
    return <Items {...props} shape={shape} draft={draft} />;
  return <Typed {...props} text={draft.kind === 'typed' ? draft.text : ''} />;
}

const nameOf = ({ shape, label, isRequired }: PartProps): string =>
  `${shape.title ?? label}${isRequired ? '' : ' (optional)'}`;

function Fields(
  props: PartProps & {
    shape: Extract<Shape, { kind: 'object' }>;
    draft: Extract<Draft, { kind: 'fields' }>;
  },
): JSX.Element {
  const { shape, draft, change, place, problems } = props;
  const said = problems.get(place);
  return (
    <fieldset>
      <legend>{nameOf(props)}</legend>
      {shape.hint === undefined ? null : <p class="faint">{shape.hint}</p>}
      {said === undefined ? null : <p class="notice bad">{said}</p>}
      {shape.fields.map((field) => (
        <Part
          key={field.name}
          shape={field.shape}
          draft={draft.fields[field.name] ?? draftOf(field.shape, undefined)}
          change={(next) => change({ ...draft, fields: { ...draft.fields, [field.name]: next } })}
          label={field.name}
          place={placeOf(place, field.name)}
          problems={problems}
          isRequired={field.isRequired}
        />
      ))}
      {Object.keys(draft.rest).length === 0 ? null : (
        <p class="faint">Other fields, unchanged: {Object.keys(draft.rest).join(', ')}.</p>
      )}
    </fieldset>
  );
}

function Items(
  props: PartProps & {
    shape: Extract<Shape, { kind: 'list' }>;
    draft: Extract<Draft, { kind: 'items' }>;
  },
): JSX.Element {
  const { shape, draft, change, place, problems } = props;
  const said = problems.get(place);
  const withItems = (items: readonly Draft[]): void => change({ kind: 'items', items });
  return (
    <fieldset>
      <legend>{nameOf(props)}</legend>
      {shape.hint === undefined ? null : <p class="faint">{shape.hint}</p>}
      {said === undefined ? null : <p class="notice bad">{said}</p>}
      {draft.items.map((item, at) => (
        <div class="item" key={at}>
          <Part
            shape={shape.item}
            draft={item}
            change={(next) => withItems(draft.items.with(at, next))}
            label={`${props.label} ${at + 1}`}
            place={placeOf(place, at)}
            problems={problems}
            isRequired
          />
          <button
            type="button"
            class="quiet"
            aria-label={`Remove ${props.label} ${at + 1}`}
            onClick={() => withItems(draft.items.toSpliced(at, 1))}
          >
            remove
          </button>
        </div>
      ))}
      <button type="button" onClick={() => withItems([...draft.items, draftOf(shape.item, undefined)])}>
        Add to {props.label}
      </button>
    </fieldset>
  );
}

/** A field for typed text, bound to the draft's signal. */
function Typed(props: PartProps & { text: string }): JSX.Element {
  const { shape, text, change, place, problems, isRequired } = props;
  const field = {
    label: nameOf(props),
    hint: shape.hint,
    problem: problems.get(place),
    text: {
      get value() {
        return text;
      },
      set value(next: string) {
        change({ kind: 'typed', text: next });
      },
    },
  };
  switch (shape.kind) {
    case 'json':
      return <JsonField {...field} label={`${field.label}, as JSON`} />;
    case 'boolean':
      return <ChoiceField {...field} options={[NOTHING, ['true', 'yes'], ['false', 'no']]} />;
    case 'choice':
      return (
        <ChoiceField
          {...field}
          options={[
            ...(isRequired && text !== '' ? [] : [NOTHING]),
            ...shape.options.map((option) => [JSON.stringify(option), optionText(option)] as const),
          ]}
        />
      );
    default:
      return <TextField {...field} />;
  }
}

const NOTHING = ['', '–'] as const;
const optionText = (option: Json): string =>
  typeof option === 'string' ? option : isObject(option) ? JSON.stringify(option) : String(option);
