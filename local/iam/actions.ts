/**
 * Finds the actions and resources for which an AWS call needs permission, by the services' authorisation
 * references. Pure. Does not own: whether they are allowed (evaluate.ts).
 *
 * An SQS batch needs the action of a single message. A DynamoDB transaction needs the action of each part; a
 * DynamoDB batch, its own action on each table. For a query of an index, the resource is the index.
 */
import type { AwsCall } from '../gateway/aws-call.ts';
import type { ObjectCall } from '../s3/object-call.ts';
import { isRecord, type Json } from '../template/json.ts';
import type { Context } from './match.ts';

/** An action on a resource that a caller must be allowed. */
export interface Need {
  /** `service:Action`. */
  readonly action: string;
  /** An ARN, or `*` for an action without a resource. */
  readonly resource: string;
  /** Condition keys from the request. */
  readonly context: Context;
}

/** Facts outside a request that decide which resource it concerns. */
export interface CallPlace {
  readonly region: string;
  readonly accountId: string;
  /** The partition key of a table, if it is one of the stack. */
  readonly partitionKey: (table: string) => string | undefined;
}

type Body = Readonly<Record<string, Json>>;

const PARTIQL = /^(ExecuteStatement|BatchExecuteStatement|ExecuteTransaction)$/;
const TRANSACTIONS = new Set(['TransactWriteItems', 'TransactGetItems']);
/** The action for each kind of part in a transaction. */
const PART_ACTIONS: Readonly<Record<string, string>> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
  Get: 'GetItem',
};

/**
 * The permissions that a call needs; undefined if the service is not emulated, or the request does not show
 * them.
 */
export function needsOf(call: AwsCall, place: CallPlace): readonly Need[] | undefined {
  if (call.object !== undefined) return objectNeeds(call.object);
  const body = bodyOf(call);
  if (body === undefined) return undefined;
  if (call.service === 'dynamodb') return dynamoNeeds(call.operation, body, place);
  if (call.service === 'sqs') return [sqsNeed(call.operation, body, place)];
  if (call.service === 'events' && call.operation === 'PutEvents') return eventNeeds(body, place);
  if (call.service === 'cloudwatch')
    return [{ action: `cloudwatch:${call.operation}`, resource: '*', context: {} }];
  return undefined;
}

/** The needs of an S3 call. HeadObject needs permission to read the object; a list concerns the bucket. */
function objectNeeds({ operation, bucket, key }: ObjectCall): Need[] | undefined {
  if (operation === 'unknown') return undefined;
  if (operation === 'ListObjectsV2')
    return [{ action: 's3:ListBucket', resource: `arn:aws:s3:::${bucket}`, context: {} }];
  if (operation === 'ListObjectVersions')
    return [{ action: 's3:ListBucketVersions', resource: `arn:aws:s3:::${bucket}`, context: {} }];
  const action = operation === 'HeadObject' ? 'GetObject' : operation;
  return [{ action: `s3:${action}`, resource: `arn:aws:s3:::${bucket}/${key}`, context: {} }];
}

function bodyOf(call: AwsCall): Body | undefined {
  try {
    const body: unknown = JSON.parse(call.body.toString() || '{}');
    return isRecord(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

function dynamoNeeds(operation: string, body: Body, place: CallPlace): readonly Need[] | undefined {
  if (PARTIQL.test(operation)) return undefined;
  if (TRANSACTIONS.has(operation)) return transactionNeeds(operation, body, place);
  if (isRecord(body['RequestItems'])) {
    return Object.entries(body['RequestItems']).map(([table, asked]) => ({
      action: `dynamodb:${operation}`,
      resource: tableArn(table, place),
      context: leadingKeys(batchKeys(asked), table, place),
    }));
  }
  const table = body['TableName'];
  const action = `dynamodb:${operation}`;
  if (typeof table !== 'string') return [{ action, resource: '*', context: {} }];
  const index = typeof body['IndexName'] === 'string' ? `/index/${body['IndexName']}` : '';
  const item = body['Item'] ?? body['Key'];
  const select = typeof body['Select'] === 'string' ? { 'dynamodb:select': [body['Select']] } : {};
  const keys = operation === 'Query' ? queriedKey(body, table, place) : leadingKeys([item], table, place);
  return [{ action, resource: `${tableArn(table, place)}${index}`, context: { ...keys, ...select } }];
}

function transactionNeeds(operation: string, body: Body, place: CallPlace): readonly Need[] | undefined {
  const items = Array.isArray(body['TransactItems']) ? body['TransactItems'] : [];
  const parts = items.flatMap((item) => (isRecord(item) ? Object.entries(item) : []));
  const needs = parts.flatMap(([kind, part]): Need[] => {
    const action = PART_ACTIONS[kind];
    if (action === undefined || !isRecord(part) || typeof part['TableName'] !== 'string') return [];
    const table = part['TableName'];
    const keys = leadingKeys([part['Item'] ?? part['Key'] ?? {}], table, place);
    const context = { ...keys, 'dynamodb:enclosingoperation': [operation] };
    return [{ action: `dynamodb:${action}`, resource: tableArn(table, place), context }];
  });
  return needs.length === parts.length ? needs : undefined;
}

/** The keys or items of one table in a batch. */
function batchKeys(asked: Json): Json[] {
  if (isRecord(asked)) return Array.isArray(asked['Keys']) ? asked['Keys'] : [];
  const writes = Array.isArray(asked) ? asked : [];
  return writes.flatMap((write) => {
    const [request] = isRecord(write) ? Object.values(write) : [];
    return isRecord(request) ? [request['Item'] ?? request['Key'] ?? {}] : [];
  });
}

/** `dynamodb:LeadingKeys`: the partition keys that a request touches. */
function leadingKeys(items: readonly (Json | undefined)[], table: string, place: CallPlace): Context {
  const name = place.partitionKey(tableName(table));
  const values = items.flatMap((item) => (isRecord(item) && name !== undefined ? textOf(item[name]) : []));
  return values.length === 0 ? {} : { 'dynamodb:leadingkeys': [...new Set(values)] };
}

/** The value to which a query sets the table's partition key. */
function queriedKey(body: Body, table: string, place: CallPlace): Context {
  const key = place.partitionKey(tableName(table));
  const names = isRecord(body['ExpressionAttributeNames']) ? body['ExpressionAttributeNames'] : {};
  const values = isRecord(body['ExpressionAttributeValues']) ? body['ExpressionAttributeValues'] : {};
  const equalities = String(body['KeyConditionExpression'] ?? '').matchAll(/([#\w]+)\s*=\s*(:\w+)/g);
  for (const [, name = '', value = ''] of equalities) {
    if ((names[name] ?? name) === key) return { 'dynamodb:leadingkeys': textOf(values[value]) };
  }
  // For a query of an index, or in an older form: a value that only `*` matches. An absent key would count as
  // not set.
  return { 'dynamodb:leadingkeys': ['(not known to the local cloud)'] };
}

/** The text of an attribute value, as the condition key has it. */
const textOf = (value: Json | undefined): string[] =>
  isRecord(value) ? Object.values(value).flatMap((each) => (typeof each === 'string' ? [each] : [])) : [];

const tableName = (nameOrArn: string): string => nameOrArn.slice(nameOrArn.lastIndexOf('/') + 1);

const tableArn = (nameOrArn: string, { region, accountId }: CallPlace): string =>
  nameOrArn.startsWith('arn:') ? nameOrArn : `arn:aws:dynamodb:${region}:${accountId}:table/${nameOrArn}`;

function sqsNeed(operation: string, body: Body, place: CallPlace): Need {
  const action = `sqs:${operation.replace(/Batch$/, '')}`;
  const url = String(body['QueueUrl'] ?? body['QueueName'] ?? '');
  return {
    action,
    resource: url === '' ? '*' : queueArn(url.slice(url.lastIndexOf('/') + 1), place),
    context: {},
  };
}

const queueArn = (name: string, { region, accountId }: CallPlace): string =>
  `arn:aws:sqs:${region}:${accountId}:${name}`;

function eventNeeds(body: Body, { region, accountId }: CallPlace): Need[] {
  const entries = Array.isArray(body['Entries']) ? body['Entries'] : [];
  const buses = entries.map((entry) => String((isRecord(entry) ? entry['EventBusName'] : null) ?? 'default'));
  return [...new Set(buses.length === 0 ? ['default'] : buses)].map((bus) => ({
    action: 'events:PutEvents',
    resource: bus.startsWith('arn:') ? bus : `arn:aws:events:${region}:${accountId}:event-bus/${bus}`,
    context: {},
  }));
}
