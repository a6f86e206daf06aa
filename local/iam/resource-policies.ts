/**
 * Reads the resource policies in a template: queues, buses, tables, buckets, functions
 * (`AWS::Lambda::Permission`), and the trust of roles. Pure.
 */
import { isRecord, type Json } from '../template/json.ts';
import type { ResolvedResource } from '../template/template.ts';
import { readStatement, readStatements, type Statement } from './statement.ts';

export interface ResourcePolicy {
  /** Whether it applies to a resource: the one it is attached to, or one inside it. */
  readonly covers: (resource: string) => boolean;
  readonly statements: readonly Statement[];
}

/** Every resource policy of a stack. @throws TemplateError */
export function readResourcePolicies(resources: readonly ResolvedResource[]): ResourcePolicy[] {
  return resources.flatMap((resource) => READERS[resource.type]?.(resource) ?? []);
}

const on = (arn: string, statements: readonly Statement[]): ResourcePolicy => ({
  // A table's indexes, a bucket's objects, a function's versions.
  covers: (resource) => resource === arn || resource.startsWith(`${arn}/`) || resource.startsWith(`${arn}:`),
  statements,
});

type Reader = (resource: ResolvedResource) => ResourcePolicy[];

const READERS: Readonly<Record<string, Reader>> = {
  'AWS::SQS::QueuePolicy': (resource) => {
    const statements = documentOf(resource, 'PolicyDocument');
    return texts(resource.properties['Queues']).map((url) =>
      on(arnOf(resource, 'sqs', url.slice(url.lastIndexOf('/') + 1)), statements),
    );
  },
  'AWS::S3::BucketPolicy': (resource) => [
    on(`arn:aws:s3:::${String(resource.properties['Bucket'])}`, documentOf(resource, 'PolicyDocument')),
  ],
  'AWS::Events::EventBus': (resource) => {
    if (resource.properties['Policy'] === undefined) return [];
    const bus = arnOf(resource, 'events', `event-bus/${resource.physicalName}`);
    return [on(bus, documentOf(resource, 'Policy'))];
  },
  'AWS::Events::EventBusPolicy': (resource) => {
    const { Statement: statement, Action, Principal, EventBusName } = resource.properties;
    const bus = arnOf(resource, 'events', `event-bus/${String(EventBusName ?? 'default')}`);
    // The older form has one action and one account.
    const written = statement ?? {
      Effect: 'Allow',
      Action: Action ?? '',
      Principal: { AWS: Principal ?? '' },
    };
    return [on(bus, [readStatement(written, resource.logicalId, bus)])];
  },
  'AWS::DynamoDB::Table': (resource) => {
    const policy = resource.properties['ResourcePolicy'];
    if (!isRecord(policy)) return [];
    const table = arnOf(resource, 'dynamodb', `table/${resource.physicalName}`);
    return [on(table, readStatements(policy['PolicyDocument'], `${resource.logicalId}.ResourcePolicy`))];
  },
  'AWS::IAM::Role': (resource) => {
    const role = `arn:aws:iam::${resource.arnPlace.accountId}:role/${resource.physicalName}`;
    const place = `${resource.logicalId}.AssumeRolePolicyDocument`;
    return [on(role, readStatements(resource.properties['AssumeRolePolicyDocument'], place, role))];
  },
  'AWS::Lambda::Permission': (resource) => [lambdaPermission(resource)],
};

/** Reads CloudFormation's short form of one statement in a function's policy. */
function lambdaPermission(resource: ResolvedResource): ResourcePolicy {
  const { Action, Principal, FunctionName, SourceArn, SourceAccount, ...rest } = resource.properties;
  const name = /function:([^:]+)/.exec(String(FunctionName))?.[1] ?? String(FunctionName);
  const target = arnOf(resource, 'lambda', `function:${name}`);
  const principal = String(Principal);
  const condition: Record<string, Json> = {
    ...(SourceArn === undefined ? {} : { ArnLike: { 'aws:SourceArn': SourceArn } }),
    ...(SourceAccount === undefined ? {} : { StringEquals: { 'aws:SourceAccount': SourceAccount } }),
  };
  // Turns these into conditions on unknown keys, so that they refuse with their name and are not ignored.
  for (const key of ['PrincipalOrgID', 'EventSourceToken', 'FunctionUrlAuthType']) {
    const value = rest[key];
    if (value !== undefined) condition[`StringEqualsOf${key}`] = { [key]: value };
  }
  const statement: Json = {
    Effect: 'Allow',
    Action: Action ?? '',
    Principal: principal.includes('.') ? { Service: principal } : { AWS: principal },
    Resource: target,
    Condition: condition,
  };
  return on(target, [readStatement(statement, resource.logicalId)]);
}

const documentOf = (resource: ResolvedResource, property: string): Statement[] =>
  readStatements(resource.properties[property], resource.logicalId);

const arnOf = ({ arnPlace }: ResolvedResource, service: string, path: string): string =>
  `arn:aws:${service}:${arnPlace.region}:${arnPlace.accountId}:${path}`;

const texts = (value: Json | undefined): string[] => (Array.isArray(value) ? value.map(String) : []);
