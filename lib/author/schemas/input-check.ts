/**
 * Checks the inputs of agents and workflows as far as a plan fixes them: constants that their schemas refuse,
 * missing fields, and unknown fields. It runs when a workflow is loaded for a deployment.
 *
 * Owns: which part of a mismatch is certain, and the messages. Does not own: references to paths that do not
 * exist (`reference-check.ts`) or to values that may be absent (`absence-check.ts`).
 *
 * Refuses only what is certain: a reference is accepted if its kind fits, and so is a value that contains
 * one.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import { misfitOf, misfitText } from '../../core/values/issues.ts';
import { isJsonObject, type JsonObject } from '../../core/values/json.ts';
import { nearest } from '../../core/values/nearest.ts';
import type { Workflow } from '../../core/plan/workflow.ts';
import type { AgentStep, ChildStep, PlanStep, RoundMessage } from '../../core/plan/plan.ts';
import type { Expr } from '../../core/plan/refs.ts';
import { fieldText, nameOf } from '../references.ts';
import {
  documentOf,
  follow,
  into,
  type JsonSchemaOf,
  kindOf,
  type Known,
  knownOf,
  ownOf,
} from './known-schema.ts';

/** An input and the step that gets it. */
export interface GivenInput {
  readonly given: Expr;
  /** "agent 'charge'" */
  readonly to: string;
  readonly schema: StandardSchemaV1 | undefined;
}

/**
 * Returns the inputs of an agent's or a workflow's step: its own, those of its rounds, and those of its
 * recovery.
 */
export function inputsOf(workflow: Workflow, step: AgentStep | ChildStep): GivenInput[] {
  const toAgent = (name: string): Omit<GivenInput, 'given'> => ({
    to: `agent '${name}'`,
    schema: workflow.agents.find(({ spec }) => spec.name === name)?.input,
  });
  const [first] = step.kind === 'child' && step.rounds?.byAgent === true ? step.plan.steps : [step];
  let receiver =
    first?.kind === 'agent' ? toAgent(first.agent) : toWorkflow(workflow, (step as ChildStep).plan.workflow);
  const { first: awaited, message, next } = (step.kind === 'child' ? step.rounds : undefined) ?? {};
  let given = withMessage(step.input, awaited);
  const found: GivenInput[] = [{ ...receiver, given }];
  if (next !== undefined) found.push({ ...receiver, given: withMessage(next, message) });
  for (const stage of step.recovery ?? []) {
    if (stage.kind !== 'withInput' && stage.kind !== 'useAgent') continue;
    if (stage.kind === 'useAgent') receiver = toAgent(stage.agent);
    else given = stage.input;
    found.push({ ...receiver, given });
  }
  return found;
}

/** Adds to the input of a round the message that it begins with, as a source that only these checks know. */
const withMessage = (given: Expr, message: RoundMessage | undefined): Expr =>
  message === undefined || !isJsonObject(given)
    ? given
    : { ...given, message: { $ref: `message:${message.name}`, path: [] } };

const toWorkflow = ({ children }: Workflow, called: string): Omit<GivenInput, 'given'> => ({
  to: `workflow '${called}'`,
  schema: children.find(({ name }) => name === called)?.input,
});

/** Returns the problems, each with its workflow and step. */
export function inputProblems(workflow: Workflow, jsonSchemaOf: JsonSchemaOf): string[] {
  const { plan, name } = workflow;
  return [...plan.steps, ...(plan.onFailure ?? [])].flatMap((step) =>
    performedIn(step).flatMap((performed) =>
      inputsOf(workflow, performed).flatMap((input) =>
        [
          ...strangersOf(input, jsonSchemaOf),
          ...misfitsOf(input),
          ...otherKindsOf(workflow, step, input, jsonSchemaOf),
        ].map((problem) => `workflow '${name}', step '${step.name}': ${problem}`),
      ),
    ),
  );
}

function performedIn(step: PlanStep): (AgentStep | ChildStep)[] {
  if (step.kind === 'map') return [step.each];
  return step.kind === 'agent' || step.kind === 'child' ? [step] : [];
}

/** Stands for a value that is known only when the execution runs. */
const HOLE = Symbol('known later');

function valueOf(expr: Expr): unknown {
  if (Array.isArray(expr)) return (expr as Expr[]).map(valueOf);
  if (!isJsonObject(expr)) return expr;
  const fields = fieldsOf(expr);
  if (fields !== undefined) return Object.fromEntries(fields.map(([key, value]) => [key, valueOf(value)]));
  return Object.hasOwn(expr, '$literal') ? expr['$literal'] : HOLE;
}

/** Returns the fields of an object; undefined if an operator produces the value. */
function fieldsOf(expr: JsonObject): readonly (readonly [string, Expr])[] | undefined {
  if (Object.hasOwn(expr, '$object')) return expr['$object'] as unknown as [string, Expr][];
  return Object.keys(expr).some((key) => key.startsWith('$')) ? undefined : Object.entries(expr);
}

/** Returns the constants that a schema refuses, and the required fields that are left out. */
export function misfitsOf({ given, to, schema }: GivenInput): string[] {
  const value = valueOf(given);
  if (schema === undefined || value === HOLE) return [];
  const certain = issuesOf(schema, value).filter(({ path = [] }) => isCertain(value, path));
  const texts = certain.map((issue) => misfitText(misfitOf(issue, value)));
  return texts.length === 0 ? [] : [`${to} refuses its input: ${texts.join('; ').slice(0, 300)}`];
}

/**
 * Finds references to an object or a list where the schema accepts no such value, and the other way round.
 */
function otherKindsOf(
  workflow: Workflow,
  step: PlanStep,
  { given, to, schema }: GivenInput,
  jsonSchemaOf: JsonSchemaOf,
): string[] {
  const own = ownOf(workflow, step, jsonSchemaOf);
  const found = (expr: Expr, wanted: Known | undefined, at: readonly string[]): string[] => {
    if (wanted === undefined || !isJsonObject(expr)) return [];
    const fields = fieldsOf(expr);
    if (fields !== undefined)
      return fields.flatMap(([key, value]) => {
        const next = into(wanted, key);
        return 'known' in next ? found(value, next.known, [...at, key]) : [];
      });
    const { $ref: source, path = [] } = expr;
    if (typeof source !== 'string') return [];
    const end = follow(knownOf(workflow, source, jsonSchemaOf, own), path as string[]);
    const [is, takes] = [kindOf('known' in end ? end.known : undefined), kindOf(wanted)];
    if (
      is === undefined ||
      takes === undefined ||
      is === takes ||
      ![is, takes].some(isWhole) ||
      !isRefused(given, schema, at, is)
    )
      return [];
    const place = at.length === 0 ? 'its input' : fieldText('', at).replace(/^\./, '');
    const read = nameOf(source, path as string[]);
    const what = `${to} takes ${KINDS[takes]?.text ?? takes} as ${place}, and ${read} is ${KINDS[is]?.text ?? is}`;
    return [is === 'object' ? `${what}: give one of its fields (${read}.…)` : what];
  };
  return found(given, documentOf(schema, 'input', jsonSchemaOf), []);
}

const isWhole = (kind: string): boolean => kind === 'object' || kind === 'array';

/**
 * True if the schema refuses a value of this kind. It may convert one, which its JSON Schema does not show.
 */
function isRefused(given: Expr, schema: GivenInput['schema'], at: readonly string[], kind: string): boolean {
  const whole = { value: valueOf(given) };
  let parent: Record<string, unknown> = whole;
  for (const key of ['value', ...at].slice(0, -1)) parent = parent[key] as Record<string, unknown>;
  parent[['value', ...at].at(-1) ?? ''] = KINDS[kind]?.example;
  return issuesOf(schema as StandardSchemaV1, whole.value).some(
    ({ path = [] }) =>
      path.map((one) => (typeof one === 'object' ? one.key : one)).join('\n') === at.join('\n'),
  );
}

const KINDS: Readonly<Record<string, { readonly text: string; readonly example: unknown }>> = {
  string: { text: 'a text', example: '1' },
  number: { text: 'a number', example: 1 },
  boolean: { text: 'true or false', example: true },
  array: { text: 'a list', example: [] },
  object: { text: 'an object', example: {} },
};

/**
 * Returns a schema's issues with a value; none if the schema is asynchronous, or cannot handle the
 * placeholder for a reference.
 */
export function issuesOf(schema: StandardSchemaV1, value: unknown): readonly StandardSchemaV1.Issue[] {
  try {
    const result = schema['~standard'].validate(value);
    if (!('then' in result)) return result.issues ?? [];
    void result.then(undefined, () => undefined);
    return [];
  } catch {
    return [];
  }
}

/** True if the value at this path is a constant in the plan. A field that is left out is not added later. */
function isCertain(value: unknown, path: NonNullable<StandardSchemaV1.Issue['path']>): boolean {
  let at = value;
  for (const part of path) {
    if (at === HOLE) return false;
    at = (Object(at) as Record<PropertyKey, unknown>)[typeof part === 'object' ? part.key : part];
  }
  return !hasHole(at);
}

const hasHole = (value: unknown): boolean =>
  value === HOLE || (typeof value === 'object' && value !== null && Object.values(value).some(hasHole));

/** Finds fields that a schema drops or refuses, because it neither declares them nor accepts others. */
function strangersOf({ given, to, schema }: GivenInput, jsonSchemaOf: JsonSchemaOf): string[] {
  const [taken, kept] = (['input', 'output'] as const).map((side) => documentOf(schema, side, jsonSchemaOf));
  return strangersIn(given, taken, kept, '').map(
    ({ field, place, names }) =>
      `it gives ${to} the field ${field}, which ${place === '' ? 'its input' : place} does not have: there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ') || 'none'}${meant(field, place, names)}`,
  );
}

interface Stranger {
  readonly field: string;
  readonly place: string;
  readonly names: readonly string[];
}

function meant(field: string, place: string, names: readonly string[]): string {
  const like = nearest(field.slice(place === '' ? 0 : place.length + 1), names);
  return like === undefined ? '' : `; did you mean ${fieldText(place, [like]).replace(/^\./, '')}?`;
}

function strangersIn(
  expr: Expr,
  taken: Known | undefined,
  kept: Known | undefined,
  place: string,
): Stranger[] {
  if (taken === undefined || kept === undefined || typeof expr !== 'object' || expr === null) return [];
  const fields = Array.isArray(expr)
    ? (expr as Expr[]).map((item, at) => [String(at), item] as const)
    : (fieldsOf(expr as JsonObject) ?? []);
  return fields.flatMap(([key, value]) => {
    const [given, made] = [into(taken, key), into(kept, key)];
    const field = fieldText(place, [key]).replace(/^\./, '');
    if ('names' in given) return Array.isArray(expr) ? [] : [{ field, place, names: given.names }];
    if ('names' in made)
      return given.known === undefined && !Array.isArray(expr) ? [{ field, place, names: made.names }] : [];
    return strangersIn(value, given.known, made.known, field);
  });
}
