/**
 * References that lead nowhere, found where a workflow is loaded for a deployment: a path that the input's or an output's
 * schema is known not to have. So are fields of a trigger's mapping that the input does not have.
 *
 * Owns: what is known of each source (`Known`), the walk along a path, and the words. Does not own: how a schema becomes
 * JSON Schema (the caller's `jsonSchemaOf`, for no function should load a converter), references to steps (`check.ts`).
 *
 * Only what is certain is refused: where a schema allows other keys, or cannot be read, every path is believed.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import { type Json, isJsonObject, type JsonObject } from '../records/json.ts';
import { nearest } from './nearest.ts';
import { expressionsOf, type PlanStep } from './plan.ts';
import { type Expr, nameOf, refsIn } from './refs.ts';
import type { Workflow } from './workflow.ts';

/** The JSON Schema of what a schema lets through; nothing where that cannot be said. */
export type JsonSchemaOf = (schema: StandardSchemaV1) => unknown;

/** A value's schema, within the document that its `$ref`s point into. Absent: nothing is known. */
interface Known {
  readonly schema: JsonObject;
  readonly root: JsonObject;
}

/** What is wrong with a workflow's references, each with its step and what there is instead. */
export function referenceProblems(workflow: Workflow, jsonSchemaOf: JsonSchemaOf): string[] {
  const { plan, name } = workflow;
  const problemsOf = (place: string, expressions: readonly Expr[], list?: Known): string[] =>
    expressions.flatMap(refsIn).flatMap(({ source, path }) => {
      const end = follow(knownOf(workflow, source, jsonSchemaOf, list), path);
      return 'names' in end ? [`workflow '${name}', ${place}: ${missing(source, path, end)}`] : [];
    });
  const ofSteps = [...plan.steps, ...(plan.onFailure ?? [])].flatMap((step) =>
    problemsOf(`step '${step.name}'`, expressionsOf(step), itemOf(workflow, step, jsonSchemaOf)),
  );
  return [...new Set([...ofSteps, ...problemsOf('its output', [plan.output])])];
}

/** What a workflow takes, as far as its schema says it. */
export interface InputShape {
  /** JSON Schema of what it lets through. */
  readonly schema: unknown;
  /** Fields without which it takes nothing. */
  readonly required: readonly string[];
}

/** What a mapping gives that the input does not have, and what it leaves out; a path or a text may be anything. */
export function mappingProblems(mapping: unknown, { schema, required }: InputShape): string[] {
  const root = schema as Json | undefined;
  if (!isJsonObject(root) || !isFields(mapping)) return [];
  const leftOut = required.filter((key) => mapping[key] === undefined);
  const there = unknownFields(mapping, { schema: root, root }, 'input');
  return [...there, ...leftOut.map((key) => `input.${key} is required, and left out`)];
}

/** Fields of an input, and no `{ $concat: … }`. */
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

/** The schema of an item, for a list's step. */
function itemOf(workflow: Workflow, step: PlanStep, jsonSchemaOf: JsonSchemaOf): Known | undefined {
  if (step.kind !== 'map') return undefined;
  const [over] = refsIn(step.over);
  if (over === undefined) return undefined;
  const item = follow(knownOf(workflow, over.source, jsonSchemaOf), [...over.path, '0']);
  return 'known' in item ? item.known : undefined;
}

function knownOf(
  workflow: Workflow,
  source: string,
  jsonSchemaOf: JsonSchemaOf,
  item?: Known,
): Known | undefined {
  const document = (schema: StandardSchemaV1 | undefined): Known | undefined => {
    const json = schema === undefined ? undefined : (jsonSchemaOf(schema) as Json | undefined);
    return isJsonObject(json) ? { schema: json, root: json } : undefined;
  };
  if (source === 'input') return document(workflow.input);
  if (source === 'item') return item;
  const [kind, name = ''] = source.split(':');
  if (source === 'failure') return closed({ kind: {}, step: {}, code: {}, message: {} });
  if (kind === 'failure') return closed({ code: {}, message: {} });
  const all = [...workflow.plan.steps, ...(workflow.plan.onFailure ?? [])];
  const step = kind === 'step' ? all.find((one) => one.name === name) : undefined;
  const outputOf = (agent: string): Known | undefined =>
    document(workflow.agents.find(({ spec }) => spec.name === agent)?.output);
  switch (step?.kind) {
    case 'agent':
      return outputOf(step.agent);
    case 'callback':
      return document(workflow.callbacks[name]);
    case 'approval':
      return closed({ approved: {}, by: {}, comment: {} });
    case 'map':
      return closed({ total: {}, failed: {}, items: {} });
    default:
      return undefined;
  }
}

function closed(properties: JsonObject): Known {
  const schema = { type: 'object', properties, additionalProperties: false };
  return { schema, root: schema };
}

/** What a key leads to, or which there are instead. */
type Step = { readonly known: Known | undefined } | { readonly names: readonly string[] };

/** Where a path leads nowhere: at which of its keys, and which there are instead. */
interface DeadEnd {
  readonly at: number;
  readonly names: readonly string[];
}

function follow(root: Known | undefined, path: readonly string[]): { known: Known | undefined } | DeadEnd {
  let known = root;
  for (const [at, key] of path.entries()) {
    if (known === undefined) break;
    const next: Step = into(known, key);
    if ('names' in next) return { at, names: next.names };
    known = next.known;
  }
  return { known };
}

function into(known: Known, key: string): Step {
  const { root } = known;
  const schema = resolved(known);
  const branches = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(branches)) return intoAny((branches as Json[]).filter(isJsonObject), root, key);
  switch (schema['type']) {
    case 'object':
      return intoObject(schema, root, key);
    case 'array': {
      if (key === 'length' || 'prefixItems' in schema) return { known: undefined };
      const { items } = schema;
      if (!/^\d+$/.test(key)) return { names: [] };
      return { known: isJsonObject(items) ? { schema: items, root } : undefined };
    }
    case 'string':
    case 'number':
    case 'integer':
    case 'boolean':
    case 'null':
      return { names: [] };
    default:
      return { known: undefined };
  }
}

/** It leads nowhere only if it does so in every branch. */
function intoAny(branches: readonly JsonObject[], root: JsonObject, key: string): Step {
  const steps = branches.map((schema) => into({ schema, root }, key));
  const ways = steps.filter((step) => 'known' in step);
  if (ways.length > 0) return ways.length === 1 ? (ways[0] as Step) : { known: undefined };
  return { names: [...new Set(steps.flatMap((step) => ('names' in step ? step.names : [])))] };
}

function intoObject(schema: JsonObject, root: JsonObject, key: string): Step {
  const { properties = {}, additionalProperties } = schema;
  const fields = isJsonObject(properties) ? properties : {};
  const rest = Object.hasOwn(fields, key) ? fields[key] : additionalProperties;
  if (rest === false && !('patternProperties' in schema)) return { names: Object.keys(fields) };
  return { known: isJsonObject(rest) ? { schema: rest, root } : undefined };
}

/** Follows `$ref`s within the document, as far as a sound one goes. */
function resolved({ schema, root }: Known): JsonObject {
  let at = schema;
  for (let hop = 0; hop < 20; hop += 1) {
    const target = at['$ref'];
    if (typeof target !== 'string') return at;
    let next: Json | undefined = root;
    for (const part of target.split('/').slice(1)) next = isJsonObject(next) ? next[part] : undefined;
    if (!isJsonObject(next)) return {};
    at = next;
  }
  return {};
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
