/**
 * Finds references to values that may be absent, in places that need a value, when a workflow is loaded for a
 * deployment.
 *
 * Owns: which schemas make a value optional, which places accept its absence, which values a condition
 * guarantees, and the messages. Does not own: paths that never exist (`reference-check.ts`), steps that may
 * have no output at all (`outcomes.ts`).
 *
 * Refuses only what the schemas prove: if one of the two cannot be read, the reference is accepted.
 */

import { type Json, isJsonObject, type JsonObject } from '../../core/values/json.ts';
import {
  branchesOf,
  documentOf,
  into,
  type JsonSchemaOf,
  type Known,
  knownOf,
  ownOf,
  resolved,
} from './known-schema.ts';
import { inputsOf } from './input-check.ts';
import { impliedBy, whenText } from '../checks/check-outcomes.ts';
import type { AgentStep, ChildStep, Plan, PlanStep } from '../../core/plan/plan.ts';
import type { Expr } from '../../core/plan/refs.ts';
import { fieldText, nameOf } from '../references.ts';
import type { Reference } from '../../core/plan/refs-in.ts';
import type { Workflow } from '../../core/plan/workflow.ts';

/** The place where an expression's value is used. */
interface Place {
  /** The reason in the message to the author: "agent 'tell' needs vat". */
  readonly needs: string;
  readonly field: string;
  /** The schema of its value; absent if it is not known. */
  readonly known: Known | undefined;
  readonly takesNothing: boolean;
  /** True for an input, or a field of one. */
  readonly isInput?: true;
  /** True in the condition that ends the rounds. */
  readonly isUntil?: true;
}

interface Read extends Reference {
  readonly place: Place;
}

/** Returns the problems, each with its workflow and step. */
export function absenceProblems(workflow: Workflow, jsonSchemaOf: JsonSchemaOf): string[] {
  const { plan, name } = workflow;
  const known = new Map<string, Known | undefined>();
  const sourceOf = (source: string): Known | undefined => {
    if (!known.has(source)) known.set(source, knownOf(workflow, source, jsonSchemaOf));
    return known.get(source);
  };
  const ofSteps = [...plan.steps, ...(plan.onFailure ?? [])].flatMap((step) => {
    const own = ownOf(workflow, step, jsonSchemaOf);
    const promised = [...promisedBy(step, plan), ...promisedByUntil(step)];
    return readsOf(step, workflow, jsonSchemaOf).flatMap((read) => {
      const from = Object.hasOwn(own, read.source) ? own[read.source] : sourceOf(read.source);
      // A condition guarantees nothing before it has been evaluated.
      const absent = absentIn(from, read, read.place.isUntil === true ? [] : promised);
      return absent === undefined
        ? []
        : [`workflow '${name}', step '${step.name}': ${wordsFor(read, absent, step.when)}`];
    });
  });
  // The workflow's output omits an absent field; within an expression there, the field must exist.
  const ofOutput = readsIn(plan.output, ANYTHING).flatMap((read) => {
    const absent = absentIn(sourceOf(read.source), read, []);
    return absent === undefined ? [] : [`workflow '${name}', its output: ${wordsFor(read, absent)}`];
  });
  return [...ofSteps, ...ofOutput];
}

/** Returns everything that a step reads, with the place where it is used. */
function readsOf(step: PlanStep, workflow: Workflow, jsonSchemaOf: JsonSchemaOf): Read[] {
  const compared = { ...OPERAND, needs: 'its condition compares it' };
  const inCondition = step.when === undefined ? [] : readsIn(step.when, compared);
  switch (step.kind) {
    case 'agent':
      return [...inCondition, ...readsOfInput(step, workflow, jsonSchemaOf)];
    case 'child':
      return [
        ...inCondition,
        ...readsOfInput(step, workflow, jsonSchemaOf),
        ...(step.rounds === undefined ? [] : readsIn(step.rounds.until, IN_UNTIL)),
        ...readsIn(step.rounds?.first?.within ?? null, { ...OPERAND, needs: 'it waits that long' }),
        ...readsIn(step.rounds?.message?.within ?? null, { ...OPERAND, needs: 'it waits that long' }),
      ];
    case 'map':
      return [
        ...inCondition,
        ...readsIn(step.over, { ...OPERAND, needs: 'its list is made of it' }),
        ...readsOfInput(step.each, workflow, jsonSchemaOf),
      ];
    case 'wait':
      return [
        ...inCondition,
        ...readsIn(step.for ?? null, { ...OPERAND, needs: 'it waits that long' }),
        ...readsIn(step.until ?? null, { ...OPERAND, needs: 'it waits until then' }),
      ];
    case 'lane':
      return [...inCondition, ...readsIn(step.by, { ...OPERAND, needs: 'it is the key of its lane' })];
    case 'receive':
      return inCondition;
    default:
      // An approval leaves out values that are absent.
      return step.show === undefined ? inCondition : [...inCondition, ...readsIn(step.show, ANYTHING)];
  }
}

/** The input of an agent or a workflow, and the inputs that its recovery tries instead. */
const readsOfInput = (step: AgentStep | ChildStep, workflow: Workflow, jsonSchemaOf: JsonSchemaOf): Read[] =>
  inputsOf(workflow, step).flatMap(({ given, to, schema }) => {
    const known = documentOf(schema, 'input', jsonSchemaOf);
    const takesNothing = takesNull(known);
    return readsIn(given, { known, needs: `${to} needs`, field: '', takesNothing, isInput: true });
  });

const ANYTHING: Place = { needs: '', field: '', known: undefined, takesNothing: true };
const OPERAND: Place = {
  needs: 'it is part of an expression',
  field: '',
  known: undefined,
  takesNothing: false,
};

const IN_UNTIL: Place = { ...OPERAND, needs: "its 'until' compares it", isUntil: true };

/** Returns the references in an expression whose value is used, each with its place. */
function readsIn(expr: Expr, place: Place): Read[] {
  if (Array.isArray(expr))
    return expr.flatMap((item, index) => readsIn(item as Expr, itemPlace(place, index)));
  if (!isJsonObject(expr)) return [];
  const operator = Object.keys(expr).find((key) => key.startsWith('$'));
  const within = {
    ...OPERAND,
    needs: place.takesNothing || place.field !== '' ? OPERAND.needs : place.needs,
    ...(place.isUntil === true ? { isUntil: true as const } : {}),
  };
  switch (operator) {
    case undefined:
      return Object.entries(expr).flatMap(([key, value]) => readsIn(value, fieldPlace(place, key)));
    case '$literal':
      return [];
    case '$object':
      return (expr['$object'] as [string, Expr][]).flatMap(([key, value]) =>
        readsIn(value, fieldPlace(place, key)),
      );
    case '$ref':
      return [{ ...referenceOf(expr), place }];
    case '$exists':
      return readsBehind(expr['$exists'] as Expr, within);
    case '$orElse': {
      const [value = null, instead = null] = expr['$orElse'] as Expr[];
      return [...readsBehind(value, within), ...readsIn(instead, place)];
    }
    default:
      return readsOfOperands(expr[operator] as Expr, within);
  }
}

const readsOfOperands = (operands: Expr, place: Place): Read[] =>
  (Array.isArray(operands) ? operands : [operands]).flatMap((operand) => readsIn(operand as Expr, place));

/**
 * Like `readsIn`, but accepts a reference or its replacement itself, because the expression tests whether it
 * is absent.
 */
function readsBehind(expr: Expr, place: Place): Read[] {
  const pair = isJsonObject(expr) ? expr['$orElse'] : undefined;
  if (Array.isArray(pair)) return (pair as Expr[]).flatMap((one) => readsBehind(one, place));
  return isJsonObject(expr) && Object.hasOwn(expr, '$ref') ? [] : readsIn(expr, place);
}

const referenceOf = (expr: JsonObject): Reference => ({
  source: String(expr['$ref']),
  path: Array.isArray(expr['path']) ? (expr['path'] as string[]) : [],
});

/**
 * Returns the place of a field. An absent field is left out, which is accepted if the schema does not require
 * it.
 */
function fieldPlace(place: Place, key: string): Place {
  const step = place.known === undefined ? undefined : into(place.known, key);
  const field = fieldText(place.field, [key]);
  if (step === undefined || 'names' in step) return { ...place, known: undefined, takesNothing: true, field };
  return { ...place, field, known: step.known, takesNothing: step.mayBeAbsent };
}

/** Returns the place of an item. An absent item of a list becomes null. */
function itemPlace(place: Place, index: number): Place {
  const step = place.known === undefined ? undefined : into(place.known, String(index));
  const known = step !== undefined && 'known' in step ? step.known : undefined;
  return { ...place, known, field: fieldText(place.field, [String(index)]), takesNothing: takesNull(known) };
}

function takesNull(known: Known | undefined): boolean {
  if (known === undefined || 'fields' in known) return true;
  const branches = branchesOf(known);
  if (branches !== undefined) return branches.some(takesNull);
  const schema = resolved(known);
  return typeof schema['type'] !== 'string' || schema['type'] === 'null';
}

/**
 * Returns the values that a step's condition guarantees: `exists(…)`, also as one of several that must all
 * be true.
 */
const promisedBy = (step: PlanStep, plan: Plan): Reference[] =>
  impliedBy(step.when, plan).flatMap((condition) => {
    const asked = isJsonObject(condition) ? (condition['$exists'] as Expr | undefined) : undefined;
    return isJsonObject(asked) && Object.hasOwn(asked, '$ref') ? [referenceOf(asked)] : [];
  });

/**
 * Returns the values that exist whenever another round follows: if `until` contains `not(exists(…))` and is
 * false.
 */
function promisedByUntil(step: PlanStep): Reference[] {
  const denied = (condition: Expr | undefined): Reference[] => {
    if (!isJsonObject(condition)) return [];
    if (Array.isArray(condition['$or'])) return (condition['$or'] as Expr[]).flatMap(denied);
    const inner = condition['$not'] as Expr | undefined;
    const asked = isJsonObject(inner) ? (inner['$exists'] as Expr | undefined) : undefined;
    return isJsonObject(asked) && Object.hasOwn(asked, '$ref') ? [referenceOf(asked)] : [];
  };
  return step.kind === 'child' ? denied(step.rounds?.until) : [];
}

/** The part of a value that may be absent and that no condition guarantees. */
interface Absent {
  readonly part: readonly string[];
  /** True if the reference leads to that part, and not beyond it. */
  readonly isWithin: boolean;
}

function absentIn(
  from: Known | undefined,
  { source, path, place }: Read,
  promised: readonly Reference[],
): Absent | undefined {
  const isPromised = (part: readonly string[]): boolean =>
    promised.some((other) => other.source === source && part.every((one, at) => other.path[at] === one));
  let known = from;
  for (const [at, key] of path.entries()) {
    if (known === undefined) return undefined;
    const step = into(known, key);
    if ('names' in step) return undefined;
    const part = path.slice(0, at + 1);
    if (step.mayBeAbsent && !isPromised(part))
      return place.takesNothing ? undefined : { part, isWithin: false };
    known = step.known;
  }
  const part = lackingIn(known, place.known, path, isPromised);
  return part === undefined ? undefined : { part, isWithin: true };
}

/** The deepest level that is checked, because schemas may contain themselves. */
const DEEPEST = 8;

/** Returns the path of a part that the place needs and the given object may lack. */
function lackingIn(
  from: Known | undefined,
  to: Known | undefined,
  path: readonly string[],
  isPromised: (part: readonly string[]) => boolean,
): readonly string[] | undefined {
  if (from === undefined || to === undefined || path.length > DEEPEST) return undefined;
  const inner = withoutNull(to);
  // Null is accepted where it is allowed; any other value must be complete.
  if (inner !== undefined) return lackingIn(withoutNull(from) ?? from, inner, path, isPromised);
  const target = resolved(to);
  const isList = target['type'] === 'array';
  const { properties, required } = target;
  const keys = isList
    ? ['0']
    : target['type'] === 'object' && isJsonObject(properties)
      ? Object.keys(properties)
      : [];
  for (const key of keys) {
    const [given, wanted] = [into(from, key), into(to, key)];
    if ('names' in given || 'names' in wanted) continue;
    const part = [...path, key];
    const isNeeded = !isList && (required as Json[] | undefined)?.includes(key) === true;
    if (isNeeded && given.mayBeAbsent && !isPromised(part)) return part;
    const deeper = lackingIn(given.known, wanted.known, part, isPromised);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}

/**
 * Returns the other type of a value that may be null; undefined if it may not be null, or may have several
 * types.
 */
function withoutNull(known: Known): Known | undefined {
  const branches = branchesOf(known);
  const [only, another] = branches?.filter((one) => resolved(one)['type'] !== 'null') ?? [];
  return another === undefined ? only : undefined;
}

function wordsFor({ source, path, place }: Read, { part, isWithin }: Absent, when?: Expr): string {
  const [read, missing] = [nameOf(source, path), nameOf(source, part)];
  const field = fieldText(place.field, isWithin ? part.slice(path.length) : []).replace(/^\./, '');
  const which =
    read === missing ? 'which may be absent' : `${isWithin ? 'of which' : 'and'} ${missing} may be absent`;
  const needs = place.isInput === true ? `${place.needs} ${field === '' ? 'an input' : field}` : place.needs;
  const instead = isWithin
    ? `give its fields one by one, with orElse(${missing}, …)`
    : `write orElse(${read}, …)`;
  const ifThere = `, or required(${read}) and '${whenText(`exists(${missing})`, when)}' on the step`;
  const ifLast = `, or required(${read}) and 'until: not(exists(${missing}))', beside others in or(…)`;
  const target = field === '' ? '' : `, or make ${field} optional there`;
  // The condition belongs to the whole step, so it cannot ask about an item.
  const asked = source === 'item' || source === 'given' ? '' : source === 'last' ? ifLast : ifThere;
  return `it reads ${read}, ${which}, and ${needs}: ${instead}${asked}${target}`;
}
