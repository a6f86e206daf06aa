/**
 * IAM's wildcards: whether an action or an ARN fits a pattern, and policy variables (`${aws:…}`) in patterns.
 * Pure.
 *
 * Invariants
 * - I1 a variable with an unknown value throws `UnknownPolicy`, because it is neither a match nor a
 *   mismatch.
 */

/** Values of the request's condition keys, by name in lower case. */
export type Context = Readonly<Record<string, readonly string[]>>;

/** Thrown for a part of a policy that this evaluator does not know; the caller must refuse. */
export class UnknownPolicy extends Error {
  readonly code = 'unknown-policy';
}

/** Whether an action fits `service:Action`, where letter case does not matter; `*` fits every action. */
export function actionFits(pattern: string, action: string): boolean {
  return pattern === '*' || fits(pattern.toLowerCase(), action.toLowerCase(), {});
}

const ARN_PARTS = 6;

/**
 * Compares part by part, as IAM does: a wildcard stays within its part of the ARN, the last part takes the
 * rest. Missing parts of a pattern are wildcards.
 */
export function arnFits(pattern: string, arn: string, context: Context): boolean {
  if (pattern === '*' || arn === '*') return pattern === '*';
  const wanted = parts(pattern);
  const given = parts(arn);
  return given.every((part, at) => fits(wanted[at] ?? '*', part, context));
}

/** Splits an ARN into five parts and the rest; a colon inside `${…}` does not split. */
function parts(arn: string): string[] {
  const all = arn.split(/:(?![^{]*\})/);
  return [...all.slice(0, ARN_PARTS - 1), ...restOf(all)];
}

const restOf = (all: readonly string[]): string[] =>
  all.length < ARN_PARTS ? [] : [all.slice(ARN_PARTS - 1).join(':')];

/** Whether a text fits a pattern: `*` is any characters, `?` one, `${key}` the key's value. */
export function fits(pattern: string, text: string, context: Context): boolean {
  return pattern === text || expressionOf(pattern, context).test(text);
}

function expressionOf(pattern: string, context: Context): RegExp {
  const pieces = pattern.split(/(\$\{[^}]*\}|\*|\?)/).map((piece) => {
    if (piece === '*') return '.*';
    if (piece === '?') return '.';
    return literal(piece.startsWith('${') ? variable(piece, context) : piece);
  });
  return new RegExp(`^${pieces.join('')}$`, 's');
}

/** A pattern's variables as text, for operators without wildcards. */
export function expanded(pattern: string, context: Context): string {
  return pattern.replace(/\$\{[^}]*\}/g, (piece) => variable(piece, context));
}

function variable(piece: string, context: Context): string {
  const name = piece.slice(2, -1);
  // The forms in which IAM escapes its special characters.
  if (name === '*' || name === '?' || name === '$') return name;
  const values = context[name.toLowerCase()];
  if (values?.length !== 1) throw new UnknownPolicy(`the policy variable ${piece} has no value here`);
  return values[0] ?? '';
}

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
