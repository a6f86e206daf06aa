/**
 * Who made a call, as the gateway in front of the API vouches for it.
 *
 * Owns: the shape, its allowed contents, how it is written for people, and which callers are one person. Does
 * not own: what a gateway says (`api/callers.ts`), who may answer what (`records/people.ts`).
 *
 * No name is taken from a caller itself. If it is unclear whether two callers are one person, they count as
 * one. Mistaking two people for one only makes somebody else answer; mistaking one for two lets a person
 * approve their own work.
 */

export interface Caller {
  /**
   * `local`: on a laptop, where a name is not checked. `trigger`: no person, but a schedule, an event or a
   * queue.
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

/** Whether it may become a part of a record. */
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
 * The person behind a caller, as text; nothing for a trigger, which is not a person.
 *
 * A role counts as one person, because its users choose their sessions' names, unless the deployment says
 * that IAM lets every person use only their own name. All federated users of an account also count as one
 * person, because their names are chosen likewise.
 * @param personalRoles names of the roles whose sessions are named after persons
 */
export function personOf(caller: Caller, personalRoles: ReadonlySet<string>): string | undefined {
  const { kind, name } = caller;
  if (kind === 'trigger') return undefined;
  if (kind !== 'iam' || USER.test(name)) return callerText(caller);
  const [, role = '', roleName = '', session = ''] = ROLE_SESSION.exec(name) ?? [];
  // Names that differ only in case may be two users to IAM, but a condition may have let one person use both.
  if (role !== '') return personalRoles.has(roleName) ? `${role}/${session.toLowerCase()}` : role;
  return name.split('/', 1)[0];
}

const isSessionOf = (session: string, role: string): boolean =>
  role.includes(':assumed-role/') && session.startsWith(`${role}/`);

/**
 * Also true for a role and one of its sessions: recorded before a deployment said that sessions are persons.
 */
export const isSamePerson = (one: string, other: string): boolean =>
  one === other || isSessionOf(one, other) || isSessionOf(other, one);
