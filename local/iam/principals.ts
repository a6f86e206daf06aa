/** Decides whether a statement's `Principal` includes a caller. Pure. */
import { isRecord, type Json } from '../template/json.ts';
import { UnknownPolicy } from './match.ts';

/** A caller. */
export type Principal =
  | {
      readonly kind: 'role';
      readonly accountId: string;
      readonly roleArn: string;
      /**
       * `arn:aws:sts::<account>:assumed-role/<role>/<session>`; the session of a function has the function's
       * name.
       */
      readonly sessionArn: string;
    }
  | { readonly kind: 'service'; readonly name: string };

/** A statement's `Principal`. */
export interface PrincipalElement {
  readonly aws: readonly string[];
  readonly services: readonly string[];
  /** An unsupported kind: `NotPrincipal`, `Federated`, … … */
  readonly unknown: string | undefined;
}

/**
 * How a statement's principal fits. `direct`: it names the caller or everyone. `account`: it names the
 * account, so an allow also needs an identity policy, but a deny applies to all its callers.
 */
export type Fit = 'direct' | 'account' | 'no';

export function readPrincipals(statement: Record<string, Json>): PrincipalElement | undefined {
  const value = statement['Principal'];
  if (value === undefined) {
    return statement['NotPrincipal'] === undefined
      ? undefined
      : { aws: [], services: [], unknown: 'NotPrincipal' };
  }
  if (!isRecord(value)) return { aws: [value].flat().map(String), services: [], unknown: undefined };
  const texts = (name: string): string[] => [value[name] ?? []].flat().map(String);
  const unknown = Object.keys(value).find((kind) => kind !== 'AWS' && kind !== 'Service');
  return { aws: texts('AWS'), services: texts('Service'), unknown };
}

/** @throws UnknownPolicy */
export function principalFits(element: PrincipalElement, principal: Principal): Fit {
  // No caller here is a federated user or a canonical id, so of the unknown kinds only `NotPrincipal` could
  // include one.
  if (element.unknown === 'NotPrincipal') throw new UnknownPolicy('NotPrincipal is not known here');
  if (principal.kind === 'service') {
    return element.services.includes(principal.name) || element.aws.includes('*') ? 'direct' : 'no';
  }
  const { accountId, roleArn, sessionArn } = principal;
  if (element.aws.some((each) => each === '*' || each === roleArn || each === sessionArn)) return 'direct';
  const account = [accountId, `arn:aws:iam::${accountId}:root`];
  return element.aws.some((each) => account.includes(each)) ? 'account' : 'no';
}

/** The caller's name as in AWS's refusals. */
export const nameOf = (principal: Principal): string =>
  principal.kind === 'role' ? principal.sessionArn : principal.name;
