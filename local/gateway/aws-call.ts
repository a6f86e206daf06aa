/** Reads an AWS call: its caller, service, operation, and table or queue. Pure. */
import type { IncomingHttpHeaders } from 'node:http';
import { type ObjectCall, readObjectCall } from '../s3/object-call.ts';

/** An AWS request of a function or of a program outside. */
export interface AwsCall {
  /** The caller's access key id: one per process of a function. */
  readonly accessKeyId: string;
  /** Logical id of the calling function; `outside` for other programs. */
  readonly caller: string;
  readonly service: string;
  readonly operation: string;
  /** The name of the table, queue or bucket, if the call has one. */
  readonly resource: string;
  readonly body: Buffer;
  /** The object of an S3 call: it is in the path, not in the body. */
  readonly object?: ObjectCall;
}

/** An answer to an AWS call. */
export interface AwsAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
}

export const OUTSIDE = 'outside';

const SERVICE_OF_TARGET: Readonly<Record<string, string>> = {
  DynamoDB_20120810: 'dynamodb',
  AmazonSQS: 'sqs',
  AWSEvents: 'events',
  GraniteServiceVersion20100801: 'cloudwatch',
};
/** A function's access key `<logicalId>-<n>`, made by local-function.ts. */
const FUNCTION_KEY = /^([A-Za-z0-9]+)-\d+$/;
const CREDENTIAL = /Credential=([^/,\s]+)\/\d*\/([^/]*)\/([^/]*)\/aws4_request/;

/**
 * Reads caller, service and resource from the headers. The body is only searched for a name, never parsed.
 */
export function readAwsCall(
  headers: IncomingHttpHeaders,
  body: Buffer,
  line: { readonly method?: string | undefined; readonly url?: string | undefined } = {},
): AwsCall {
  const credential = CREDENTIAL.exec(headers.authorization ?? '');
  const accessKeyId = credential?.[1] ?? '';
  const target = headers['x-amz-target'];
  const [prefix = '', operation = ''] = typeof target === 'string' ? target.split('.') : [];
  const service = SERVICE_OF_TARGET[prefix] ?? credential?.[3] ?? 'unknown';
  const who = { accessKeyId, caller: FUNCTION_KEY.exec(accessKeyId)?.[1] ?? OUTSIDE };
  // Only S3 has calls without POST, so this also recognises unsigned ones (curl).
  if (service === 's3' || (service === 'unknown' && /^(?:GET|HEAD|PUT|DELETE)$/.test(line.method ?? ''))) {
    const object = readObjectCall(line.method ?? '', line.url ?? '', headers);
    return { ...who, service: 's3', operation: object.operation, resource: object.bucket, body, object };
  }
  return {
    ...who,
    service,
    operation: operation === '' ? 'unknown' : operation,
    resource: resourceOf(service, body),
    body,
  };
}

function resourceOf(service: string, body: Buffer): string {
  if (service === 'dynamodb') return textAfter(body, '"TableName":"') || textAfter(body, '"RequestItems":{"');
  if (service !== 'sqs') return '';
  const url = textAfter(body, '"QueueUrl":"');
  return url === '' ? textAfter(body, '"QueueName":"') : url.slice(url.lastIndexOf('/') + 1);
}

/**
 * The string value after a JSON key, up to the closing quote. Names contain no escapes, and inside a JSON
 * string the key's quotes would be escaped, so this finds a real key.
 */
function textAfter(body: Buffer, key: string): string {
  const at = body.indexOf(key);
  if (at < 0) return '';
  const from = at + key.length;
  const to = body.indexOf(0x22, from);
  return to < 0 ? '' : body.toString('utf8', from, to);
}

/** An error answer in the JSON protocols' shape. */
export function errorAnswer(
  statusCode: number,
  type: string,
  message: string,
  queryCode?: string,
): AwsAnswer {
  return {
    statusCode,
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amzn-errortype': type,
      ...(queryCode === undefined ? {} : { 'x-amzn-query-error': `${queryCode};Sender` }),
    },
    body: JSON.stringify({ __type: type, message }),
  };
}
