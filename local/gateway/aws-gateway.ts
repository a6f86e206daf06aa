/**
 * The server behind `AWS_ENDPOINT_URL`. It counts each AWS call, applies faults, checks the policies, and
 * forwards the call to the right emulator. Does not own: the emulators, the faults, the policies.
 *
 * Invariants
 * - I1 every call passes the counter and the faults.
 * - I2 no emulator gets a call that the function's role does not allow.
 * - I3 an unsupported call gets an error, never an empty success.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { LateIndexes } from '../dynamodb/late-indexes.ts';
import type { DynamoProxy } from '../dynamodb/proxy.ts';
import { type EventBus, RefusedEvents } from '../events/event-bus.ts';
import type { Access } from '../iam/access.ts';
import { type CallPlace, needsOf } from '../iam/actions.ts';
import { deniedAnswer } from '../iam/answers.ts';
import { metricData, MetricDataError, type Periods } from '../metrics/metric-data.ts';
import type { Buckets } from '../s3/buckets.ts';
import { runSqsOperation } from '../sqs/operations.ts';
import type { QueueDirectory } from '../sqs/queue-directory.ts';
import { SqsError } from '../sqs/request-checks.ts';
import { type AwsAnswer, type AwsCall, errorAnswer, readAwsCall } from './aws-call.ts';
import { askingForCapacity, capacityOf, refusedCapacityOf } from './capacity.ts';
import type { CallCounts } from './call-counts.ts';
import type { Connections } from './connections.ts';

/** A fault's decision about a call, before it is executed. */
export type Interception =
  | {
      readonly kind: 'execute';
      /** The index shows the state of a few seconds ago. */
      readonly isLate?: boolean;
      readonly afterwards?: () => Promise<'answer' | 'hangUp'>;
    }
  | { readonly kind: 'answer'; readonly answer: AwsAnswer }
  | { readonly kind: 'hangUp' };

/** The functions of the faults that the gateway calls. */
export interface Interceptor {
  /** `false` lets the call skip the faults. */
  isArmed(caller: string): boolean;
  intercept(call: AwsCall): Promise<Interception>;
}

/** The servers behind the gateway. */
export interface Backends {
  readonly dynamo: DynamoProxy;
  /** Absent if indexes are always up to date. */
  readonly lateIndexes: LateIndexes | undefined;
  readonly connections: Connections;
  readonly queues: QueueDirectory;
  readonly bus: EventBus;
  readonly buckets: Buckets;
  /** The measurements of a metric, for CloudWatch's queries. */
  readonly periods: Periods;
  readonly gatewayUrl: string;
  readonly accountId: string;
  readonly access: Access;
  readonly callPlace: CallPlace;
  /** Called after each call that has written to a table. */
  readonly onWritten?: () => void;
}

/** The gateway as a request listener for node's HTTP server. */
export function awsGateway(
  backends: Backends,
  counts: CallCounts,
  interceptor: Interceptor,
): RequestListener {
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => response.destroy());
    request.on('end', () => {
      const only = chunks.length === 1 ? chunks[0] : undefined;
      const call = readAwsCall(request.headers, only ?? Buffer.concat(chunks), request);
      backends.connections.used(call.accessKeyId, request.socket);
      serve(call, request, response, backends, counts, interceptor).catch(() => response.destroy());
    });
  };
}

async function serve(
  call: AwsCall,
  request: IncomingMessage,
  response: ServerResponse,
  backends: Backends,
  counts: CallCounts,
  interceptor: Interceptor,
): Promise<void> {
  const counter = counts.record(call);
  const interception = interceptor.isArmed(call.caller) ? await interceptor.intercept(call) : undefined;
  if (interception?.kind === 'hangUp') {
    response.destroy();
    return;
  }
  const isMetered = counts.measuresCapacity && call.service === 'dynamodb';
  const asked = isMetered ? { ...call, body: askingForCapacity(call.operation, call.body) } : call;
  const answer =
    interception?.kind === 'answer'
      ? interception.answer
      : await execute(asked, request, response, backends, interception?.isLate);
  const isError = answer.statusCode >= 400;
  if (isError) counter.errors += 1;
  if (isMetered)
    counter.capacityUnits += isError ? refusedCapacityOf(call.body, answer.body) : capacityOf(answer.body);
  const last = interception?.kind === 'execute' ? await interception.afterwards?.() : undefined;
  if (last === 'hangUp') {
    response.destroy();
    return;
  }
  response.writeHead(answer.statusCode, {
    ...answer.headers,
    'content-length': Buffer.byteLength(answer.body),
  });
  response.end(answer.body);
}

async function execute(
  call: AwsCall,
  request: IncomingMessage,
  response: ServerResponse,
  backends: Backends,
  isLate = false,
): Promise<AwsAnswer> {
  const refused = refusal(call, backends);
  if (refused !== undefined) return refused;
  if (call.service === 'dynamodb') return await forwarded(call, backends, isLate);
  if (call.service === 'sqs') return await serveSqs(call, request, response, backends);
  if (call.service === 'events' && call.operation === 'PutEvents') {
    const entries = (JSON.parse(call.body.toString()) as { Entries?: unknown }).Entries;
    return putEvents(Array.isArray(entries) ? entries : [], backends);
  }
  if (call.service === 'cloudwatch' && call.operation === 'GetMetricData')
    return serveMetrics(call, backends);
  if (call.object !== undefined && call.operation !== 'unknown') {
    const answer = backends.buckets.serve(call.object, call.body, request.headers);
    return answer.statusCode === 404 ? (hidden(call, call.object.bucket, backends) ?? answer) : answer;
  }
  const supported =
    'DynamoDB, SQS, EventBridge PutEvents, CloudWatch GetMetricData in JSON, and of S3 PutObject, GetObject, HeadObject, DeleteObject, ListObjectsV2, ListObjectVersions';
  const message = `${call.service} ${call.operation} is not emulated by the local cloud; it has ${supported}`;
  return errorAnswer(501, 'NotEmulatedLocally', message);
}

function putEvents(entries: readonly unknown[], { bus }: Backends): AwsAnswer {
  try {
    return jsonAnswer(bus.put(entries), '1.1');
  } catch (error) {
    if (!(error instanceof RefusedEvents)) throw error;
    return errorAnswer(400, 'ValidationException', error.message);
  }
}

const WRITES = /^(?:Put|Update|Delete|BatchWrite)Item$|^TransactWriteItems$/;

async function forwarded(
  { operation, body }: AwsCall,
  { dynamo, lateIndexes, onWritten }: Backends,
  isLate: boolean,
): Promise<AwsAnswer> {
  const isOfThen = isLate && lateIndexes !== undefined;
  const answer = await dynamo.forward(operation, isOfThen ? LateIndexes.asked(body) : body);
  if (answer.statusCode >= 300 || !WRITES.test(operation)) return answer;
  lateIndexes?.written(operation, body);
  onWritten?.();
  return answer;
}

function serveMetrics({ body }: AwsCall, { periods }: Backends): AwsAnswer {
  try {
    return jsonAnswer(metricData(JSON.parse(body.toString() || '{}'), periods), '1.0');
  } catch (error) {
    if (error instanceof MetricDataError) return errorAnswer(400, error.code, error.message);
    return errorAnswer(400, 'SerializationException', 'the request body must be a JSON object');
  }
}

const EMULATED: ReadonlySet<string> = new Set(['dynamodb', 'sqs', 'events', 's3', 'cloudwatch']);

/** The answer to a call that the policies refuse; undefined if they allow it. */
function refusal(call: AwsCall, { access, callPlace }: Backends): AwsAnswer | undefined {
  // A call that the local S3 does not support gets that error instead of a refusal.
  if (!EMULATED.has(call.service) || call.object?.operation === 'unknown') return undefined;
  const needs = needsOf(call, callPlace);
  if (needs === undefined) {
    const denial = access.refuse(call.caller, `${call.service}:${call.operation}`);
    return denial && deniedAnswer(call.service, denial);
  }
  for (const { action, resource, context } of needs) {
    const denial = access.check(call.caller, action, resource, context);
    if (denial !== undefined) return deniedAnswer(call.service, denial);
  }
  return undefined;
}

/** Hides a missing object from a caller that may not list its bucket, as S3 does. */
function hidden(call: AwsCall, bucket: string, { access }: Backends): AwsAnswer | undefined {
  const denial = access.check(call.caller, 's3:ListBucket', `arn:aws:s3:::${bucket}`, {});
  return denial && deniedAnswer(call.service, denial);
}

/** Serves SQS alone, for callers that have queues and an HTTP server. */
export async function serveSqs(
  call: AwsCall,
  request: IncomingMessage,
  response: ServerResponse,
  backends: Pick<Backends, 'queues' | 'gatewayUrl' | 'accountId'>,
): Promise<AwsAnswer> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  response.once('close', leave);
  const trace = request.headers['x-amzn-trace-id'];
  try {
    const result = await runSqsOperation(call.operation, JSON.parse(call.body.toString() || '{}'), {
      queues: backends.queues,
      gatewayUrl: backends.gatewayUrl,
      accountId: backends.accountId,
      senderId: call.accessKeyId === '' ? call.caller : call.accessKeyId,
      traceHeader: typeof trace === 'string' ? trace : undefined,
      signal: gone.signal,
    });
    return jsonAnswer(result, '1.0');
  } catch (error) {
    if (!(error instanceof SqsError)) throw error;
    return errorAnswer(error.statusCode, `com.amazonaws.sqs#${error.code}`, error.message, error.queryCode);
  } finally {
    response.off('close', leave);
  }
}

function jsonAnswer(body: unknown, version: '1.0' | '1.1'): AwsAnswer {
  return {
    statusCode: 200,
    headers: { 'content-type': `application/x-amz-json-${version}` },
    body: JSON.stringify(body),
  };
}
