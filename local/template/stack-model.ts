/**
 * Reads each resource that runs into a typed description. Pure. Does not own: resolving (template.ts),
 * running (the other folders).
 *
 * Invariants
 * - I1 a resource that is valid on AWS but not supported here is listed in `notRun` with the reason, and
 *   the rest of the stack runs. An invalid one is refused by name. No setting with a visible effect is
 *   silently ignored.
 */
import { isRecord, type Json, NotRunHere, TemplateError } from './json.ts';
import { Properties } from './properties.ts';
import { SILENT_TYPES } from './resource-types.ts';
import { type ApiSpec, type OrListed, readApis, readRule, type RuleSpec } from './routing-model.ts';
import type { ResolvedResource, ResolvedTemplate } from './template.ts';

export interface TableSpec {
  readonly logicalId: string;
  readonly tableName: string;
  /** The body of CreateTable. */
  readonly creation: Readonly<Record<string, Json>>;
  readonly ttlAttribute: string | undefined;
}

export interface QueueSpec {
  readonly logicalId: string;
  readonly queueName: string;
  readonly arn: string;
  readonly visibilityTimeoutMs: number;
  readonly delayMs: number;
  readonly retentionMs: number;
  readonly receiveWaitMs: number;
  readonly maxMessageBytes: number;
  readonly redrive: { readonly targetArn: string; readonly maxReceiveCount: number } | undefined;
}

export interface BucketSpec {
  readonly logicalId: string;
  readonly bucketName: string;
  /** Whether events about its objects go to the account's default bus. */
  readonly tellsEventBridge: boolean;
}

export interface FunctionSpec {
  readonly logicalId: string;
  readonly functionName: string;
  readonly arn: string;
  readonly code: { readonly objectKey: string } | { readonly inline: string };
  /** `aws:asset:path`, used if the assets file does not have the key. */
  readonly assetHint: string | undefined;
  readonly handler: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly reservedConcurrency: number | undefined;
  readonly logGroupName: string;
  /** The lowest level that is logged; absent if all lines are. */
  readonly logLevel: string | undefined;
  readonly asyncRetries: number;
  readonly asyncMaxAgeMs: number;
}

export interface MappingSpec {
  readonly logicalId: string;
  readonly queueArn: string;
  readonly functionName: string;
  readonly batchSize: number;
  readonly windowMs: number;
  readonly reportsItemFailures: boolean;
  readonly maximumConcurrency: number | undefined;
  readonly enabled: boolean;
}

/** A function URL. */
export interface UrlSpec {
  readonly logicalId: string;
  readonly functionName: string;
  /** With `AWS_IAM`, callers must sign, and the policies must allow the call. */
  readonly authorization: 'AWS_IAM' | 'NONE';
}

/** All resources of a stack that run, typed. */
export interface StackModel {
  readonly tables: readonly TableSpec[];
  readonly queues: readonly QueueSpec[];
  readonly functions: readonly FunctionSpec[];
  readonly mappings: readonly MappingSpec[];
  readonly apis: readonly ApiSpec[];
  readonly urls: readonly UrlSpec[];
  readonly rules: readonly RuleSpec[];
  readonly buckets: readonly BucketSpec[];
  /** The buses of the stack, and external ones that its rules use. */
  readonly busNames: readonly string[];
  /** Resources that do not run, as `logicalId (type)`, some with a reason. */
  readonly notRun: readonly string[];
}

const SECOND_MS = 1000;
const DEFAULT_RETENTION_S = 345_600;
const MAX_MESSAGE_BYTES = 1_048_576;

/** Names the resource if it does not run, or the imports from other stacks that a running one reads. */
function listed({ logicalId, type, runs, imports }: ResolvedResource): string[] {
  if (!runs) return SILENT_TYPES.has(type) ? [] : [`${logicalId} (${type})`];
  const foreign = `it reads what other stacks export: ${imports.join(', ')}`;
  return imports.length === 0 ? [] : [`${logicalId} (${type}: ${foreign})`];
}

/** Reads the typed model. @throws TemplateError for an invalid template */
export function readStackModel(template: ResolvedTemplate): StackModel {
  const resources = [...template.resources.values()];
  const ofType = (...types: string[]) => resources.filter((resource) => types.includes(resource.type));
  const notRun = resources.flatMap(listed);
  const orListed: OrListed = (resource, read) => {
    try {
      return [read()];
    } catch (error) {
      if (!(error instanceof NotRunHere)) throw error;
      notRun.push(`${resource.logicalId} (${resource.type}: ${error.reason})`);
      return [];
    }
  };
  const each = <Spec>(type: string, read: (resource: ResolvedResource) => Spec): Spec[] =>
    ofType(type).flatMap((resource) => orListed(resource, () => read(resource)));
  const queues = each('AWS::SQS::Queue', readQueue);
  const functions = each('AWS::Lambda::Function', (resource) => readFunction(resource, resources));
  const running = new Set([...queues, ...functions].map(({ arn }) => arn));
  const leftOut = ofType('AWS::SQS::Queue', 'AWS::Lambda::Function')
    .map((resource) =>
      resource.type === 'AWS::SQS::Queue'
        ? arnOf(resource, 'sqs', resource.physicalName)
        : functionArnOf(resource),
    )
    .filter((arn) => !running.has(arn));
  const rules = ofType('AWS::Events::Rule', 'AWS::Scheduler::Schedule').flatMap((resource) =>
    orListed(resource, () => readRule(resource)),
  );
  for (const rule of rules) {
    if (rule.scheduleExpression !== undefined && rule.everyMs === undefined) {
      notRun.push(
        `${rule.logicalId} (${rule.scheduleExpression}: only rate(…) runs by itself; trigger it by hand)`,
      );
    }
  }
  return {
    tables: ofType('AWS::DynamoDB::Table', 'AWS::DynamoDB::GlobalTable').map(readTable),
    queues,
    functions,
    mappings: each('AWS::Lambda::EventSourceMapping', (resource) => readMapping(resource, leftOut)),
    apis: readApis(resources, orListed),
    urls: each('AWS::Lambda::Url', readUrl),
    rules,
    buckets: withListenedTo(
      ofType('AWS::S3::Bucket').map((bucket) => readBucket(bucket, resources)),
      rules,
    ),
    busNames: [
      ...new Set([
        'default',
        ...ofType('AWS::Events::EventBus').map((resource) => resource.physicalName),
        ...rules.map(({ busName }) => busName),
      ]),
    ],
    notRun,
  };
}

/** The function's name in an ARN, in an API Gateway integration URI, or alone. */
export function functionNameOf(reference: string): string {
  return /function:([^:/]+)/.exec(reference)?.[1] ?? reference;
}

function readTable(resource: ResolvedResource): TableSpec {
  const properties = Properties.of(resource);
  const indexes = (name: string) =>
    properties.list(name).map((index) => {
      if (!isRecord(index)) throw new TemplateError(properties.path(name), 'a list of objects was expected');
      const { IndexName, KeySchema, Projection } = index;
      return { IndexName, KeySchema, Projection } as Record<string, Json>;
    });
  const creation: Record<string, Json> = {
    TableName: resource.physicalName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: properties.list('AttributeDefinitions'),
    KeySchema: properties.list('KeySchema'),
  };
  const globalIndexes = indexes('GlobalSecondaryIndexes');
  const localIndexes = indexes('LocalSecondaryIndexes');
  if (globalIndexes.length > 0) creation['GlobalSecondaryIndexes'] = globalIndexes;
  if (localIndexes.length > 0) creation['LocalSecondaryIndexes'] = localIndexes;
  const ttl = properties.optionalChild('TimeToLiveSpecification');
  const ttlAttribute = ttl?.flag('Enabled', true) === true ? ttl.optionalText('AttributeName') : undefined;
  return { logicalId: resource.logicalId, tableName: resource.physicalName, creation, ttlAttribute };
}

function readQueue(resource: ResolvedResource): QueueSpec {
  const properties = Properties.of(resource);
  if (properties.flag('FifoQueue', false)) {
    throw new NotRunHere(
      properties.path('FifoQueue'),
      'FIFO queues do not run locally; only standard queues do',
    );
  }
  const redrive = properties.optionalChild('RedrivePolicy');
  return {
    logicalId: resource.logicalId,
    queueName: resource.physicalName,
    arn: arnOf(resource, 'sqs', resource.physicalName),
    visibilityTimeoutMs: properties.number('VisibilityTimeout', 30) * SECOND_MS,
    delayMs: properties.number('DelaySeconds', 0) * SECOND_MS,
    retentionMs: properties.number('MessageRetentionPeriod', DEFAULT_RETENTION_S) * SECOND_MS,
    receiveWaitMs: properties.number('ReceiveMessageWaitTimeSeconds', 0) * SECOND_MS,
    maxMessageBytes: properties.number('MaximumMessageSize', MAX_MESSAGE_BYTES),
    redrive:
      redrive === undefined
        ? undefined
        : {
            targetArn: redrive.text('deadLetterTargetArn'),
            maxReceiveCount: redrive.number('maxReceiveCount', 10),
          },
  };
}

function readBucket(resource: ResolvedResource, all: readonly ResolvedResource[]): BucketSpec {
  const notifications = Properties.of(resource).child('NotificationConfiguration');
  const events = notifications.optionalChild('EventBridgeConfiguration');
  return {
    logicalId: resource.logicalId,
    bucketName: resource.ref,
    tellsEventBridge:
      events?.flag('EventBridgeEnabled', true) === true || all.some((one) => turnsOnEvents(one, resource)),
  };
}

/**
 * Whether a resource is the CDK's `eventBridgeEnabled` for a bucket. On AWS a Python function switches events
 * on; it does not run here, so they count as on.
 */
function turnsOnEvents({ type, properties }: ResolvedResource, bucket: ResolvedResource): boolean {
  if (type !== 'Custom::S3BucketNotifications') return false;
  const { BucketName: name, NotificationConfiguration: configuration } = properties;
  const { Ref } = Object(name) as { readonly Ref?: Json };
  return Ref === bucket.logicalId && isRecord(configuration) && 'EventBridgeConfiguration' in configuration;
}

/** Adds buckets outside the stack that a rule names, so that they exist here too, as buses do. */
function withListenedTo(own: readonly BucketSpec[], rules: readonly RuleSpec[]): BucketSpec[] {
  const names = rules.flatMap(({ pattern }) => {
    const { source, detail } = Object(pattern) as { readonly source?: Json; readonly detail?: Json };
    const { bucket } = Object(detail) as { readonly bucket?: Json };
    const { name } = Object(bucket) as { readonly name?: Json };
    const listens = Array.isArray(source) && source.includes('aws.s3') && Array.isArray(name);
    return listens ? name.filter((one) => typeof one === 'string') : [];
  });
  const known = new Set(own.map(({ bucketName }) => bucketName));
  const foreign = [...new Set(names)].filter((name) => !known.has(name));
  return [
    ...own,
    ...foreign.map((bucketName) => ({ logicalId: bucketName, bucketName, tellsEventBridge: true })),
  ];
}

function readFunction(resource: ResolvedResource, all: readonly ResolvedResource[]): FunctionSpec {
  const properties = Properties.of(resource);
  const runtime = properties.optionalText('Runtime') ?? '';
  if (!runtime.startsWith('nodejs')) {
    const got = runtime === '' ? (properties.optionalText('PackageType') ?? 'none') : runtime;
    throw new NotRunHere(properties.path('Runtime'), `${got} does not run locally; supported: nodejs*`);
  }
  const code = properties.child('Code');
  const inline = code.optionalText('ZipFile');
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(properties.child('Environment').raw('Variables') ?? {})) {
    environment[name] = String(value);
  }
  const hint = resource.metadata['aws:asset:path'];
  const invokeConfig = all.find(
    (other) =>
      other.type === 'AWS::Lambda::EventInvokeConfig' &&
      JSON.stringify(other.properties['FunctionName'] ?? '').includes(`"${resource.logicalId}"`),
  );
  const retries = new Properties(
    `${invokeConfig?.logicalId ?? ''}.Properties`,
    invokeConfig?.properties ?? {},
  );
  return {
    logicalId: resource.logicalId,
    functionName: resource.physicalName,
    arn: functionArnOf(resource),
    code: inline === undefined ? { objectKey: code.text('S3Key') } : { inline },
    assetHint: typeof hint === 'string' ? hint : undefined,
    handler: properties.optionalText('Handler') ?? 'index.handler',
    environment,
    timeoutMs: properties.number('Timeout', 3) * SECOND_MS,
    memoryMb: properties.number('MemorySize', 128),
    reservedConcurrency: properties.optionalNumber('ReservedConcurrentExecutions'),
    logGroupName:
      properties.child('LoggingConfig').optionalText('LogGroup') ?? `/aws/lambda/${resource.physicalName}`,
    logLevel: properties.child('LoggingConfig').optionalText('ApplicationLogLevel'),
    asyncRetries: retries.number('MaximumRetryAttempts', 2),
    asyncMaxAgeMs: retries.number('MaximumEventAgeInSeconds', 21_600) * SECOND_MS,
  };
}

function readUrl(resource: ResolvedResource): UrlSpec {
  const properties = Properties.of(resource);
  for (const name of ['Qualifier', 'Cors'])
    if (properties.raw(name) !== undefined)
      throw new NotRunHere(properties.path(name), `a function URL with ${name} does not run locally`);
  if (properties.optionalText('InvokeMode') === 'RESPONSE_STREAM')
    throw new NotRunHere(properties.path('InvokeMode'), 'answers in parts do not run locally; BUFFERED does');
  return {
    logicalId: resource.logicalId,
    functionName: functionNameOf(properties.text('TargetFunctionArn')),
    authorization: properties.text('AuthType') === 'NONE' ? 'NONE' : 'AWS_IAM',
  };
}

/** @param leftOut ARNs of resources in the stack that do not run here */
function readMapping(resource: ResolvedResource, leftOut: readonly string[]): MappingSpec {
  const properties = Properties.of(resource);
  const queueArn = properties.optionalText('EventSourceArn') ?? '';
  if (!queueArn.includes(':sqs:'))
    throw new NotRunHere(properties.path('EventSourceArn'), 'a source other than SQS');
  if (properties.optionalChild('FilterCriteria') !== undefined) {
    throw new NotRunHere(
      properties.path('FilterCriteria'),
      'event filters of an SQS source do not run locally',
    );
  }
  const functionName = functionNameOf(properties.text('FunctionName'));
  const missing = [queueArn, arnOf(resource, 'lambda', `function:${functionName}`)].find((arn) =>
    leftOut.includes(arn),
  );
  if (missing !== undefined)
    throw new NotRunHere(`${resource.logicalId}.Properties`, `${missing} does not run locally`);
  return {
    logicalId: resource.logicalId,
    queueArn,
    functionName,
    batchSize: properties.number('BatchSize', 10),
    windowMs: properties.number('MaximumBatchingWindowInSeconds', 0) * SECOND_MS,
    reportsItemFailures: properties.list('FunctionResponseTypes').includes('ReportBatchItemFailures'),
    maximumConcurrency: properties.child('ScalingConfig').optionalNumber('MaximumConcurrency'),
    enabled: properties.flag('Enabled', true),
  };
}

const functionArnOf = (resource: ResolvedResource): string =>
  arnOf(resource, 'lambda', `function:${resource.physicalName}`);

function arnOf(resource: ResolvedResource, service: string, path: string): string {
  const parts = resource.arnPlace;
  return `arn:aws:${service}:${parts.region}:${parts.accountId}:${path}`;
}
