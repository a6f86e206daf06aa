/**
 * Says where an agent in another language runs: a Lambda function, an address, or a command in the container.
 *
 * Owns: the forms of a target, and the checks of them. Does not own: the content of a call (`contract.ts`).
 */

import type { AgentSpec } from '../core/plan/agent.ts';
import { refuse } from '../core/values/errors.ts';

/** A text in an environment variable of the agent's function or container. */
export interface FromEnvironment {
  readonly env: string;
}

/** A function in another language. */
export interface LambdaTarget {
  /** The function that `agentSettings[…].remoteFunction` names at synthesis. */
  readonly lambda: true;
}

/** A program that answers HTTP. */
export interface UrlTarget {
  /**
   * `https:`; also `http:` if the request carries neither a secret nor a signature, or stays on this machine.
   */
  readonly url: string | FromEnvironment;
  /**
   * A header whose value is in an environment variable, such as `{ header: 'authorization', env:
   * 'PARCELS_TOKEN' }`.
   * @default - none
   */
  readonly secret?: { readonly header: string; readonly env: string };
  /**
   * Signs each request for AWS (Signature Version 4) with the agent's own role: 'lambda' for a function's
   * URL, 'execute-api' for API Gateway.
   * @default - unsigned
   */
  readonly sign?: 'lambda' | 'execute-api';
}

/** A program that is started for each call. */
export interface CommandTarget {
  /** A program and its arguments; each call starts a new process. Only for an agent in a container. */
  readonly command: readonly string[];
  /**
   * The folder in which the program is started; write `import.meta.dirname`, the folder of the agent's file.
   * In the image, that folder has the code and, beside it, the agent's own folder (`agents/<agent>/`).
   * @default - the working directory
   */
  readonly folder?: string;
}

/** The second argument of `remoteAgent`: the Lambda function, address or command that does the work. */
export type RemoteTarget = LambdaTarget | UrlTarget | CommandTarget;
/** How the program of a `remoteAgent` is reached: a Lambda function, an HTTP address, or a command. */
export type RemoteKind = 'lambda' | 'url' | 'command';

const FIELDS: Readonly<Record<RemoteKind, readonly string[]>> = {
  lambda: [],
  url: ['secret', 'sign'],
  command: ['folder'],
};
const KINDS = Object.keys(FIELDS) as readonly RemoteKind[];

/** Checks a target. @throws SteadfastError `bad-agent`, with the mistake and the allowed forms */
export function checkedKind(spec: AgentSpec, target: RemoteTarget): RemoteKind {
  const refused = (what: string): Error => refuse('bad-agent', `remote agent '${spec.name}': ${what}`);
  const given = Object.keys(Object(target));
  const kinds = KINDS.filter((each) => given.includes(each));
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1)
    throw refused(
      `it has ${kinds.length === 0 ? 'no target' : kinds.join(' and ')}; allowed: one of { lambda: true }, { url } and { command }`,
    );
  const stranger = given.find((each) => each !== kind && !FIELDS[kind].includes(each));
  if (stranger !== undefined)
    throw refused(`${stranger} does not go with ${kind}; allowed: ${[kind, ...FIELDS[kind]].join(', ')}`);
  const problem =
    'lambda' in target
      ? lambdaProblem(target, spec)
      : 'url' in target
        ? urlProblem(target)
        : commandProblem(target, spec);
  if (problem !== undefined) throw refused(problem);
  return kind;
}

function lambdaProblem({ lambda }: LambdaTarget, { maxNoProgressMs }: AgentSpec): string | undefined {
  if ((lambda as unknown) !== true)
    return `lambda is ${JSON.stringify(lambda)}; write lambda: true, and name the function in agentSettings[…].remoteFunction`;
  if (maxNoProgressMs !== undefined)
    return 'progressWithin: a Lambda function answers once, at its end, and so can report no progress; leave it out, or use { url } or { command }';
  return undefined;
}

const isName = (text: unknown): boolean => typeof text === 'string' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(text);

function urlProblem(target: UrlTarget): string | undefined {
  const { url, secret, sign } = target;
  if (secret !== undefined && !(isName(secret.env) && /^[A-Za-z0-9-]+$/.test(secret.header)))
    return `secret is ${JSON.stringify(secret)}; allowed: { header, env }, a header's name and the name of the environment variable that holds its value`;
  if (sign !== undefined && sign !== 'lambda' && sign !== 'execute-api')
    return `sign is ${JSON.stringify(sign)}; allowed: 'lambda' and 'execute-api'`;
  if (secret !== undefined && sign !== undefined && secret.header.toLowerCase() === 'authorization')
    return 'a signature is itself the authorization header; give the secret another one, or leave one of both out';
  if (typeof url === 'string') return addressProblem(url, isProtected(target));
  if (isName(url?.env)) return undefined;
  return `url is ${JSON.stringify(url)}; allowed: an address and { env }, the name of the environment variable that holds it`;
}

export const isProtected = ({ secret, sign }: Pick<UrlTarget, 'secret' | 'sign'>): boolean =>
  secret !== undefined || sign !== undefined;

/** True if the host is this machine. */
export const isHere = ({ hostname }: URL): boolean => HERE.has(hostname);
const HERE: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Returns what is wrong with a URL, written in code or read from the environment; undefined if nothing is.
 * The text omits the URL, because part of it may be secret.
 * @param instead the option that the author should use for a secret
 */
export function addressProblem(
  text: string,
  hasSecret: boolean,
  instead = 'secret: { header, env }',
): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['https:', 'http:'].includes(url.protocol))
    return 'the url is not an address; allowed: one such as https://shop.example/orders';
  if (url.username !== '' || url.password !== '')
    return `the url holds a user or a password; leave them out and use ${instead}`;
  if (hasSecret && url.protocol === 'http:' && !isHere(url))
    return 'a secret or a signature would go over http, unencrypted; use https:';
  return undefined;
}

function commandProblem({ command, folder }: CommandTarget, { runsIn }: AgentSpec): string | undefined {
  if (runsIn !== 'container')
    return "a command runs in a container alone: declare the agent with runsIn: 'container', or use { lambda: true } or { url }";
  const isList = Array.isArray(command) && command.length > 0;
  if (!isList || command.some((part) => typeof part !== 'string' || part.includes('\0')) || command[0] === '')
    return `command is ${JSON.stringify(command)}; allowed: a list of texts such as ['python3', 'book-parcel/main.py']`;
  if (folder !== undefined && (typeof folder !== 'string' || folder === ''))
    return `folder is ${JSON.stringify(folder)}; write folder: import.meta.dirname`;
  return undefined;
}
