/**
 * Finds references to paths that, by its schema, an input or an output cannot have, and fields in a trigger's
 * mapping that the input does not have, when a workflow is loaded for a deployment.
 *
 * Owns: these refusals. Does not own: the schema of each source (`known-schema.ts`), the conversion to JSON
 * Schema (the caller's `jsonSchemaOf`, because no function should load a converter), references to steps
 * (`check.ts`), values that may be absent (`absence-check.ts`), constants (`input-check.ts`).
 *
 * Refuses only what is certain: if a schema allows other keys, or cannot be read, every path is accepted.
 */

import { type Json, isJsonObject, type JsonObject } from '../../core/values/json.ts';
import { absenceProblems } from './absence-check.ts';
import { inputProblems } from './input-check.ts';
import {
  type DeadEnd,
  follow,
  into,
  type JsonSchemaOf,
  type Known,
  knownOf,
  type Own,
  ownOf,
} from './known-schema.ts';
import { nearest } from '../../core/values/nearest.ts';
import { expressionsOf } from '../../core/plan/plan.ts';
import type { Expr } from '../../core/plan/refs.ts';
import { nameOf } from '../references.ts';
import { refsIn } from '../../core/plan/refs-in.ts';
import type { Workflow } from '../../core/plan/workflow.ts';

/**
 * Returns the mistakes in the references of a workflow and of those that it runs, each with its step and the
 * fields that exist instead.
 */
export function referenceProblems(workflow: Workflow, jsonSchemaOf: JsonSchemaOf): string[] {
  const { plan, name, children } = workflow;
  const ofChildren = children.flatMap((child) => referenceProblems(child, jsonSchemaOf));
  const problemsOf = (place: string, expressions: readonly Expr[], own?: Own): string[] =>
    expressions.flatMap(refsIn).flatMap(({ source, path }) => {
      const end = follow(knownOf(workflow, source, jsonSchemaOf, own), path);
      return 'names' in end ? [`workflow '${name}', ${place}: ${missing(source, path, end)}`] : [];
    });
  const ofSteps = [...plan.steps, ...(plan.onFailure ?? [])].flatMap((step) =>
    problemsOf(`step '${step.name}'`, expressionsOf(step), ownOf(workflow, step, jsonSchemaOf)),
  );
  const absent = absenceProblems(workflow, jsonSchemaOf);
  const inputs = inputProblems(workflow, jsonSchemaOf);
  return [
    ...new Set([...ofSteps, ...problemsOf('its output', [plan.output]), ...absent, ...inputs, ...ofChildren]),
  ];
}

/** The shape of a workflow's input, as far as its schema shows it. */
export interface InputShape {
  /** JSON Schema of the inputs that are accepted. */
  readonly schema: unknown;
  /** Fields that every input must have. */
  readonly required: readonly string[];
  /** The part of its JSON Schema that certainly refuses a constant. */
  readonly certain?: unknown;
}

/**
 * Returns the fields of a mapping that the input does not have, and required fields that the mapping omits. A
 * path or a text fits any field.
 */
export function mappingProblems(mapping: unknown, { schema, required }: InputShape): string[] {
  const root = schema as Json | undefined;
  if (!isJsonObject(root) || !isFields(mapping)) return [];
  const leftOut = required.filter((key) => mapping[key] === undefined);
  const there = unknownFields(mapping, { schema: root, root }, 'input');
  return [...there, ...leftOut.map((key) => `input.${key} is required, and left out`)];
}

/** True if a mapping lists fields, and is not `{ $concat: … }`. */
const isFields = (mapping: unknown): mapping is JsonObject =>
  isJsonObject(mapping as Json | undefined) &&
  !Object.keys(Object(mapping)).some((key) => key.startsWith('$'));

function unknownFields(mapping: JsonObject, known: Known, place: string): string[] {
  return Object.entries(mapping).flatMap(([key, value]) => {
    const next = into(known, key);
    if ('known' in next)
      return next.known !== undefined && isFields(value)
        ? unknownFields(value, next.known, `${place}.${key}`)
        : [];
    const like = nearest(key, next.names);
    const meant = like === undefined ? '' : `; did you mean ${place}.${like}?`;
    const instead = next.names.length === 0 ? 'no fields' : next.names.join(', ');
    return [`${place}.${key} does not exist: ${place} has ${instead}${meant}`];
  });
}

function missing(source: string, path: readonly string[], { at, names }: DeadEnd): string {
  const before = path.slice(0, at);
  const key = path[at] ?? '';
  const place = nameOf(source, before);
  const like = nearest(key, names);
  const instead = names.length === 0 ? `${place} has no fields` : `${place} has ${names.join(', ')}`;
  const meant = like === undefined ? '' : `; did you mean ${nameOf(source, [...before, like])}?`;
  return `it reads ${nameOf(source, [...before, key])}, which does not exist: ${instead}${meant}`;
}
