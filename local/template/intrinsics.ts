/**
 * Evaluates CloudFormation intrinsics (Ref, Fn::GetAtt, Fn::Sub, …) to plain values. Pure. Does not own:
 * the values of Refs and attributes (resource-types.ts, through `Scope`), reading files.
 *
 * Invariants
 * - I1 every value is fully resolved, or refused with an error that names the resource, the property and
 *   what is supported.
 */
import { isRecord, type Json, TemplateError } from './json.ts';

/** Facts about the stack around the value. */
export interface Scope {
  /** The value of `Ref: name` (parameter, pseudo parameter or resource), or undefined. */
  ref(name: string): Json | undefined;
  /** The value of `Fn::GetAtt: [logicalId, attribute]`; throws if the attribute is not known. */
  attribute(logicalId: string, attribute: string): Json;
  /** Whether the named condition of the template holds. */
  condition(name: string): boolean;
  /** The value of another stack's export; undefined if it may not be read. */
  imported(name: string): Json | undefined;
  /** `Mappings` of the template. */
  mapping(map: string, topKey: string, secondKey: string): Json | undefined;
  /** Rewrites a composed string: an API's AWS address becomes the local one. */
  rewrite(value: string): string;
}

/** `AWS::NoValue`: the property is left out. */
export const NO_VALUE = Symbol('AWS::NoValue');

type Value = Json | typeof NO_VALUE;
type Evaluate = (argument: Json, scope: Scope, path: string) => Value;

const SUPPORTED = [
  'Ref',
  'Fn::GetAtt',
  'Fn::Sub',
  'Fn::Join',
  'Fn::Select',
  'Fn::Split',
  'Fn::If',
  'Fn::FindInMap',
  'Fn::Base64',
  'Fn::GetAZs',
  'Fn::Equals',
  'Fn::And',
  'Fn::Or',
  'Fn::Not',
];

/**
 * Resolves a template value completely. `path` names it in errors, as `LogicalId.Properties.Name`.
 * @throws TemplateError when something in it cannot be known locally
 */
export function evaluate(value: Json, scope: Scope, path: string): Json {
  const result = evaluateValue(value, scope, path);
  return result === NO_VALUE ? null : result;
}

function evaluateValue(value: Json, scope: Scope, path: string): Value {
  if (typeof value === 'string') return scope.rewrite(value);
  if (Array.isArray(value)) {
    const items = value.map((item, index) => evaluateValue(item, scope, `${path}[${index}]`));
    return items.filter((item): item is Json => item !== NO_VALUE);
  }
  if (!isRecord(value)) return value;
  const keys = Object.keys(value);
  const only = keys.length === 1 ? keys[0] : undefined;
  if (only !== undefined && (only === 'Ref' || only === 'Condition' || only.startsWith('Fn::'))) {
    const argument = value[only] ?? null;
    // A policy statement may be `{Condition: {…}}`; only `{Condition: "Name"}` is the intrinsic.
    if (only !== 'Condition') return intrinsic(only)(argument, scope, path);
  }
  const result: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) {
    const resolved = evaluateValue(item, scope, `${path}.${key}`);
    if (resolved !== NO_VALUE) result[key] = resolved;
  }
  return result;
}

function intrinsic(name: string): Evaluate {
  const found = INTRINSICS[name];
  if (found !== undefined) return found;
  return (_argument, _scope, path) => {
    throw new TemplateError(
      path,
      `${name} cannot be resolved locally: supported are ${SUPPORTED.join(', ')}`,
    );
  };
}

const INTRINSICS: Readonly<Record<string, Evaluate>> = {
  Ref: (argument, scope, path) => {
    const name = text(argument, path, 'Ref');
    if (name === 'AWS::NoValue') return NO_VALUE;
    const value = scope.ref(name);
    if (value === undefined) {
      throw new TemplateError(
        path,
        `Ref "${name}" is no parameter, pseudo parameter or resource of this stack`,
      );
    }
    return value;
  },
  'Fn::GetAtt': (argument, scope, path) => {
    const parts = typeof argument === 'string' ? splitOnce(argument) : list(argument, path, 'Fn::GetAtt');
    const logicalId = text(parts[0] ?? null, path, 'Fn::GetAtt');
    const attribute = text(evaluate(parts[1] ?? null, scope, path), path, 'Fn::GetAtt');
    try {
      return scope.attribute(logicalId, attribute);
    } catch (error) {
      if (error instanceof TemplateError && error.path === '') throw new TemplateError(path, error.reason);
      throw error;
    }
  },
  'Fn::Sub': (argument, scope, path) => {
    const [template, variables] = Array.isArray(argument) ? argument : [argument, {}];
    const locals = isRecord(variables ?? {}) ? (variables as Record<string, Json>) : {};
    const pattern = /\$\{(!?)([^}]+)\}/g;
    const result = text(template ?? null, path, 'Fn::Sub').replace(
      pattern,
      (_all, escaped: string, name: string) => {
        if (escaped === '!') return `\${${name}}`;
        const key = name.trim();
        if (Object.hasOwn(locals, key)) return asText(evaluate(locals[key] ?? null, scope, path), path);
        const reference: Json =
          key.includes('.') && !key.startsWith('AWS::') ? { 'Fn::GetAtt': key } : { Ref: key };
        return asText(evaluate(reference, scope, path), path);
      },
    );
    return scope.rewrite(result);
  },
  'Fn::Join': (argument, scope, path) => {
    const [delimiter, items] = list(argument, path, 'Fn::Join');
    const values = list(evaluate(items ?? null, scope, path), path, 'Fn::Join');
    const joined = values.map((item) => asText(item, path)).join(text(delimiter ?? null, path, 'Fn::Join'));
    return scope.rewrite(joined);
  },
  'Fn::Select': (argument, scope, path) => {
    const [index, items] = list(argument, path, 'Fn::Select');
    const values = list(evaluate(items ?? null, scope, path), path, 'Fn::Select');
    const position = Number(evaluate(index ?? null, scope, path));
    const chosen = values[position];
    if (chosen === undefined) {
      throw new TemplateError(path, `Fn::Select asks for item ${position} of a list of ${values.length}`);
    }
    return chosen;
  },
  'Fn::Split': (argument, scope, path) => {
    const [delimiter, source] = list(argument, path, 'Fn::Split');
    const whole = asText(evaluate(source ?? null, scope, path), path);
    return whole.split(text(delimiter ?? null, path, 'Fn::Split'));
  },
  'Fn::If': (argument, scope, path) => {
    const [name, whenTrue, whenFalse] = list(argument, path, 'Fn::If');
    const chosen = scope.condition(text(name ?? null, path, 'Fn::If')) ? whenTrue : whenFalse;
    return evaluateValue(chosen ?? null, scope, path);
  },
  'Fn::FindInMap': (argument, scope, path) => {
    const keys = list(evaluate(argument, scope, path), path, 'Fn::FindInMap').map((key) => asText(key, path));
    const [map = '', topKey = '', secondKey = ''] = keys;
    const value = scope.mapping(map, topKey, secondKey);
    if (value === undefined) {
      throw new TemplateError(path, `Fn::FindInMap: no value at Mappings.${map}.${topKey}.${secondKey}`);
    }
    return value;
  },
  'Fn::ImportValue': (argument, scope, path) => {
    const value = scope.imported(asText(evaluate(argument, scope, path), path));
    if (value !== undefined) return value;
    const why = 'it reads an export of another stack, and only one stack runs locally';
    throw new TemplateError(path, `Fn::ImportValue cannot be resolved locally: ${why}`);
  },
  'Fn::Base64': (argument, scope, path) =>
    Buffer.from(asText(evaluate(argument, scope, path), path)).toString('base64'),
  'Fn::GetAZs': (_argument, scope) =>
    ['a', 'b', 'c'].map((zone) => `${String(scope.ref('AWS::Region'))}${zone}`),
  'Fn::Equals': (argument, scope, path) => {
    const [left, right] = list(evaluate(argument, scope, path), path, 'Fn::Equals');
    return JSON.stringify(left) === JSON.stringify(right);
  },
  'Fn::And': (argument, scope, path) =>
    list(argument, path, 'Fn::And').every((item) => holds(item, scope, path)),
  'Fn::Or': (argument, scope, path) =>
    list(argument, path, 'Fn::Or').some((item) => holds(item, scope, path)),
  'Fn::Not': (argument, scope, path) => !holds(list(argument, path, 'Fn::Not')[0] ?? null, scope, path),
};

/** Whether a condition expression holds: `{Condition: name}` or one of the condition functions. */
export function holds(expression: Json, scope: Scope, path: string): boolean {
  if (isRecord(expression) && typeof expression['Condition'] === 'string') {
    return scope.condition(expression['Condition']);
  }
  const value = evaluate(expression, scope, path);
  return value === true || value === 'true';
}

function splitOnce(dotted: string): string[] {
  const dot = dotted.indexOf('.');
  return dot < 0 ? [dotted, ''] : [dotted.slice(0, dot), dotted.slice(dot + 1)];
}

function list(value: Json, path: string, name: string): Json[] {
  if (Array.isArray(value)) return value;
  throw new TemplateError(path, `${name} needs a list, got ${JSON.stringify(value)}`);
}

function text(value: Json, path: string, name: string): string {
  if (typeof value === 'string') return value;
  throw new TemplateError(path, `${name} needs a string, got ${JSON.stringify(value)}`);
}

function asText(value: Json, path: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new TemplateError(path, `a string was expected, got ${JSON.stringify(value)}`);
}
