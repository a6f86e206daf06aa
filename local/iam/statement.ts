/**
 * Reads a policy document into typed statements. Pure. Does not own: where documents are found
 * (stack-policies.ts), what a statement decides (evaluate.ts).
 *
 * Invariants
 * - I1 an invalid statement is refused with its place, never ignored.
 */
import { isRecord, type Json, TemplateError } from '../template/json.ts';
import { type Condition, readConditions } from './conditions.ts';
import { type PrincipalElement, readPrincipals } from './principals.ts';

/** `Action` or `NotAction`, `Resource` or `NotResource`. */
export interface Patterns {
  /** Whether it means everything except the values. */
  readonly not: boolean;
  readonly values: readonly string[];
}

export interface Statement {
  /** The policy's logical id and the statement's number in it, for people. */
  readonly place: string;
  readonly effect: 'Allow' | 'Deny';
  readonly actions: Patterns;
  readonly resources: Patterns;
  /** Only resource policies have it. */
  readonly principals: PrincipalElement | undefined;
  readonly conditions: readonly Condition[];
}

/**
 * The statements of a document.
 * @param place its place in the template, such as `LogicalId.Properties.PolicyDocument`
 * @param ownResource the resource of a statement without `Resource` (trust policies have none)
 * @throws TemplateError
 */
export function readStatements(document: Json | undefined, place: string, ownResource?: string): Statement[] {
  if (!isRecord(document)) throw new TemplateError(place, 'a policy document was expected');
  return [document['Statement'] ?? []]
    .flat()
    .map((statement, at) => readStatement(statement, `${place}.Statement[${at}]`, ownResource));
}

/** One statement. @throws TemplateError */
export function readStatement(statement: Json, place: string, ownResource?: string): Statement {
  if (!isRecord(statement)) throw new TemplateError(place, 'a policy statement was expected');
  const effect = statement['Effect'];
  if (effect !== 'Allow' && effect !== 'Deny') {
    throw new TemplateError(`${place}.Effect`, `Allow or Deny was expected, got ${JSON.stringify(effect)}`);
  }
  return {
    place,
    effect,
    actions: patterns(statement, 'Action', place),
    resources: patterns(statement, 'Resource', place, ownResource),
    principals: readPrincipals(statement),
    conditions: readConditions(statement['Condition']),
  };
}

function patterns(statement: Record<string, Json>, name: string, place: string, fallback?: string): Patterns {
  const not = statement[`Not${name}`];
  const given = statement[name] ?? not ?? fallback;
  const values = [given ?? []].flat();
  if (given === undefined || !values.every((value) => typeof value === 'string')) {
    throw new TemplateError(place, `${name} or Not${name} with texts was expected`);
  }
  return { not: statement[name] === undefined && not !== undefined, values };
}
