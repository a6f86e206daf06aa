/**
 * IAM's decision within one account: explicit deny, then identity and resource policies, then the boundary.
 * Pure. Does not own: finding the policies (stack-policies.ts), reporting a refusal (access.ts).
 *
 * Invariants
 * - I1 a request is allowed only by a statement, and an explicit deny overrides every allow.
 * - I2 a matching statement with an unknown part refuses the request; the error names both.
 */
import { conditionsHold } from './conditions.ts';
import { actionFits, arnFits, type Context, UnknownPolicy } from './match.ts';
import { type Fit, type Principal, principalFits } from './principals.ts';
import type { Statement } from './statement.ts';

export interface Request {
  readonly principal: Principal;
  /** `service:Action`. */
  readonly action: string;
  /** An ARN, or `*` for an action without a resource. */
  readonly resource: string;
  readonly context: Context;
}

/** The policies that apply to a request. */
export interface Policies {
  readonly identity: readonly Statement[];
  readonly resource: readonly Statement[];
  readonly boundary: readonly Statement[] | undefined;
}

/** An action and a resource as a statement writes them. */
export interface Grant {
  readonly place: string;
  readonly action: string;
  readonly resource: string;
}

export type Verdict =
  | { readonly allowed: true; readonly grants: readonly Grant[] }
  /** The reason in AWS's words, as the end of "is not authorized to perform … on resource …". */
  | { readonly allowed: false; readonly because: string };

type Matched = readonly { readonly statement: Statement; readonly fit: Fit }[];

export function evaluate(request: Request, policies: Policies): Verdict {
  try {
    return decide(request, policies);
  } catch (error) {
    if (!(error instanceof UnknownPolicy)) throw error;
    return { allowed: false, because: `because it cannot be checked here: ${error.message}` };
  }
}

function decide(request: Request, policies: Policies): Verdict {
  const identity = matching(policies.identity, request);
  const resource = matching(policies.resource, request);
  const boundary = policies.boundary === undefined ? undefined : matching(policies.boundary, request);
  for (const [kind, matched] of [
    ['an identity-based policy', identity],
    ['a resource-based policy', resource],
    ['a permissions boundary', boundary ?? []],
  ] as const) {
    if (matched.some(({ statement }) => statement.effect === 'Deny')) {
      return { allowed: false, because: `with an explicit deny in ${kind}` };
    }
  }
  const allowing = [...identity, ...resource.filter(({ fit }) => fit === 'direct')];
  const none = (kind: string): Verdict => ({
    allowed: false,
    because: `because no ${kind} allows the ${request.action} action`,
  });
  if (allowing.length === 0) {
    return none(request.principal.kind === 'service' ? 'resource-based policy' : 'identity-based policy');
  }
  if (boundary?.length === 0) return none('permissions boundary');
  return { allowed: true, grants: allowing.flatMap(({ statement }) => grantsFor(statement, request)) };
}

function matching(statements: readonly Statement[], request: Request): Matched {
  return statements.flatMap((statement) => {
    try {
      const fit = fitOf(statement, request);
      return fit === 'no' ? [] : [{ statement, fit }];
    } catch (error) {
      if (!(error instanceof UnknownPolicy)) throw error;
      throw new UnknownPolicy(`${error.message} (${statement.place})`);
    }
  });
}

/** How a statement fits. An unknown part counts only if all other parts fit. */
function fitOf(statement: Statement, request: Request): Fit {
  const { principals, conditions } = statement;
  if (!actionMatches(statement, request) || !resourceMatches(statement, request)) return 'no';
  const fit = principals === undefined ? 'direct' : principalFits(principals, request.principal);
  return fit !== 'no' && conditionsHold(conditions, request.context) ? fit : 'no';
}

const actionMatches = ({ actions }: Statement, { action }: Request): boolean =>
  actions.values.some((pattern) => actionFits(pattern, action)) !== actions.not;

const resourceMatches = ({ resources }: Statement, { resource, context }: Request): boolean =>
  resources.values.some((pattern) => arnFits(pattern, resource, context)) !== resources.not;

/** The pairs of a matching statement that the request used. */
function grantsFor(statement: Statement, request: Request): Grant[] {
  const { actions, resources } = statement;
  return grantsOf(statement).filter(
    (grant) =>
      (actions.not || actionFits(grant.action, request.action)) &&
      (resources.not || arnFits(grant.resource, request.resource, request.context)),
  );
}

/** All that a statement allows (or denies), one line for each action and resource. */
export function grantsOf({ place, actions, resources }: Statement): Grant[] {
  const names = ({ not, values }: Statement['actions']): readonly string[] =>
    not ? [`all but ${values.join(', ')}`] : values;
  return names(actions).flatMap((action) =>
    names(resources).map((resource) => ({ place, action, resource })),
  );
}
