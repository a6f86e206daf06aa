/**
 * Knows `Ref`, `Fn::GetAtt` and physical names for each resource type that runs locally. Does not own:
 * evaluating intrinsics, running resources.
 *
 * Invariants
 * - I1 a physical name depends only on the stack name, the logical id and the name property, so that a
 *   second start finds the data of the first.
 */
import { createHash } from 'node:crypto';
import type { Json } from './json.ts';

/** The stack's account and region, and the addresses of the local servers. */
export interface StackPlace {
  readonly stackName: string;
  readonly region: string;
  readonly accountId: string;
  /** Address of the AWS gateway (queue URLs start with it), without a trailing slash. */
  readonly gatewayUrl: string;
  /** Address of the HTTP API with this logical id, without a trailing slash. */
  readonly apiUrl: (logicalId: string) => string;
  /** Address of the function URL with this logical id, without a trailing slash. */
  readonly functionUrl: (logicalId: string) => string;
}

/** A resource of which only the name is known yet. */
export interface NamedResource {
  readonly logicalId: string;
  readonly physicalName: string;
}

/** How one resource type behaves in the template. */
export interface ResourceType {
  /** The property with an explicit name, if the type has one. */
  readonly nameProperty?: string;
  readonly maxNameLength?: number;
  readonly ref: (resource: NamedResource, place: StackPlace) => string;
  readonly attributes: Readonly<Record<string, (resource: NamedResource, place: StackPlace) => Json>>;
}

const arn =
  (service: string, path: (name: string) => string) => (resource: NamedResource, place: StackPlace) =>
    `arn:aws:${service}:${place.region}:${place.accountId}:${path(resource.physicalName)}`;
const byName = (resource: NamedResource) => resource.physicalName;
const queueUrl = (resource: NamedResource, place: StackPlace) =>
  `${place.gatewayUrl}/${place.accountId}/${resource.physicalName}`;

const TABLE: ResourceType = {
  nameProperty: 'TableName',
  ref: byName,
  attributes: {
    Arn: arn('dynamodb', (name) => `table/${name}`),
    StreamArn: arn('dynamodb', (name) => `table/${name}/stream/2000-01-01T00:00:00.000`),
    TableId: byName,
  },
};

/** The address of a function: `https://<id>.lambda-url.<region>.on.aws/` */
const functionUrl = (resource: NamedResource, place: StackPlace) =>
  `${place.functionUrl(resource.logicalId)}/`;

const bucketName = (resource: NamedResource): string => resource.physicalName.toLowerCase();

/** The ARN of an IAM resource, which has no region. */
const globalArn = (path: (name: string) => string) => (resource: NamedResource, place: StackPlace) =>
  `arn:aws:iam::${place.accountId}:${path(resource.physicalName)}`;
const managedPolicyArn = globalArn((name) => `policy/${name}`);
/** A policy is resolved and enforced; no resource refers to it. */
const POLICY: ResourceType = { ref: byName, attributes: { Id: byName } };

/** The resource types the local cloud runs. Everything else is kept as an inert name. */
export const RUN_TYPES: Readonly<Record<string, ResourceType>> = {
  'AWS::DynamoDB::Table': TABLE,
  'AWS::DynamoDB::GlobalTable': TABLE,
  'AWS::SQS::Queue': {
    nameProperty: 'QueueName',
    maxNameLength: 80,
    ref: queueUrl,
    attributes: { Arn: arn('sqs', (name) => name), QueueName: byName, QueueUrl: queueUrl },
  },
  'AWS::Lambda::Function': {
    nameProperty: 'FunctionName',
    maxNameLength: 64,
    ref: byName,
    attributes: { Arn: arn('lambda', (name) => `function:${name}`) },
  },
  'AWS::Lambda::EventSourceMapping': {
    ref: byName,
    attributes: {
      Id: byName,
      EventSourceMappingArn: arn('lambda', (name) => `event-source-mapping:${name}`),
    },
  },
  // Only the name: the function's ARN, which AWS returns, is not known at this point, and no resource refers
  // to it.
  'AWS::Lambda::Url': { ref: byName, attributes: { FunctionUrl: functionUrl } },
  'AWS::ApiGatewayV2::Api': {
    ref: (resource) => apiId(resource.logicalId),
    attributes: {
      ApiId: (resource) => apiId(resource.logicalId),
      ApiEndpoint: (resource, place) => place.apiUrl(resource.logicalId),
    },
  },
  'AWS::ApiGatewayV2::Route': { ref: byName, attributes: { RouteId: byName } },
  'AWS::ApiGatewayV2::Integration': { ref: byName, attributes: { IntegrationId: byName } },
  'AWS::ApiGatewayV2::Stage': { nameProperty: 'StageName', ref: byName, attributes: {} },
  'AWS::Events::Rule': {
    nameProperty: 'Name',
    maxNameLength: 64,
    ref: byName,
    attributes: { Arn: arn('events', (name) => `rule/${name}`) },
  },
  'AWS::Events::EventBus': {
    nameProperty: 'Name',
    ref: byName,
    attributes: { Arn: arn('events', (name) => `event-bus/${name}`), Name: byName },
  },
  'AWS::Scheduler::Schedule': {
    nameProperty: 'Name',
    maxNameLength: 64,
    ref: byName,
    attributes: { Arn: arn('scheduler', (name) => `schedule/default/${name}`) },
  },
  'AWS::Scheduler::ScheduleGroup': {
    nameProperty: 'Name',
    maxNameLength: 64,
    ref: byName,
    attributes: { Arn: arn('scheduler', (name) => `schedule-group/${name}`) },
  },
  'AWS::ECS::TaskDefinition': {
    nameProperty: 'Family',
    ref: arn('ecs', (name) => `task-definition/${name}:1`),
    attributes: { TaskDefinitionArn: arn('ecs', (name) => `task-definition/${name}:1`) },
  },
  'AWS::IAM::Role': {
    nameProperty: 'RoleName',
    maxNameLength: 64,
    ref: byName,
    attributes: { Arn: globalArn((name) => `role/${name}`), RoleId: byName },
  },
  'AWS::IAM::ManagedPolicy': {
    nameProperty: 'ManagedPolicyName',
    maxNameLength: 128,
    ref: managedPolicyArn,
    attributes: { PolicyArn: managedPolicyArn },
  },
  'AWS::IAM::Policy': POLICY,
  'AWS::IAM::RolePolicy': POLICY,
  'AWS::Lambda::Permission': POLICY,
  'AWS::SQS::QueuePolicy': POLICY,
  'AWS::Events::EventBusPolicy': POLICY,
  'AWS::S3::BucketPolicy': POLICY,
  'AWS::S3::Bucket': {
    nameProperty: 'BucketName',
    maxNameLength: 63,
    // Bucket names have only lower-case letters.
    ref: bucketName,
    attributes: {
      Arn: (resource) => `arn:aws:s3:::${bucketName(resource)}`,
      DomainName: (resource) => `${bucketName(resource)}.s3.amazonaws.com`,
      RegionalDomainName: (resource, { region }) => `${bucketName(resource)}.s3.${region}.amazonaws.com`,
    },
  },
  // A log group is only a name for policies; functions write to files.
  'AWS::Logs::LogGroup': {
    nameProperty: 'LogGroupName',
    maxNameLength: 512,
    ref: byName,
    attributes: { Arn: arn('logs', (name) => `log-group:${name}:*`) },
  },
};

/** Alarms and their topics, which run if their form is supported (`../alarms/alarms.ts`). */
export const ALARM_TYPES: ReadonlySet<string> = new Set(['AWS::CloudWatch::Alarm', 'AWS::SNS::Subscription']);

/**
 * Types that the start does not list as "not run": they configure other resources, or have no effect here.
 */
export const SILENT_TYPES: ReadonlySet<string> = new Set([
  'AWS::Lambda::EventInvokeConfig',
  'AWS::Lambda::Version',
  'AWS::Lambda::Alias',
  ...ALARM_TYPES,
  'AWS::CloudWatch::Dashboard',
  'AWS::Logs::QueryDefinition',
  'AWS::SNS::Topic',
  'AWS::SNS::TopicPolicy',
  'AWS::CDK::Metadata',
]);

/** An attribute of a resource that does not run: a plausible value that cannot be used. */
export function inertAttribute(
  type: string,
  resource: NamedResource,
  attribute: string,
  place: StackPlace,
): Json {
  const service = (type.split('::')[1] ?? 'custom').toLowerCase();
  if (/arn$/i.test(attribute)) {
    return `arn:aws:${service}:${place.region}:${place.accountId}:${resource.physicalName}`;
  }
  return `${resource.physicalName}.${attribute}`;
}

/** `<stack>-<logicalId>`, shortened to the type's limit with a hash, so that two long names differ. */
export function physicalNameOf(stackName: string, logicalId: string, maxLength = 255): string {
  const whole = `${stackName}-${logicalId}`;
  if (whole.length <= maxLength) return whole;
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, 8);
  return `${whole.slice(0, maxLength - 9)}-${hash}`;
}

/**
 * An API's id in AWS's form (ten lower-case letters and digits), derived from the logical id so that outputs
 * are stable.
 */
export function apiId(logicalId: string): string {
  return createHash('sha256').update(logicalId).digest('hex').slice(0, 10);
}
