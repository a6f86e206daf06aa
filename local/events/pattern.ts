/**
 * EventBridge's pattern matching: which events a rule matches. Pure.
 *
 * Supported: exact values, prefix, suffix, equals-ignore-case, anything-but (values, prefix, suffix),
 * numeric, exists, wildcard, $or.
 */
import { isRecord, type Json } from '../template/json.ts';

/** Whether an event matches a pattern: every named field must match one of its alternatives. */
export function matchesPattern(pattern: Readonly<Record<string, Json>>, event: Json | undefined): boolean {
  return Object.entries(pattern).every(([field, expected]) => {
    if (field === '$or' && Array.isArray(expected)) {
      return expected.some((alternative) => isRecord(alternative) && matchesPattern(alternative, event));
    }
    const actual = isRecord(event) ? event[field] : undefined;
    if (isRecord(expected)) {
      const items = Array.isArray(actual) ? actual : [actual];
      return items.some((item) => matchesPattern(expected, item));
    }
    return Array.isArray(expected) && matchesAny(expected, actual);
  });
}

function matchesAny(alternatives: readonly Json[], actual: Json | undefined): boolean {
  const values = Array.isArray(actual) ? actual : [actual];
  return alternatives.some((alternative) => values.some((value) => matchesOne(alternative, value)));
}

function matchesOne(alternative: Json, value: Json | undefined): boolean {
  if (!isRecord(alternative)) return value === alternative;
  return Object.entries(alternative).every(
    ([operator, argument]) => OPERATORS[operator]?.(argument, value) === true,
  );
}

type Operator = (argument: Json, value: Json | undefined) => boolean;

const OPERATORS: Readonly<Record<string, Operator>> = {
  exists: (argument, value) => (value !== undefined) === (argument === true),
  prefix: (argument, value) => typeof value === 'string' && value.startsWith(String(argument)),
  suffix: (argument, value) => typeof value === 'string' && value.endsWith(String(argument)),
  'equals-ignore-case': (argument, value) =>
    typeof value === 'string' && value.toLowerCase() === String(argument).toLowerCase(),
  wildcard: (argument, value) => typeof value === 'string' && wildcardOf(String(argument)).test(value),
  'anything-but': (argument, value) => {
    if (value === undefined) return false;
    const excluded = Array.isArray(argument) ? argument : [argument];
    return !excluded.some((each) => matchesOne(each, value));
  },
  numeric: (argument, value) => {
    if (!Array.isArray(argument) || typeof value !== 'number') return false;
    for (let index = 0; index + 1 < argument.length; index += 2) {
      const limit = Number(argument[index + 1]);
      if (!(COMPARISONS[String(argument[index])]?.(value, limit) ?? false)) return false;
    }
    return true;
  },
};

const COMPARISONS: Readonly<Record<string, (left: number, right: number) => boolean>> = {
  '=': (left, right) => left === right,
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
};

function wildcardOf(pattern: string): RegExp {
  // A backslash escapes a star or a backslash.
  const source = pattern.replace(/\\([*\\])|[.*+?^${}()|[\]\\]/g, (found, quoted: string | undefined) =>
    quoted === undefined && found === '*' ? '.*' : `\\${quoted ?? found}`,
  );
  return new RegExp(`^${source}$`, 's');
}
