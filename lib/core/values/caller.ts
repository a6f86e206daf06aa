/**
 * Who made a call, according to the gateway in front of the API.
 *
 * Owns: the shape, its allowed contents, how it is written for people, and which callers are one person. Does
 * not own: reading a gateway's fields (`api/callers.ts`), which person may give which answer
 * (`records/people.ts`).
 *
 * No caller names itself. If it is unclear whether two callers are one person, they count as one. If that is
 * wrong, it costs little: another person has to answer. The opposite mistake would let a person approve their
 * own work.
 */

/** Who made a call or gave an answer: what the API's authorizer vouches for; on a laptop, what `as` says. */
export interface Caller {
  /**
   * `local`: on a laptop, where a name is not checked. `trigger`: a schedule, an event or a queue, not a
   * person.
   */
  readonly kind: 'iam' | 'jwt' | 'local' | 'trigger';
  /**
   * `iam`: the ARN. `jwt`: the issuer, a space and the subject. `trigger`: its name. `local`: what `--as`
   * says, or 'local'.
   */
  readonly name: string;
}

/**
 * The most characters of a caller's name: it is kept in records of a bounded size. An IAM user's ARN has up
 * to 613.
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
 */
export const MAX_CALLER_CHARS = 640;
/** Printable ASCII: a name is shown in terminals and logs. */
const CALLER_NAME = /^[\x20-\x7e]+$/;

/** True if the name may be part of a record. */
export const isCallerName = (name: string): boolean =>
  name.length <= MAX_CALLER_CHARS && CALLER_NAME.test(name);

/**
 * For people, and for steps that read who approved: `arn:…`, `jwt:issuer subject`,
 * `local:ann`, `trigger:nightly`.
 */
export function callerText({ kind, name }: Caller): string {
  if (kind === 'iam') return name;
  return kind === 'local' && name === LOCAL ? LOCAL : `${kind}:${name}`;
}

/** The name of a caller on a laptop who gives none. */
export const LOCAL = 'local';

const ROLE_SESSION = /^(arn:[a-z-]+:sts::\d+:assumed-role\/([^/]+))\/(.+)$/;
const USER = /^arn:[a-z-]+:iam::\d+:user\//;

/**
 * The person behind a caller, as text; undefined for a trigger, which is not a person.
 *
 * A role counts as one person, because its users choose their sessions' names, unless the deployment says
 * that IAM allows every person only their own name. All federated users of an account count as one person for
 * the same reason.
 * @param personalRoles names of the roles whose sessions are named after persons
 */
export function personOf(caller: Caller, personalRoles: ReadonlySet<string>): string | undefined {
  const { kind, name } = caller;
  if (kind === 'trigger') return undefined;
  if (kind !== 'iam' || USER.test(name)) return callerText(caller);
  const [, role = '', roleName = '', session = ''] = ROLE_SESSION.exec(name) ?? [];
  // Names that differ only in case may be two users to IAM, but a condition may allow one person both.
  if (role !== '') return personalRoles.has(roleName) ? `${role}/${session.toLowerCase()}` : role;
  return name.split('/', 1)[0];
}

const isSessionOf = (session: string, role: string): boolean =>
  role.includes(':assumed-role/') && session.startsWith(`${role}/`);

/**
 * True if both are one person. A role and one of its sessions also count as one: the stored name may be from
 * a time when the deployment did not yet treat sessions as persons.
 */
export const isSamePerson = (one: string, other: string): boolean =>
  one === other || isSessionOf(one, other) || isSessionOf(other, one);
