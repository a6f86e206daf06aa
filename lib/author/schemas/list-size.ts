/**
 * Lists whose outputs may be more than is kept, though something reads them: said where a
 * workflow is loaded for a deployment.
 *
 * Owns: the size that schemas allow, and the words. Does not own: what follows where an execution
 * has more (`step/left-out.ts`).
 *
 * It is a warning, not a refusal: an author may know of a bound that no schema says.
 */

import { MAX_GATHERED_BYTES } from '../../core/records/children.ts';
import { type Json, isJsonObject, type JsonObject, utf8Bytes } from '../../core/values/json.ts';
import { follow, type JsonSchemaOf, type Known, knownOf, outputOf, resolved } from './known-schema.ts';
import { expressionsOf, type MapStep, MAX_ITEMS, type Plan } from '../../core/plan/plan.ts';
import type { Expr } from '../../core/plan/refs.ts';
import { refsIn, valuesReadIn } from '../../core/plan/refs-in.ts';
import type { Workflow } from '../../core/plan/workflow.ts';

export interface LargeList {
  readonly workflow: string;
  readonly step: string;
  readonly message: string;
}

/**
 * The lists of a workflow, and of those that it runs, whose outputs are read and may be too large together.
 */
export function largeLists(workflow: Workflow, jsonSchemaOf: JsonSchemaOf): LargeList[] {
  const { plan, name, children } = workflow;
  const own = plan.steps.flatMap((step) => {
    if (step.kind !== 'map') return [];
    const reader = readerOf(plan, step.name);
    if (reader === undefined) return [];
    const items = mostItems(workflow, step, jsonSchemaOf);
    const bytes = mostBytes(outputOf(workflow, step.each, jsonSchemaOf));
    // With their commas and the brackets.
    if (items * (bytes + 1) + 1 <= MAX_GATHERED_BYTES) return [];
    const size = bytes === Number.POSITIVE_INFINITY ? 'of any size' : `of up to ${bytes} bytes`;
    const message = `workflow '${name}', list '${step.name}': ${reader} reads the outputs of its items, of which ${MAX_GATHERED_BYTES} bytes in all are kept, and the schemas allow more: ${items} items, each ${size}. With more, ${reader === 'its output' ? 'the output is not shown' : 'it fails with list-too-large, after the items are done'}: bound the list and what an item answers (z.maxLength), or return something small, such as a key in a store of yours`;
    return [{ workflow: name, step: step.name, message }];
  });
  return [...own, ...children.flatMap((child) => largeLists(child, jsonSchemaOf))];
}

/** The steps that read them, if any do; `total` and `failed` are always kept. */
function readerOf(plan: Plan, list: string): string | undefined {
  const isRead = (expr: Expr): boolean =>
    valuesReadIn(expr).some(
      ({ source, path }) => source === `step:${list}` && (path.length === 0 || path[0] === 'items'),
    );
  const step = [...plan.steps, ...(plan.onFailure ?? [])].find((one) => expressionsOf(one).some(isRead));
  if (step !== undefined) return `step '${step.name}'`;
  return isRead(plan.output) ? 'its output' : undefined;
}

function mostItems(workflow: Workflow, { over }: MapStep, jsonSchemaOf: JsonSchemaOf): number {
  if (Array.isArray(over)) return over.length;
  const [read] = refsIn(over);
  if (read === undefined) return MAX_ITEMS;
  const end = follow(knownOf(workflow, read.source, jsonSchemaOf), read.path);
  const most = 'known' in end && end.known !== undefined ? resolved(end.known)['maxItems'] : undefined;
  return typeof most === 'number' ? Math.min(most, MAX_ITEMS) : MAX_ITEMS;
}

/** Schemas may contain themselves. */
const DEEPEST = 16;
const ANY_SIZE = Number.POSITIVE_INFINITY;

/** As JSON in UTF-8; a character of a text takes up to three bytes. Infinite where nothing bounds it. */
function mostBytes(known: Known | undefined, depth = 0): number {
  if (known === undefined || depth > DEEPEST) return ANY_SIZE;
  if ('several' in known) return Math.max(...known.several.map((one) => mostBytes(one, depth + 1)));
  if ('fields' in known && known.list !== undefined) return ANY_SIZE;
  if ('fields' in known)
    return objectBytes(
      Object.entries(known.fields).map(([key, way]) => [key, mostBytes(way.known, depth + 1)]),
    );
  const schema = resolved(known);
  const bytesOf = (inner: Json | undefined): number =>
    mostBytes(isJsonObject(inner) ? { schema: inner, root: known.root } : undefined, depth + 1);
  const { const: constant, enum: values } = schema;
  if (constant !== undefined) return jsonBytes(constant);
  if (Array.isArray(values)) return Math.max(0, ...(values as Json[]).map(jsonBytes));
  const branches = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(branches)) return Math.max(0, ...(branches as Json[]).map(bytesOf));
  switch (schema['type']) {
    case 'null':
    case 'boolean':
      return 5;
    case 'integer':
    case 'number':
      return 25;
    case 'string':
      return textBytes(schema);
    case 'array': {
      const { maxItems, prefixItems, items } = schema;
      if (typeof maxItems !== 'number' || prefixItems !== undefined) return ANY_SIZE;
      return maxItems === 0 ? 2 : maxItems * (bytesOf(items) + 1) + 1;
    }
    case 'object': {
      // Other keys are left out where the schema does not ask for them.
      const { properties = {}, additionalProperties = false } = schema;
      if (additionalProperties !== false || !isJsonObject(properties)) return ANY_SIZE;
      return objectBytes(Object.entries(properties).map(([key, inner]) => [key, bytesOf(inner)]));
    }
    default:
      return ANY_SIZE;
  }
}

const objectBytes = (fields: readonly (readonly [string, number])[]): number =>
  fields.reduce((sum, [key, bytes]) => sum + jsonBytes(key) + 1 + bytes + 1, fields.length === 0 ? 2 : 1);

/** The characters of texts whose form bounds them. */
const FORMS: Readonly<Record<string, number>> = {
  uuid: 36,
  guid: 36,
  date: 10,
  'date-time': 40,
  ipv4: 15,
  ipv6: 45,
};

function textBytes({ maxLength, format }: JsonObject): number {
  if (typeof maxLength === 'number') return 3 * maxLength + 2;
  const form = typeof format === 'string' ? FORMS[format] : undefined;
  return form === undefined ? ANY_SIZE : form + 2;
}

const jsonBytes = (value: Json): number => utf8Bytes(JSON.stringify(value));
