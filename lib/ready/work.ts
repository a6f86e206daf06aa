/**
 * The work of an agent whose requests are declared: execute, probe and undo.
 *
 * Owns: turning a call into its request, and its answer into what an author's code would return or throw.
 * Does not own: the table of outcomes (`outcomes.ts`), claims, heartbeats and reports, which treat this like
 * author code.
 */

import { createHash } from 'node:crypto';
import type { AttemptContext, Implementation } from '../core/plan/agent.ts';
import {
  accepted,
  cannotTell,
  done,
  MAX_ASK_AFTER_MS,
  MIN_ASK_AFTER_MS,
  notDone,
  running,
  type Verdict,
} from '../core/plan/answers.ts';
import { evaluateExpression, type Expr, type Scope } from '../core/plan/refs.ts';
import { refsIn } from '../core/plan/refs-in.ts';
import { marked, PermanentError, TransientError } from '../core/values/errors.ts';
import { defined } from '../core/values/defined.ts';
import type { Json } from '../core/values/json.ts';
import { type JsonPath, roundedIn } from '../core/values/whole-numbers.ts';
import { signed } from '../remote/http.ts';
import { retryAfterIn } from '../remote/retry-after.ts';
import { isHere } from '../remote/target.ts';
import { endpointOf } from './aws-endpoint.ts';
import type { AwsCall, HttpMethod, HttpWork, RequestData } from './declaration.ts';
import { type CallKind, outcomeOf } from './outcomes.ts';
import { headerValue, madeRequest, notSet, UnmadeError } from './request.ts';
import { type Answered, isReading, type Net, type Outgoing, type Result, send } from './send.ts';
import { forget, secretValue } from './secret.ts';

/** The result of one call. */
interface Found {
  readonly outcome: ReturnType<typeof outcomeOf>;
  readonly output?: Json | undefined;
  readonly token?: Json | undefined;
  readonly progress?: Json | undefined;
  readonly code: string;
  readonly message: string;
  /** The service's requested delay, in seconds. */
  readonly wish?: number | undefined;
}

/** @param net a replacement for tests */
export function httpWork(work: HttpWork, net?: Net): Implementation<unknown, unknown> {
  const ask = (kind: CallKind, ctx: AttemptContext, input: unknown, output?: unknown): Promise<Found> =>
    found({ work, kind, request: work[kind] as RequestData, scope: scopeOf(ctx, input, output) }, ctx, net);
  return {
    execute: async (ctx, input) => {
      const one = await ask('execute', ctx, input);
      if (one.outcome === 'accepted')
        return accepted(defined({ token: textOf(one.token), askAfter: askAfterOf(one.wish) }));
      return doneOrThrown(one);
    },
    ...(work.probe === undefined
      ? {}
      : { probe: async (ctx, input) => verdictOf(await ask('probe', ctx, input)) }),
    ...(work.undo === undefined
      ? {}
      : { undo: async (ctx, input, output) => doneOrThrown(await ask('undo', ctx, input, output)) }),
  };
}

function doneOrThrown({ outcome, output, message, code, wish }: Found): unknown {
  if (outcome === 'done') return output;
  const error =
    outcome === 'transient'
      ? new TransientError(message, defined({ retryAfter: wish }))
      : outcome === 'permanent'
        ? new PermanentError(message)
        : marked(Object.assign(new Error(message), defined({ retryAfter: wish })), 'unknown');
  throw Object.assign(error, { code });
}

function verdictOf({ outcome, output, progress, message, wish }: Found): Verdict<unknown> {
  if (outcome === 'done') return done(output);
  if (outcome === 'notDone') return notDone();
  if (outcome !== 'running') return cannotTell(message, defined({ askAfter: wish }));
  const token = typeof progress === 'number' ? progress : textOf(progress);
  return running(defined({ progress: token, askAfter: askAfterOf(wish) }));
}

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === 'number' ? String(value) : typeof value === 'string' ? value : undefined;

const askAfterOf = (wish: number | undefined): number | undefined =>
  wish === undefined
    ? undefined
    : Math.min(Math.max(wish, MIN_ASK_AFTER_MS / 1_000), MAX_ASK_AFTER_MS / 1_000);

/** One call: its declaration and its values. */
interface Call {
  readonly work: HttpWork;
  readonly kind: CallKind;
  readonly request: RequestData;
  readonly scope: Scope;
}

const scopeOf = (
  { idempotencyKey, accepted: known }: AttemptContext,
  input: unknown,
  output: unknown,
): Scope => {
  const call = { idempotencyKey, ...defined({ token: known?.token, output }) };
  return {
    input: input as Json,
    output: () => undefined,
    others: { call: call as Json, env: process.env as Json },
  };
};

async function found(call: Call, ctx: AttemptContext, net: Net | undefined): Promise<Found> {
  try {
    return judged(call, await sent(call, ctx, net));
  } catch (error) {
    if (!(error instanceof UnmadeError)) throw error;
    const outcome = call.kind === 'probe' ? 'unknown' : error.isForNow ? 'transient' : 'permanent';
    return { outcome, code: 'bad-request', message: `nothing was sent: ${error.message}` };
  }
}

async function sent({ work, kind, request, scope }: Call, ctx: AttemptContext, net?: Net): Promise<Result> {
  const { auth, aws, keyHeader, maxAnswerBytes: maxBytes } = work;
  const { method } = request;
  const lacking = aws?.env.find((name) => (process.env[name] ?? '') === '');
  if (lacking !== undefined) throw new UnmadeError(notSet(lacking), true);
  const { shape } = aws ?? {};
  const { idempotencyKey } = ctx;
  const shaped = shape && ((message: Json): Json => shape(message, idempotencyKey, onceOf(idempotencyKey)));
  const made = madeRequest(request, scope, auth !== undefined, shaped);
  // A variable that points to this machine, as in tests, is intentional.
  const isOpen = work.allowsPrivate || (request.isUrlFromEnv && isHere(made.url));
  const reach = isOpen ? 'here' : 'public';
  const key = keyHeader === undefined ? {} : keyIn(keyHeader, kind, method, idempotencyKey);
  const headers = kind === 'execute' ? { ...made.headers, ...key } : { ...key, ...made.headers };
  const out: Outgoing = { ...made, method, headers, signal: ctx.signal, maxBytes, reach };
  if (aws !== undefined) return await send({ ...(await signedCall(aws, out)), reach: 'here' }, net);
  if (auth === undefined) return await send(out, net);
  const once = async (): Promise<Result> => {
    const value = `${auth.prefix}${await secretValue(auth, ctx.signal)}`;
    const own = { [auth.header]: headerValue(value, `the secret ${auth.env}`) };
    return await send({ ...out, headers: { ...headers, ...own } }, net);
  };
  const result = await once();
  // The call was refused before anything was done; the secret may have changed since it was read.
  return result.kind === 'answered' && result.status === 401 && forget(auth) ? await once() : result;
}

/** The longest id of a message in a FIFO queue or topic. */
const MOST_ID_CHARS = 128;
const onceOf = (key: string): string =>
  key.length <= MOST_ID_CHARS ? key : createHash('sha256').update(key).digest('hex');

/**
 * S10 A service answers another request under a known key with the first one's answer, or refuses it. So an
 * undo has a key of its own, and a probe that may be taken for work has none. An author's own header of that
 * name counts in both.
 */
const keyIn = (
  header: string,
  kind: CallKind,
  method: HttpMethod,
  key: string,
): Readonly<Record<string, string>> =>
  kind === 'probe' && !isReading(method) ? {} : { [header]: kind === 'undo' ? `${key}.undo` : key };

/**
 * Addresses and signs the call for this region's service, with this process's role.
 * @throws UnmadeError without a region, TransientError without credentials
 */
async function signedCall({ service }: AwsCall, out: Outgoing): Promise<Outgoing> {
  const place = endpointOf(service);
  if (place === undefined) throw new UnmadeError(notSet('AWS_REGION'), true);
  const url = new URL(`${out.url.pathname}${out.url.search}`, place.url);
  const { headers, body = '' } = out;
  return { ...out, url, headers: await signed({ url, headers, body, service, region: place.region }) };
}

/** Applies the rules first, then the table. Reading an unreadable body leaves the outcome unknown. */
function judged({ work: { effect, acceptsWork }, kind, request, scope }: Call, result: Result): Found {
  const { method, rules, output, token } = request;
  const body: Body = result.kind === 'answered' ? bodyOf(result) : { json: null };
  const answer = answerOf(result, body.json);
  const full: Scope = { ...scope, others: { ...scope.others, answer } };
  const valueOf = (expr: Expr | undefined): Json | undefined =>
    expr === undefined ? undefined : evaluateExpression(expr, full);
  const seen = { result, method, effect, acceptsWork };
  const rule = result.kind === 'answered' ? rules.find(({ when }) => valueOf(when) === true) : undefined;
  const known = (rule?.is as Found['outcome'] | undefined) ?? outcomeOf(kind, { ...seen, isWhole: true });
  const isOutputRead = known === 'done' && kind !== 'undo';
  const lacks = lackOf(body, rules) ?? (isOutputRead ? lackOf(body, output ?? BODY) : undefined);
  return {
    outcome: lacks === undefined ? known : outcomeOf(kind, { ...seen, isWhole: false }),
    output: output === undefined ? (answer['body'] ?? null) : valueOf(output),
    token: lackOf(body, token) === undefined ? valueOf(token) : undefined,
    progress: valueOf(request.progress),
    wish: result.kind === 'answered' ? retryAfterIn(result.headers) : undefined,
    ...saidOf(result, lacks),
  };
}

const BODY = { $ref: 'answer', path: ['body'] };

/** Returns why the expressions cannot read the body; undefined if they can, or read nothing of it. */
function lackOf({ lacks, rounded = [] }: Body, exprs: unknown): string | undefined {
  const reads = refsIn((exprs ?? null) as Expr).flatMap(({ source, path: [part, ...path] }) =>
    source === 'answer' && part === 'body' ? [path] : [],
  );
  if (reads.length === 0) return undefined;
  const isRounded = reads.some((read) => rounded.some((at) => read.every((part, n) => part === at[n])));
  return lacks ?? (isRounded ? 'unsafe-number' : undefined);
}

const answerOf = (result: Result, body: Json | undefined): Readonly<Record<string, Json>> => {
  if (result.kind !== 'answered') return {};
  const headers = Object.entries(result.headers).map(([name, value]) => [name, [value].flat().join(', ')]);
  const { status } = result;
  return { status, headers: Object.fromEntries(headers) as Json, ...defined({ body }) };
};

/** A body, or the code of what it lacks. */
interface Body {
  readonly json?: Json;
  readonly lacks?: string;
  /** Whole numbers of it that would be others: an id would be that of other work. */
  readonly rounded?: readonly JsonPath[];
}

/** Returns the body as JSON, or as text if its type is text. */
function bodyOf({ body, headers }: Answered): Body {
  if (typeof body === 'string') return { lacks: body };
  if (![undefined, 'identity'].includes(headers['content-encoding'])) return { lacks: 'bad-answer' };
  const text = body.toString('utf8');
  if (text.trim() === '') return { json: null };
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (/^text\/(?!json|html)/.test(type)) return { json: text };
  try {
    return { json: JSON.parse(text) as Json, rounded: roundedIn(text) };
  } catch {
    return { lacks: 'bad-answer' };
  }
}

function saidOf(result: Result, lacks: string | undefined): Pick<Found, 'code' | 'message'> {
  if (result.kind === 'not-sent')
    return { code: result.code, message: `nothing was sent: ${WHY[result.code] ?? result.code}` };
  if (result.kind === 'no-answer')
    return { code: result.code, message: 'the request was sent, and there was no answer' };
  const { status } = result;
  if (lacks === undefined) return { code: `http-${status}`, message: `the service answered ${status}` };
  return {
    code: lacks,
    message: `the service answered ${status}, and its body cannot be read: ${WHY[lacks] ?? lacks}`,
  };
}

const WHY: Readonly<Record<string, string>> = {
  'private-address':
    'the address is private: allowPrivateAddresses: true allows it, unless it is link-local or reserved',
  'answer-too-large': 'it has more bytes than maxAnswerBytes',
  'bad-answer': 'it is not JSON',
  'unsafe-number':
    'a whole number in it that is read is beyond ±9007199254740991 and would be rounded to another one: the service must send it as text, or output and outcomes must read other fields',
  'broken-connection': 'the connection broke',
};
