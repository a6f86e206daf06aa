/**
 * Evaluates a statement's `Condition`: operators, set operators, known condition keys. Pure. Does not own:
 * the values of the keys (actions.ts, access.ts).
 *
 * Invariants
 * - I1 an unknown operator or key throws `UnknownPolicy`, so it never allows a request.
 */
import { isRecord, type Json } from '../template/json.ts';
import { arnFits, type Context, expanded, fits, UnknownPolicy } from './match.ts';

/** One key under one operator. */
export interface Condition {
  /** The operator as written: `ForAnyValue:StringLikeIfExists`. */
  readonly operator: string;
  readonly key: string;
  readonly values: readonly string[];
}

/** The supported keys, in lower case: requests here have them when AWS's would. All others are refused. */
export const KNOWN_KEYS: ReadonlySet<string> = new Set([
  'aws:principalaccount',
  'aws:principalarn',
  'aws:principalisawsservice',
  'aws:requestedregion',
  'aws:securetransport',
  'aws:sourceaccount',
  'aws:sourcearn',
  'dynamodb:enclosingoperation',
  'dynamodb:leadingkeys',
  'dynamodb:select',
  'lambda:functionurlauthtype',
  'lambda:invokedviafunctionurl',
]);

type Test = (wanted: string, value: string, context: Context) => boolean;
interface Operator {
  readonly test: Test;
  /** For operators with `Not`: true if no listed value fits, or if the key is absent. */
  readonly negated: boolean;
}

const same: Test = (wanted, value, context) => expanded(wanted, context) === value;
const sameIgnoringCase: Test = (wanted, value, context) =>
  expanded(wanted, context).toLowerCase() === value.toLowerCase();
const like: Test = (wanted, value, context) => fits(wanted, value, context);
const arn: Test = (wanted, value, context) => arnFits(wanted, value, context);

const TESTS: Readonly<Record<string, Operator>> = {
  StringEquals: { test: same, negated: false },
  StringNotEquals: { test: same, negated: true },
  StringEqualsIgnoreCase: { test: sameIgnoringCase, negated: false },
  StringNotEqualsIgnoreCase: { test: sameIgnoringCase, negated: true },
  StringLike: { test: like, negated: false },
  StringNotLike: { test: like, negated: true },
  ArnEquals: { test: arn, negated: false },
  ArnLike: { test: arn, negated: false },
  ArnNotEquals: { test: arn, negated: true },
  ArnNotLike: { test: arn, negated: true },
  Bool: { test: sameIgnoringCase, negated: false },
};

/** Reads a statement's `Condition`. An unknown part is refused only when it is evaluated. */
export function readConditions(condition: Json | undefined): Condition[] {
  if (!isRecord(condition)) return [];
  return Object.entries(condition).flatMap(([operator, keys]) =>
    Object.entries(isRecord(keys) ? keys : {}).map(([key, values]) => ({
      operator,
      key,
      values: [values].flat().map(String),
    })),
  );
}

/** Whether all conditions hold. @throws UnknownPolicy */
export const conditionsHold = (conditions: readonly Condition[], context: Context): boolean =>
  conditions.every((condition) => holds(condition, context));

function holds({ operator, key, values }: Condition, context: Context): boolean {
  const name = key.toLowerCase();
  if (!KNOWN_KEYS.has(name)) throw new UnknownPolicy(`the condition key ${key} is not known here`);
  const given = context[name];
  if (operator === 'Null') return values.includes(String(given === undefined));
  const [, set, plain = '', ifExists] =
    /^(?:(ForAllValues|ForAnyValue):)?(\w+?)(IfExists)?$/.exec(operator) ?? [];
  const known = TESTS[plain];
  if (known === undefined) throw new UnknownPolicy(`the condition operator ${operator} is not known here`);
  if (given === undefined) {
    return ifExists !== undefined || set === 'ForAllValues' || (set === undefined && known.negated);
  }
  const one = (value: string): boolean =>
    values.some((wanted) => known.test(wanted, value, context)) !== known.negated;
  return set === 'ForAnyValue' ? given.some(one) : given.every(one);
}
