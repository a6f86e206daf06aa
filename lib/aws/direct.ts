/**
 * Calls to DynamoDB, SQS and EventBridge without the SDK's middleware, which takes three times the processor
 * time of everything else that a function does (decision 32).
 *
 * Owns: the request, and how often it is made. Does not own: what a client has resolved (endpoint, region,
 * credentials, retry rules, reading an error's answer), the connections (`exchange.ts`), the signature
 * (`signature.ts`).
 *
 * All three speak JSON in the form of a command's input and output, except for times and bytes. Times become
 * seconds for EventBridge. No input sent this way contains bytes; no output that is read contains either.
 * A call may be made twice: our writes allow this (S15).
 */

import { getEndpointFromInstructions } from '@smithy/core/endpoints';
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import type {
  AwsCredentialIdentity,
  Provider,
  RetryErrorType,
  RetryStrategyV2,
  RetryToken,
  SdkError,
} from '@smithy/types';
import { clock } from './clock.ts';
import type { ClockSkew } from './clock-skew.ts';
import { type Answer, exchange, type Target, targetAt } from './exchange.ts';
import { amzDate, authorization, type Scope } from './signature.ts';

export interface DirectOptions {
  /** Bounds one attempt, from the call to the answer's last byte, including any wait for a connection. */
  readonly requestTimeout: number;
  /** Gets the store's time from each answer, to compare it with this process's clock. */
  readonly skew?: ClockSkew;
}

/** The configuration that an SDK client has resolved. */
interface Config {
  readonly defaultSigningName: string;
  readonly region: Provider<string>;
  readonly credentials: Provider<AwsCredentialIdentity>;
  readonly retryStrategy: Provider<RetryStrategyV2>;
  readonly protocol: {
    readonly serviceTarget: string;
    readonly getJsonRpcVersion: () => string;
    readonly deserializeResponse: (operation: object, config: Config, answer: Answer) => Promise<unknown>;
  };
}
interface Command {
  readonly input: object;
  /** A static operation of the SDK's schemas: kind, namespace, name, traits, input, output. */
  readonly schema: readonly [number, string, string, unknown, unknown, unknown];
}
interface Sender {
  readonly config: Config;
  send: (command: Command) => Promise<unknown>;
}

/** Where the requests of one client go, and how. */
interface Place extends Target {
  readonly host: string;
  readonly scope: Scope;
  readonly contentType: string;
  readonly retries: RetryStrategyV2;
  /** The token for the first attempt of every call. */
  readonly first: RetryToken;
}

/**
 * Errors with which AWS rejects the form of a request: nothing was done, and the SDK's own request may be
 * accepted. Some services omit the last word.
 */
const MISUNDERSTOOD =
  /^(?:SignatureDoesNotMatch|InvalidSignature|IncompleteSignature|UnknownOperation)(?:Exception)?$/;

/** Makes the client send its calls directly; once AWS rejects the form of one, through the SDK. */
export function direct<Client>(client: Client, options: DirectOptions): Client {
  const sender = client as Sender;
  const { config } = sender;
  const bySdk = sender.send.bind(sender);
  let place: Place | undefined;
  let isMisunderstood = false;
  sender.send = async (command) => {
    if (isMisunderstood) return await bySdk(command);
    try {
      place ??= await placeOf(config, command);
      return await call(config, command, place, options);
    } catch (error) {
      const { name } = error as Error;
      if (!MISUNDERSTOOD.test(name)) throw error;
      isMisunderstood = true;
      process.emitWarning(
        `calls go through the AWS SDK from now on, more slowly: ${name}`,
        'SteadfastTransport',
      );
      return await bySdk(command);
    }
  };
  return client;
}

async function placeOf(config: Config, command: Command): Promise<Place> {
  const { url } = await getEndpointFromInstructions(
    command.input,
    command.constructor as object,
    config as object,
  );
  const retries = await config.retryStrategy();
  return {
    host: url.host,
    scope: { service: config.defaultSigningName, region: await config.region() },
    contentType: `application/x-amz-json-${config.protocol.getJsonRpcVersion()}`,
    retries,
    first: await retries.acquireInitialRetryToken(''),
    ...targetAt(config.defaultSigningName, 'POST', new URL('/', url)),
  };
}

async function call(
  config: Config,
  command: Command,
  place: Place,
  options: DirectOptions,
): Promise<unknown> {
  const { retries } = place;
  const [, namespace, name, traits, input, output] = command.schema;
  const body = textOf(command.input, place.scope.service);
  let token = place.first;
  for (;;) {
    try {
      const answer = await post(config, `${config.protocol.serviceTarget}.${name}`, body, place, options);
      const done =
        answer.statusCode < 300
          ? (JSON.parse(answer.body.toString() || '{}') as unknown)
          : await refusal(config, { namespace, name, traits, input, output }, answer);
      retries.recordSuccess(token);
      return done;
    } catch (error) {
      const info = { error: error as SdkError, errorType: errorTypeOf(error as SdkError) };
      // Rejects if there must be no more attempts; otherwise waits until the next one is due.
      const next = await retries.refreshRetryTokenForRetry(token, info).catch(() => undefined);
      if (next === undefined) throw error;
      token = next;
    }
  }
}

/**
 * The body as text. EventBridge takes times in seconds, and `Date` turns into text before a replacer sees it.
 */
function textOf(input: object, service: string): string {
  if (service !== 'events') return JSON.stringify(input);
  return JSON.stringify(input, function (this: Record<string, unknown>, name, value: unknown) {
    const own = this[name];
    return own instanceof Date ? own.getTime() / 1_000 : value;
  });
}

/**
 * Rejects with the SDK's own exception. If a proxy has refused, the answer may be its page: then only the
 * status is known.
 */
async function refusal(config: Config, operation: object, answer: Answer): Promise<never> {
  try {
    await config.protocol.deserializeResponse(operation, config, answer);
  } catch (error) {
    if ((error as SdkError).$metadata !== undefined) throw error;
  }
  const { statusCode: httpStatusCode } = answer;
  const name = `HTTP ${httpStatusCode}`;
  throw Object.assign(new Error(name), { name, $metadata: { httpStatusCode } });
}

function errorTypeOf(error: SdkError): RetryErrorType {
  if (isThrottlingError(error)) return 'THROTTLING';
  if (isTransientError(error)) return 'TRANSIENT';
  return isServerError(error) ? 'SERVER_ERROR' : 'CLIENT_ERROR';
}

/**
 * The header that passes the sender's trace on with a message or an event, so that X-Ray links it to the
 * receiver's (https://docs.aws.amazon.com/xray/latest/devguide/xray-services-sqs.html). As with the SDK,
 * every call has it, unsigned: a proxy may change it.
 */
const TRACE = { variable: '_X_AMZN_TRACE_ID', header: 'x-amzn-trace-id' } as const;

/** Statuses of an answer to a refused signature. */
const REFUSED: ReadonlySet<number> = new Set([400, 403]);

async function post(
  config: Config,
  target: string,
  body: string,
  place: Place,
  { requestTimeout, skew }: DirectOptions,
): Promise<Answer> {
  const credentials = await config.credentials();
  const sentAt = clock.now();
  const { sessionToken } = credentials;
  const signed = {
    'content-type': place.contentType,
    host: place.host,
    'x-amz-date': amzDate(sentAt),
    ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
    'x-amz-target': target,
  };
  const trace = process.env[TRACE.variable];
  const headers = {
    ...signed,
    authorization: authorization(signed, body, credentials, place.scope),
    'content-length': Buffer.byteLength(body),
    ...(trace === undefined ? {} : { [TRACE.header]: trace }),
  };
  const answer = await exchange(place, headers, body, requestTimeout);
  const isCorrected = skew?.isDue(sentAt) === true && skew.measure(sentAt, clock.now(), answer.headers.date);
  // AWS refuses a signature if the clock is wrong by minutes, so sign once more with the right time.
  if (isCorrected && REFUSED.has(answer.statusCode))
    return await post(config, target, body, place, { requestTimeout });
  return answer;
}
