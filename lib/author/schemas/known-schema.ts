/**
 * Determines a value's schema before the value exists: the schema of each source that a reference may read,
 * and of the value at the end of a path.
 *
 * Owns: the schemas of the sources, the walk along a path, and whether a schema allows a value to be absent.
 * Does not own: the refusals (`reference-check.ts`, `absence-check.ts`).
 *
 * If a schema allows other keys, or cannot be read, its values are unknown, and every path is accepted.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import { type Json, isJsonObject, type JsonObject } from '../../core/values/json.ts';
import { defined } from '../../core/values/defined.ts';
import {
  type AgentStep,
  type ChildStep,
  isRepeated,
  type MapStep,
  type PlanStep,
} from '../../core/plan/plan.ts';
import type { Expr } from '../../core/plan/refs.ts';
import { refsIn } from '../../core/plan/refs-in.ts';
import type { Workflow } from '../../core/plan/workflow.ts';

/** JSON Schema of the values that a schema accepts or produces; undefined if that is unknown. */
export type JsonSchemaOf = (schema: StandardSchemaV1, side?: 'input' | 'output') => unknown;

/** The known part of a schema; undefined if none is known. */
export type Known = Document | Made | Several;
/** A value's schema, within the document that its `$ref`s point into. */
export interface Document {
  readonly schema: JsonObject;
  readonly root: JsonObject;
}
/** An object whose fields have schemas of their own, such as the output of another workflow; or a list. */
interface Made {
  readonly fields: Readonly<Record<string, Way>>;
  /** The first `sure` items exist for certain. */
  readonly list?: { readonly item: Known; readonly sure: number };
}
/** One of several schemas: a union, or the outputs of the agents that may perform a step. */
interface Several {
  readonly several: readonly Known[];
}

/** The schemas of values that only this step reads: the item of a list, a round's output and input. */
export type Own = Readonly<Partial<Record<string, Known>>>;

export function ownOf(workflow: Workflow, step: PlanStep, jsonSchemaOf: JsonSchemaOf): Own {
  if (isRepeated(step)) {
    const last = answerOf(workflow, step, jsonSchemaOf);
    const to = documentOf(performerOf(workflow, step)?.input, 'output', jsonSchemaOf);
    const messages = [step.rounds.first ?? [], step.rounds.message ?? []].flat().map((message) => {
      const body = documentOf(workflow.messages?.[message.name], 'output', jsonSchemaOf);
      return [`message:${message.name}`, message.otherwise === undefined ? body : orNull(body)] as const;
    });
    return defined({ last, given: to, ...Object.fromEntries(messages) });
  }
  if (step.kind !== 'map') return {};
  const [over] = refsIn(step.over);
  if (over === undefined) return {};
  const item = follow(knownOf(workflow, over.source, jsonSchemaOf), [...over.path, '0']);
  return 'known' in item ? defined({ item: item.known }) : {};
}

/** Returns the workflow of a child, or the agent of a round. */
function performerOf(
  { agents, children }: Workflow,
  { plan, rounds }: ChildStep,
): { readonly input: StandardSchemaV1 } | undefined {
  const [first] = plan.steps;
  return rounds?.byAgent === true
    ? agents.find(({ spec }) => first?.kind === 'agent' && spec.name === first.agent)
    : children.find(({ name }) => name === plan.workflow);
}

/** Returns the schema of the output of a child, or of each of its rounds. */
function answerOf(workflow: Workflow, step: ChildStep, jsonSchemaOf: JsonSchemaOf): Known | undefined {
  const [first] = step.plan.steps;
  return outputOf(
    workflow,
    step.rounds?.byAgent === true && first?.kind === 'agent' ? first : step,
    jsonSchemaOf,
  );
}

const ofRounds = (known: Known | undefined): Known => ({
  fields: {
    rounds: BELIEVED,
    last: { known, mayBeAbsent: false },
    items: { known: undefined, mayBeAbsent: false },
  },
});

/** Returns the JSON Schema of the values that a schema produces (`output`) or accepts (`input`). */
export function documentOf(
  schema: StandardSchemaV1 | undefined,
  side: 'input' | 'output',
  jsonSchemaOf: JsonSchemaOf,
): Document | undefined {
  const json = schema === undefined ? undefined : (jsonSchemaOf(schema, side) as Json | undefined);
  return isJsonObject(json) ? { schema: json, root: json } : undefined;
}

export function knownOf(
  workflow: Workflow,
  source: string,
  jsonSchemaOf: JsonSchemaOf,
  own: Own = {},
): Known | undefined {
  const document = (schema: StandardSchemaV1 | undefined): Known | undefined =>
    documentOf(schema, 'output', jsonSchemaOf);
  if (source === 'input') return document(workflow.input);
  if (Object.hasOwn(own, source)) return own[source];
  const [kind, name = ''] = source.split(':');
  if (source === 'failure') return closed({ kind: {}, step: {}, code: {}, message: {} }, ['step']);
  if (kind === 'failure') return closed({ code: {}, message: {} });
  const all = [...workflow.plan.steps, ...(workflow.plan.onFailure ?? [])];
  const step = kind === 'step' ? all.find((one) => one.name === name) : undefined;
  switch (step?.kind) {
    case 'agent':
      return outputOf(workflow, step, jsonSchemaOf);
    case 'callback':
      return document(workflow.callbacks[name]);
    case 'receive': {
      const body = document(workflow.messages?.[step.message]);
      return step.otherwise === 'continue' ? orNull(body) : body;
    }
    case 'approval':
      return closed({ approved: {}, by: {}, comment: {} }, ['by', 'comment']);
    case 'map':
      return ofList(step, outputOf(workflow, step.each, jsonSchemaOf));
    case 'child': {
      const known = answerOf(workflow, step, jsonSchemaOf);
      return isRepeated(step) ? ofRounds(known) : known;
    }
    default:
      return undefined;
  }
}

const orNull = (body: Known | undefined): Known | undefined =>
  severalOf([body, { schema: NULL, root: NULL }]);

/** Returns the schema of one execution's output of the step, whichever agent performs it. */
export function outputOf(
  workflow: Workflow,
  step: AgentStep | ChildStep,
  jsonSchemaOf: JsonSchemaOf,
): Known | undefined {
  if (step.kind === 'child') {
    const child = workflow.children.find(({ name }) => name === step.plan.workflow);
    return child === undefined ? undefined : returnedBy(child, jsonSchemaOf);
  }
  const others = step.recovery.flatMap((stage) => (stage.kind === 'useAgent' ? [stage.agent] : []));
  const schemas = [step.agent, ...others].map(
    (name) => workflow.agents.find(({ spec }) => spec.name === name)?.output,
  );
  return severalOf([...new Set(schemas)].map((schema) => documentOf(schema, 'output', jsonSchemaOf)));
}

/** Returns the union of schemas; undefined if one of them is unknown. */
function severalOf(all: readonly (Known | undefined)[]): Known | undefined {
  const several = all.filter((one) => one !== undefined);
  return several.length < all.length ? undefined : several.length === 1 ? several[0] : { several };
}

/** Returns the schema of a list's output, where a failed item is null. */
function ofList({ over, tolerate }: MapStep, item: Known | undefined): Known {
  const isNullable = 'percent' in tolerate || tolerate.items > 0;
  const one = isNullable ? severalOf([item, { schema: NULL, root: NULL }]) : item;
  const sure = Array.isArray(over) ? over.length : 0;
  const items = one && { fields: {}, list: { item: one, sure } };
  return { fields: { total: BELIEVED, failed: BELIEVED, items: { known: items, mayBeAbsent: false } } };
}

const NULL: JsonObject = { type: 'null' };

/** Returns the schema of a workflow's output: each field has the schema of its reference. */
function returnedBy(workflow: Workflow, jsonSchemaOf: JsonSchemaOf): Known | undefined {
  const wayOf = (expr: Expr): Way => {
    if (!isJsonObject(expr)) return BELIEVED;
    const { $ref: source, path } = expr;
    if (typeof source === 'string')
      return wayAlong(knownOf(workflow, source, jsonSchemaOf), (path ?? []) as string[]);
    const instead = expr['$orElse'];
    if (Array.isArray(instead))
      return { known: undefined, mayBeAbsent: (instead as Expr[]).every((one) => wayOf(one).mayBeAbsent) };
    if (Object.keys(expr).some((key) => key.startsWith('$'))) return BELIEVED;
    const fields = Object.entries(expr).map(([key, value]) => [key, wayOf(value)] as const);
    return { known: { fields: Object.fromEntries(fields) }, mayBeAbsent: false };
  };
  return wayOf(workflow.plan.output).known;
}

/** Returns the kind of JSON, if only one is possible. */
export function kindOf(known: Known | undefined): string | undefined {
  if (known === undefined) return undefined;
  const branches = branchesOf(known);
  if (branches !== undefined) {
    const kinds = new Set(branches.map(kindOf));
    return kinds.size === 1 ? [...kinds][0] : undefined;
  }
  if ('fields' in known) return known.list === undefined ? 'object' : 'array';
  const { type } = resolved(known);
  return type === 'integer' ? 'number' : typeof type === 'string' ? type : undefined;
}

/** Walks along a path. If the path does not exist, the check of the workflow itself reports it. */
function wayAlong(from: Known | undefined, path: readonly string[]): Way {
  let way: Way = { known: from, mayBeAbsent: false };
  for (const key of path) {
    if (way.known === undefined) break;
    const next: Step = into(way.known, key);
    if ('names' in next) return BELIEVED;
    way = { known: next.known, mayBeAbsent: way.mayBeAbsent || next.mayBeAbsent };
  }
  return way;
}

function closed(properties: JsonObject, optional: readonly string[] = []): Known {
  const required = Object.keys(properties).filter((key) => !optional.includes(key));
  const schema = { type: 'object', properties, required, additionalProperties: false };
  return { schema, root: schema };
}

/** The schema under a key, and whether the key may be absent; or the keys that exist instead. */
type Step = Way | { readonly names: readonly string[] };
interface Way {
  readonly known: Known | undefined;
  readonly mayBeAbsent: boolean;
}

/** The key that does not exist on a path, and the keys that exist in its place. */
export interface DeadEnd {
  readonly at: number;
  readonly names: readonly string[];
}

export function follow(
  root: Known | undefined,
  path: readonly string[],
): { known: Known | undefined } | DeadEnd {
  let known = root;
  for (const [at, key] of path.entries()) {
    if (known === undefined) break;
    const next: Step = into(known, key);
    if ('names' in next) return { at, names: next.names };
    known = next.known;
  }
  return { known };
}

export function into(known: Known, key: string): Step {
  if ('several' in known) return intoAny(known.several, key);
  if ('fields' in known) return intoMade(known, key);
  const { root } = known;
  const schema = resolved(known);
  const branches = branchesOf(known);
  if (branches !== undefined) return intoAny(branches, key);
  switch (schema['type']) {
    case 'object':
      return intoObject(schema, root, key);
    case 'array': {
      const { prefixItems = [], items, minItems } = schema;
      // Some converters omit the number of items in a tuple.
      if (key === 'length' || ('prefixItems' in schema && minItems === undefined)) return BELIEVED;
      if (!INDEX.test(key)) return { names: [] };
      const item = (prefixItems as Json[])[Number(key)] ?? items;
      return {
        known: isJsonObject(item) ? { schema: item, root } : undefined,
        mayBeAbsent: Number(key) >= Number(minItems ?? 0),
      };
    }
    case 'string':
    case 'number':
    case 'integer':
    case 'boolean':
    case 'null':
      return { names: [] };
    default:
      return BELIEVED;
  }
}

const BELIEVED: Way = { known: undefined, mayBeAbsent: false };

const INDEX = /^\d+$/;

function intoMade({ fields, list }: Made, key: string): Step {
  if (list === undefined)
    return Object.hasOwn(fields, key) ? (fields[key] as Way) : { names: Object.keys(fields) };
  if (key === 'length') return BELIEVED;
  return INDEX.test(key) ? { known: list.item, mayBeAbsent: Number(key) >= list.sure } : { names: [] };
}

/** The branches of a union; undefined for any other schema. */
export function branchesOf(known: Known): readonly Known[] | undefined {
  if ('several' in known) return known.several;
  if ('fields' in known) return undefined;
  const schema = resolved(known);
  const branches = schema['anyOf'] ?? schema['oneOf'];
  if (!Array.isArray(branches)) return undefined;
  return (branches as Json[]).filter(isJsonObject).map((one) => ({ schema: one, root: known.root }));
}

/**
 * Looks up a key in a union. It is missing only if every branch lacks it, and may be absent if it may be so
 * in one branch.
 */
function intoAny(branches: readonly Known[], key: string): Step {
  const steps = branches.map((branch) => into(branch, key));
  const ways = steps.filter((step) => 'known' in step);
  if (ways.length > 0)
    return {
      known: severalOf(ways.map(({ known }) => known)),
      mayBeAbsent: ways.length < steps.length || ways.some(({ mayBeAbsent }) => mayBeAbsent),
    };
  return { names: [...new Set(steps.flatMap((step) => ('names' in step ? step.names : [])))] };
}

function intoObject(schema: JsonObject, root: JsonObject, key: string): Step {
  const { properties = {}, required = [], additionalProperties } = schema;
  const fields = isJsonObject(properties) ? properties : {};
  const rest = Object.hasOwn(fields, key) ? fields[key] : additionalProperties;
  if (rest === false && !('patternProperties' in schema)) return { names: Object.keys(fields) };
  return {
    known: isJsonObject(rest) ? { schema: rest, root } : undefined,
    mayBeAbsent: !(required as Json[]).includes(key),
  };
}

/** Resolves `$ref`s within the document, as far as they are valid. */
export function resolved(known: Known): JsonObject {
  if (!('schema' in known)) return {};
  const { schema, root } = known;
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
