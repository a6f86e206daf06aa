/**
 * Declares an agent whose work is requests, and turns its author's declaration into data.
 *
 * Owns: every refusal of such a declaration. Does not own: refusals that apply to any agent
 * (`core/plan/agent.ts`), the work (`work.ts`).
 */

import { eq, ref, toExpr } from '../author/references.ts';
import { type Agent, type AgentSpec, declareAgent } from '../core/plan/agent.ts';
import { partsOf, uselessPartsOf } from '../core/plan/agent-parts.ts';
import type { Expr } from '../core/plan/refs.ts';
import { refsIn } from '../core/plan/refs-in.ts';
import { refuse } from '../core/values/errors.ts';
import { asJson } from '../core/values/json.ts';
import { type Keys, type KeysOf, optionProblem } from '../core/values/options.ts';
import type {
  HttpAgentOptions,
  HttpAnswer,
  HttpMethod,
  HttpRequest,
  HttpWork,
  OutcomeRule,
  RequestData,
  Secret,
  SecretOptions,
} from './declaration.ts';
import type { CallKind } from './outcomes.ts';
import { urlProblem } from './request.ts';

const METHODS: readonly HttpMethod[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** Methods that have their effect once, even if they are repeated. */
const REPEATABLE: readonly HttpMethod[] = ['GET', 'HEAD', 'PUT', 'DELETE'];
const MOST_ANSWER_BYTES = 1_024 * 1_024;

const OPTIONS = {
  input: true,
  output: true,
  effect: true,
  timeout: true,
  lease: true,
  claimWithin: true,
  lateEffectWithin: true,
  acceptedWithin: true,
  execute: true,
  probe: true,
  undo: true,
  idempotencyKey: true,
  auth: true,
  maxAnswerBytes: true,
  allowPrivateAddresses: true,
} as const satisfies KeysOf<HttpAgentOptions<unknown, unknown>>;

const REQUEST = {
  method: true,
  url: true,
  path: true,
  query: true,
  headers: true,
  body: true,
  outcomes: true,
  output: true,
  token: true,
  progress: true,
} as const satisfies KeysOf<HttpRequest<string, unknown>>;

const SAID = ['done', 'transient', 'permanent', 'unknown'];
/**
 * For each call: the fields of `call` that it may read, the outcomes that its rules may give, and the parts
 * of a request that it excludes.
 */
const CALLS: Readonly<
  Record<CallKind, Readonly<Record<'reads' | 'outcomes' | 'without', readonly string[]>>>
> = {
  execute: { reads: ['idempotencyKey'], outcomes: [...SAID, 'accepted'], without: ['progress'] },
  probe: {
    reads: ['idempotencyKey', 'token'],
    outcomes: ['done', 'notDone', 'running', 'unknown'],
    without: ['token'],
  },
  undo: {
    reads: ['idempotencyKey', 'token', 'output'],
    outcomes: SAID,
    without: ['output', 'token', 'progress'],
  },
};

const SECRET: Keys = { parameter: true, secretsManager: true, field: true, header: true, prefix: true };

const ANSWER = {
  status: ref<number>('answer', ['status']),
  body: (...path: readonly (string | number)[]) => ref('answer', ['body', ...path.map(String)]),
  header: (name: string) => ref<string>('answer', ['headers', name.toLowerCase()]),
} as HttpAnswer;

/** @throws SteadfastError `bad-secret` */
export function declaredSecret(env: string, options: SecretOptions = {}): Secret {
  const { header = 'authorization', prefix, ...where } = options;
  const name = header.toLowerCase();
  const problem =
    optionProblem(options, SECRET) ??
    (/^[A-Za-z_][A-Za-z0-9_]*$/.test(env)
      ? undefined
      : 'its first argument is the name of an environment variable, such as PAYMENTS_TOKEN, and not its value') ??
    (isHeader(name) ? undefined : `header is '${header}'; allowed: the name of a header that you may set`) ??
    (where.parameter !== undefined && where.secretsManager !== undefined
      ? 'it has parameter and secretsManager; it lies in one of them'
      : undefined) ??
    (where.field !== undefined && where.secretsManager === undefined
      ? 'field goes with secretsManager alone'
      : undefined);
  if (problem !== undefined) throw refuse('bad-secret', `secret: ${problem}`);
  const before = prefix ?? (name === 'authorization' ? 'Bearer ' : '');
  return { kind: 'steadfast:secret', env, ...where, header: name, prefix: before };
}

/** The headers that every request sets itself. */
const OURS: ReadonlySet<string> = new Set(
  'host content-length transfer-encoding connection accept-encoding expect upgrade te trailer'.split(' '),
);
const isHeader = (name: string): boolean => /^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name) && !OURS.has(name);

/** @throws SteadfastError `bad-name`, `bad-duration`, `bad-agent` */
export function declareHttp<I, O>(
  name: string,
  options: HttpAgentOptions<I, O>,
): { readonly declared: Agent<I, O>; readonly work: HttpWork } {
  const refused = (what: string): Error => refuse('bad-agent', `httpAgent '${name}': ${what}`);
  const stranger = optionProblem(options, OPTIONS);
  if (stranger !== undefined) throw refused(stranger);
  const { execute, probe, undo, idempotencyKey, auth, maxAnswerBytes, allowPrivateAddresses, ...rest } =
    options;
  const isUndone = undo !== undefined && undo !== 'none';
  if (undo === undefined && rest.effect !== 'none')
    throw refused("undo is missing: declare the request that takes the work back, or undo: 'none'");
  const declared = declareAgent<I, O>(name, {
    ...rest,
    ...(rest.effect === 'none' && !isUndone ? {} : { undo: isUndone ? 'required' : 'none' }),
    ...(probe !== undefined && rest.effect === 'idempotent' ? { probe: 'required' } : {}),
  });
  const hasSecret = auth !== undefined;
  const made = (kind: CallKind, given: unknown): RequestData => requestData(kind, given, hasSecret, refused);
  const work: HttpWork = {
    execute: made('execute', execute),
    ...(probe === undefined ? {} : { probe: made('probe', probe) }),
    ...(isUndone ? { undo: made('undo', undo) } : {}),
    effect: rest.effect,
    acceptsWork: rest.acceptedWithin !== undefined,
    ...(idempotencyKey === undefined ? {} : { keyHeader: String(idempotencyKey).toLowerCase() }),
    ...(auth === undefined ? {} : { auth }),
    maxAnswerBytes: maxAnswerBytes ?? 262_144,
    allowsPrivate: allowPrivateAddresses === true,
  };
  const problem = workProblem(declared.spec, work);
  if (problem !== undefined) throw refused(problem);
  return { declared, work };
}

function workProblem(spec: AgentSpec, work: HttpWork): string | undefined {
  const { execute, probe, undo, keyHeader, auth, maxAnswerBytes } = work;
  const lacking = partsOf(spec).find((part) => work[part] === undefined);
  if (lacking !== undefined)
    return `${lacking} is missing, which it needs as it is declared: declare the request`;
  if (!work.acceptsWork && execute.rules.some(({ is }) => is === 'accepted'))
    return "an outcome is 'accepted': declare acceptedWithin, the time that accepted work may take";
  const useless = uselessPartsOf(spec).find((part) => work[part] !== undefined);
  if (useless !== undefined) return `an '${spec.effect}' effect cannot be probed; leave ${useless} out`;
  if (keyHeader !== undefined && !isHeader(keyHeader))
    return `idempotencyKey is ${JSON.stringify(keyHeader)}; allowed: the name of the header that has the key`;
  if (auth !== undefined && auth?.kind !== 'steadfast:secret')
    return 'auth must be secret(…), never the value itself';
  const isNamed = keyHeader !== undefined || readsKey(execute) || REPEATABLE.includes(execute.method);
  if (spec.effect === 'idempotent' && !isNamed)
    return `a repeated ${execute.method} has its effect once only if the service knows it by a key: declare idempotencyKey: '<header>', put the key into the request, or say effect: 'probed'`;
  const isNamedByKey = keyHeader !== undefined && probe?.method !== 'POST';
  const isAsked = probe === undefined || isNamedByKey || isFound(probe);
  if (spec.effect === 'probed' && !isAsked)
    return 'probe asks for nothing of this call: put its input, its idempotencyKey or its token into the request';
  if (keyHeader !== undefined && undo !== undefined && !isFound(undo))
    return `undo names nothing of this call, for its ${keyHeader} has a key of its own: put output, input or idempotencyKey into the request`;
  if (!Number.isInteger(maxAnswerBytes) || maxAnswerBytes < 1 || maxAnswerBytes > MOST_ANSWER_BYTES)
    return `maxAnswerBytes is ${maxAnswerBytes}; allowed: 1 to ${MOST_ANSWER_BYTES}`;
  return undefined;
}

const sentOf = ({ url, path, query, headers, body }: RequestData): Expr =>
  ({ url, path, query, headers, body }) as unknown as Expr;
const readsKey = (request: RequestData): boolean =>
  refsIn(sentOf(request)).some(({ source, path }) => source === 'call' && path[0] === 'idempotencyKey');
const isFound = (request: RequestData): boolean => refsIn(sentOf(request)).length > 0;

type Refused = (what: string) => Error;

function requestData(kind: CallKind, given: unknown, hasSecret: boolean, refused: Refused): RequestData {
  const { reads, without } = CALLS[kind];
  const no = (what: string): Error => refused(`${kind}: ${what}`);
  const call = Object.fromEntries(reads.map((name) => [name, ref('call', [name])]));
  const written = (
    typeof given === 'function'
      ? (given as (from: object) => unknown)({ input: ref('input'), ...call })
      : given
  ) as HttpRequest<string, unknown>;
  if (written === undefined) throw no('it is missing: declare the request');
  const allowed = Object.entries(REQUEST).filter(([key]) => !without.includes(key));
  const stranger = optionProblem(written, Object.fromEntries(allowed));
  if (stranger !== undefined) throw no(stranger);
  const { method, url, path = [], query = {}, headers = {}, body, outcomes, ...ofAnswer } = written;
  const { env } = Object(url) as { readonly env?: unknown };
  const isUrlFromEnv = typeof env === 'string';
  const answers = Object.entries(ofAnswer).map(([key, read]) => [key, read?.(ANSWER)]);
  const parts = {
    path,
    query,
    headers,
    body,
    ...Object.fromEntries(answers),
    ...(isUrlFromEnv ? {} : { url }),
  };
  const data = Object.entries(parts).flatMap(([part, value]) => {
    const made = asJson(toExpr(value));
    if ('problem' in made) throw no(`${part}: ${made.problem}`);
    return value === undefined ? [] : [[part, made.json]];
  });
  const rules = rulesOf(kind, outcomes, no);
  const request = { method, url, isUrlFromEnv, rules, ...Object.fromEntries(data) } as RequestData;
  const problem = requestProblem(kind, request, hasSecret);
  if (problem !== undefined) throw no(problem);
  return request;
}

function rulesOf(kind: CallKind, outcomes: Outcomes, no: Refused): RequestData['rules'] {
  const statuses = typeof outcomes === 'function' ? [] : Object.keys(outcomes ?? {});
  if (statuses.some((status) => !/^[1-5]\d\d$/.test(status)))
    throw no('outcomes: a key is not a status; allowed: 100 to 599, or a function of the answer');
  const names = CALLS[kind].outcomes;
  return rulesIn(outcomes, ANSWER).map(({ when, is }) => {
    if (!names.includes(is)) throw no(`outcomes: '${is}' is not an outcome; there are ${names.join(', ')}`);
    return { when: toExpr(when), is };
  });
}

type Outcomes = HttpRequest<string, unknown>['outcomes'];
export const rulesIn = (outcomes: Outcomes, answer: HttpAnswer): readonly OutcomeRule<string>[] =>
  typeof outcomes === 'function'
    ? outcomes(answer)
    : Object.entries(outcomes ?? {}).map(([status, is]) => ({ when: eq(answer.status, Number(status)), is }));

function requestProblem(kind: CallKind, request: RequestData, hasSecret: boolean): string | undefined {
  const { method, url, isUrlFromEnv, headers, body } = request;
  if (!METHODS.includes(method)) return `method is ${JSON.stringify(method)}; allowed: ${METHODS.join(', ')}`;
  if (kind === 'probe' && ['PUT', 'PATCH', 'DELETE'].includes(method))
    return `a probe must change nothing, and ${method} does; allowed: GET, HEAD and POST`;
  if (body !== undefined && (method === 'GET' || method === 'HEAD'))
    return `a ${method} has no body; use query`;
  const name = Object.keys(headers).find((one) => !isHeader(one.toLowerCase()));
  if (name !== undefined) return `header '${name}' cannot be set`;
  if (isUrlFromEnv) return undefined;
  if (typeof url === 'string') return urlProblem(url, hasSecret);
  return hasSecret
    ? 'its url is made of values, and a secret would go wherever they say; write the address, or { env }, and put values into path'
    : undefined;
}
