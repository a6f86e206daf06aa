/**
 * The calls of every healthy step and of an execution's end, made by a plain signed request instead of the SDK's machinery, which takes four
 * times the processor time for each and is what most of an agent's processor time would go to.
 *
 * Owns: the call, its limits and repeats, an answer's error as the SDK's own exception. Does not own: the connections
 * (`wire.ts`), all other calls, other credentials than Lambda's, other partitions than AWS's own: those go the SDK's way.
 *
 * A call is repeated under the SDK's conditions, and as often: our writes bear being made twice (S15).
 */

import {
  ConditionalCheckFailedException,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactionCanceledException,
  TransactionConflictException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { SendMessageBatchCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import type { ClockSkew } from './clock-skew.ts';
import { amzDate, authorization, type Credentials } from './signature.ts';
import { Wire } from './wire.ts';

/** Which operation a command of the SDK is. */
export interface Target {
  readonly service: 'dynamodb' | 'sqs' | 'events';
  readonly operation: string;
  /** Of the JSON protocol. @default 1.0 */
  readonly version?: '1.0' | '1.1';
}

const PLAIN: ReadonlyMap<unknown, Target> = new Map<unknown, Target>([
  [GetItemCommand, { service: 'dynamodb', operation: 'DynamoDB_20120810.GetItem' }],
  [PutItemCommand, { service: 'dynamodb', operation: 'DynamoDB_20120810.PutItem' }],
  [QueryCommand, { service: 'dynamodb', operation: 'DynamoDB_20120810.Query' }],
  [TransactWriteItemsCommand, { service: 'dynamodb', operation: 'DynamoDB_20120810.TransactWriteItems' }],
  [SendMessageCommand, { service: 'sqs', operation: 'AmazonSQS.SendMessage' }],
  [SendMessageBatchCommand, { service: 'sqs', operation: 'AmazonSQS.SendMessageBatch' }],
  [PutEventsCommand, { service: 'events', operation: 'AWSEvents.PutEvents', version: '1.1' }],
]);

export interface PlainOptions {
  readonly maxAttempts: number;
  /** Of one attempt, from its first byte to the answer's last. */
  readonly requestTimeout: number;
  /** What the store's answers say of this process's clock. */
  readonly skew?: ClockSkew;
}

type Environment = Readonly<Record<string, string | undefined>>;
interface Command {
  readonly input: object;
}
/** What an SDK client is to its user. */
interface Sender {
  send: (command: never) => Promise<unknown>;
}

/** Where the requests of one client go, and as whom. */
interface Place {
  readonly region: string;
  readonly credentials: Credentials;
  readonly urlOf: (service: Target['service']) => URL;
  /** Of the invocation under way, as Lambda puts it into the environment of each. */
  readonly trace: () => string | undefined;
}

/**
 * Has the client make these calls by plain requests, where that is known to do.
 * @param environment of the process
 * @param more calls that only this client makes so: no other function's code has their commands
 */
export function withPlainCalls<Client>(
  client: Client,
  environment: Environment,
  options: PlainOptions,
  more: ReadonlyMap<unknown, Target> = new Map(),
): Client {
  const place = placeOf(environment);
  if (place === undefined) return client;
  const sender = client as Sender;
  const others = sender.send.bind(client);
  sender.send = (command: never): Promise<unknown> => {
    const { constructor, input } = command as Command;
    const target = PLAIN.get(constructor) ?? more.get(constructor);
    return target === undefined ? others(command) : call(target, input, place, options);
  };
  return client;
}

/** Of the partitions of AWS those whose addresses end in `amazonaws.com`. */
const USUAL_REGION = /^(?!.*-iso)[a-z]{2}(-gov)?-[a-z]+-\d$/;
const OTHER_WAYS = ['AWS_USE_FIPS_ENDPOINT', 'AWS_USE_DUALSTACK_ENDPOINT'];

/**
 * A message or an event takes the trace of who sent it along, from which X-Ray links it to that of who takes it
 * (https://docs.aws.amazon.com/xray/latest/devguide/xray-services-sqs.html). As with the SDK the header is not signed: what is
 * in between may change it. DynamoDB passes nothing on.
 */
const TRACE = '_X_AMZN_TRACE_ID';
const TRACE_HEADER = 'x-amzn-trace-id';
/** What stands in the environment becomes a line of the request, and must not become two. */
const ONE_LINE = /^[\x20-\x7e]+$/;

const ENDPOINTS = {
  dynamodb: 'AWS_ENDPOINT_URL_DYNAMODB',
  sqs: 'AWS_ENDPOINT_URL_SQS',
  events: 'AWS_ENDPOINT_URL_EVENTBRIDGE',
} as const;

function placeOf(environment: Environment): Place | undefined {
  const {
    AWS_LAMBDA_FUNCTION_NAME: inLambda,
    AWS_REGION: region = '',
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = environment;
  if (inLambda === undefined || accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  if (!USUAL_REGION.test(region) || region.startsWith('cn-')) return undefined;
  if (OTHER_WAYS.some((name) => ![undefined, '', 'false'].includes(environment[name]))) return undefined;
  const urls = new Map(
    (['dynamodb', 'sqs', 'events'] as const).map((service) => {
      const given = environment[ENDPOINTS[service]] ?? environment['AWS_ENDPOINT_URL'];
      return [service, new URL(given ?? `https://${service}.${region}.amazonaws.com`)];
    }),
  );
  return {
    region,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
    urlOf: (service) => urls.get(service) as URL,
    trace: () => environment[TRACE],
  };
}

interface Answer {
  readonly statusCode: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** As the SDK's standard mode: from 0 to so much, doubled with every attempt, … */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 20_000;
/** … and more after a throttle. */
const FIRST_THROTTLED_MS = 500;
/** A connection that had been closed while it lay idle was never used: asking anew costs no attempt. */
const MAX_STALE = 5;

async function call(target: Target, input: object, place: Place, options: PlainOptions): Promise<unknown> {
  const body = target.version === undefined ? JSON.stringify(input) : textOf(input);
  let stale = 0;
  for (let attempt = 1; ; attempt += 1) {
    let failure: unknown;
    let throttled = false;
    try {
      const { statusCode, body: answer } = await post(target, body, place, options);
      if (statusCode < 300) return answer;
      const error = exceptionOf(answer, statusCode);
      throttled = statusCode === 429 || THROTTLES.has(error.name);
      if (!throttled && statusCode < 500 && !TRANSIENT.has(error.name)) throw new Refused(error);
      failure = error;
    } catch (error) {
      if (error instanceof Refused) throw error.cause;
      failure = error;
      if ((error as { stale?: true }).stale === true && (stale += 1) <= MAX_STALE) {
        attempt -= 1;
        continue;
      }
    }
    if (attempt >= options.maxAttempts) throw failure;
    const mostMs = Math.min(
      MAX_PAUSE_MS,
      (throttled ? FIRST_THROTTLED_MS : FIRST_PAUSE_MS) * 2 ** (attempt - 1),
    );
    await new Promise((done) => setTimeout(done, Math.random() * mostMs));
  }
}

/** Times are seconds since the epoch here; `Date` would make text of itself before a replacer sees it. */
const textOf = (input: object): string =>
  JSON.stringify(input, function (this: Record<string, unknown>, name, value: unknown) {
    const own = this[name];
    return own instanceof Date ? own.getTime() / 1_000 : value;
  });

/** An answer that asking again does not change. */
class Refused extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

const THROTTLES: ReadonlySet<string> = new Set([
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'ThrottledException',
  'TooManyRequestsException',
  'TransactionInProgressException',
  'LimitExceededException',
]);
const TRANSIENT: ReadonlySet<string> = new Set([
  'RequestTimeout',
  'RequestTimeoutException',
  'InternalServerError',
]);

const wires = new Map<string, Wire>();

function wireTo(url: URL): Wire {
  const known = wires.get(url.origin);
  if (known !== undefined) return known;
  const made = new Wire(url);
  wires.set(url.origin, made);
  return made;
}

async function post(
  { service, operation, version = '1.0' }: Target,
  body: string,
  place: Place,
  { requestTimeout, skew }: PlainOptions,
): Promise<Answer> {
  const sentAt = Date.now();
  const url = place.urlOf(service);
  const { sessionToken } = place.credentials;
  const signed = {
    'content-type': `application/x-amz-json-${version}`,
    host: url.host,
    'x-amz-date': amzDate(sentAt),
    ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
    'x-amz-target': operation,
  };
  const scope = { service, region: place.region };
  let headers = `authorization: ${authorization(signed, body, place.credentials, scope)}\r\n`;
  for (const [name, value] of Object.entries(signed)) if (name !== 'host') headers += `${name}: ${value}\r\n`;
  const trace = service === 'dynamodb' ? undefined : place.trace();
  if (trace !== undefined && ONE_LINE.test(trace)) headers += `${TRACE_HEADER}: ${trace}\r\n`;
  const answer = await wireTo(url).post(headers, body, requestTimeout);
  if (skew?.isDue(sentAt) === true)
    skew.measure(sentAt, Date.now(), /\r\ndate: *([^\r]+)/.exec(answer.head)?.[1]);
  return { statusCode: answer.statusCode, body: jsonOf(answer) };
}

/** What says no may have come from something in between, as a page: its status is what there is to know of it. */
function jsonOf({
  statusCode,
  body,
}: {
  readonly statusCode: number;
  readonly body: string;
}): Answer['body'] {
  try {
    return JSON.parse(body === '' ? '{}' : body) as Answer['body'];
  } catch (error) {
    if (statusCode < 300) throw error;
    return {};
  }
}

/** The exceptions that somebody looks into are the SDK's own, so that it does not matter which way a call went. */
function exceptionOf(body: Answer['body'], httpStatusCode: number): Error {
  const type = String(body['__type'] ?? '');
  const name = type.slice(type.lastIndexOf('#') + 1) || `HTTP ${httpStatusCode}`;
  const message = String(body['message'] ?? body['Message'] ?? name);
  const $metadata = { httpStatusCode };
  if (name === 'ConditionalCheckFailedException')
    return new ConditionalCheckFailedException({ message, $metadata, ...fieldOf(body, 'Item') });
  if (name === 'TransactionConflictException')
    return new TransactionConflictException({ message, $metadata });
  if (name === 'TransactionCanceledException')
    return new TransactionCanceledException({ message, $metadata, ...fieldOf(body, 'CancellationReasons') });
  return Object.assign(new Error(message), { name, $metadata });
}

const fieldOf = (body: Answer['body'], name: string): object =>
  body[name] === undefined ? {} : { [name]: body[name] };
