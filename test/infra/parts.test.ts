/** Everything that runs or delivers by itself is found by its tags, so that `steadfast quiesce` stops it. */

import { type IVpc, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { Duration, Stack } from 'aws-cdk-lib/core';
import { PARTS, TAGS } from '../../lib/aws/names.ts';
import { SteadfastStack } from '../../lib/infra/steadfast-stack.ts';
import { FOUND } from './fixture.ts';
import { makeApp, Reader, type Resource } from './template.ts';

const [pay, ship, mail] = FOUND.agents;

/** Every kind of trigger, agents in functions and in a container, more supervisors than one rule starts. */
function everything(): Reader {
  const app = makeApp();
  const vpc = new Vpc(new Stack(app, 'Net'), 'Vpc', { maxAzs: 2 }) as IVpc;
  const stack = new SteadfastStack(app, 'Test', {
    workflows: { ...FOUND, agents: [{ ...pay!, runsIn: 'container' as const }, ship!, mail!] },
    supervisors: 8,
    wakeShards: 8,
    agentSettings: { pay: { container: { vpc } } },
  });
  const { steadfast } = stack;
  steadfast.triggerOnObjectCreated(new Bucket(stack, 'In'), 'report', { input: {} });
  steadfast.triggerOnEvent({ source: ['shop'] }, 'report', { name: 'sold', input: {} });
  steadfast.triggerOnSchedule(ScheduleExpression.rate(Duration.days(1)), 'report', { input: {} });
  steadfast.startQueue('order');
  return new Reader(stack);
}

const reader = everything();

/** Tags are a list in most types, and an object in the others. */
function tagsOf({ Properties }: Resource): Record<string, string> {
  const tags = (Properties['Tags'] ?? {}) as { Key: string; Value: string }[] | Record<string, string>;
  return Array.isArray(tags) ? Object.fromEntries(tags.map(({ Key, Value }) => [Key, Value])) : tags;
}
const partOf = (resource: Resource): string | undefined => tagsOf(resource)[TAGS.part];
const byId = (reference: unknown): Resource | undefined => {
  const { Ref, 'Fn::GetAtt': attribute } = reference as { Ref?: string; 'Fn::GetAtt'?: [string] };
  return reader.all.find(({ id }) => id === (Ref ?? attribute?.[0]));
};

/** What delivers or runs by itself: by its type, by what it is found by, and what that must be. */
const BY_ITSELF: Readonly<Record<string, (resource: Resource) => Resource | undefined>> = {
  'AWS::Events::Rule': (rule) => rule,
  'AWS::Lambda::EventSourceMapping': (mapping) => byId(mapping.Properties['EventSourceArn']),
  'AWS::ECS::Service': (service) => service,
  'AWS::Scheduler::Schedule': (schedule) => byId(schedule.Properties['GroupName']),
  'AWS::ApiGatewayV2::Stage': (stage) => stage,
};
/** Types that start nothing by themselves: what is new in the template has to be put here or above. */
const STILL =
  /^AWS::(IAM|Logs|CloudWatch|SNS|DynamoDB|KMS|S3|EC2|ECR)::|^AWS::(SQS::Queue(Policy)?|Lambda::(Function|Permission|EventInvokeConfig)|ApiGatewayV2::(Api|Route|Integration|Authorizer)|Events::EventBus|ECS::(Cluster|TaskDefinition)|Scheduler::ScheduleGroup)$/;

test('nothing in the template is of a type of which nobody has said whether it runs by itself', () => {
  const types = new Set(reader.all.map(({ Type }) => Type));
  expect([...types].filter((type) => !STILL.test(type) && BY_ITSELF[type] === undefined)).toEqual([]);
});

test('whatever delivers or runs by itself is found by its tags, or by those of what holds it', () => {
  const found = reader.all.flatMap((resource) => {
    const holder = BY_ITSELF[resource.Type];
    if (holder === undefined) return [];
    const tags = tagsOf(holder(resource) ?? resource);
    return [`${resource.id} ${tags[TAGS.stack]} ${PARTS.some((part) => part === tags[TAGS.part])}`];
  });
  expect(found.filter((line) => !line.endsWith(' Test true'))).toEqual([]);
  const count = (type: string): number => reader.ofType(type).length;
  expect(Object.keys(BY_ITSELF).map((type) => [type, count(type) > 0])).toEqual(
    Object.keys(BY_ITSELF).map((type) => [type, true]),
  );
});

test('each part is what it is', () => {
  const of = (part: string): string[] =>
    reader.all
      .filter((resource) => partOf(resource) === part)
      .map(({ Type, Metadata }) => `${Type} ${Metadata?.['aws:cdk:path']?.replace(/^Test\/Steadfast\//, '')}`)
      .sort((a, b) => a.localeCompare(b));
  expect(Object.fromEntries(PARTS.map((part) => [part, of(part)]))).toMatchInlineSnapshot(`
{
  "agent": [
    "AWS::ECS::Service Agents/pay/Container/Service/Service",
    "AWS::SQS::Queue Agents/mail/Queue/Resource",
    "AWS::SQS::Queue Agents/pay/Queue/Resource",
    "AWS::SQS::Queue Agents/ship/Queue/Resource",
    "AWS::SQS::Queue Agents/steadfast-bulk/Queue/Resource",
  ],
  "api": [
    "AWS::ApiGatewayV2::Stage Scheduler/Api/Stage/Resource",
    "AWS::Lambda::Function Scheduler/Function/Resource",
  ],
  "audit": [
    "AWS::Events::Rule Audit/Run/Resource",
    "AWS::Lambda::Function Audit/Function/Resource",
  ],
  "logs": [
    "AWS::Logs::LogGroup Agents/mail/Logs/Resource",
    "AWS::Logs::LogGroup Agents/pay/Container/Logs/Resource",
    "AWS::Logs::LogGroup Agents/ship/Logs/Resource",
    "AWS::Logs::LogGroup Agents/steadfast-bulk/Logs/Resource",
    "AWS::Logs::LogGroup Audit/Logs/Resource",
    "AWS::Logs::LogGroup Scheduler/Logs/Resource",
    "AWS::Logs::LogGroup Supervisor/Logs/Resource",
    "AWS::Logs::LogGroup Triggers/order-queue/Logs/Resource",
    "AWS::Logs::LogGroup Triggers/report-object-created/Logs/Resource",
    "AWS::Logs::LogGroup Triggers/report-schedule/Logs/Resource",
    "AWS::Logs::LogGroup Triggers/sold/Logs/Resource",
  ],
  "source": [
    "AWS::Events::Rule Triggers/report-object-created/Rule/Resource",
    "AWS::Events::Rule Triggers/sold/Rule/Resource",
    "AWS::Scheduler::ScheduleGroup Triggers/Schedules",
  ],
  "supervisor": [
    "AWS::Events::Rule Supervisor/Tick/Resource",
    "AWS::Events::Rule Supervisor/Tick2/Resource",
    "AWS::Events::Rule WakeUps/Rule/Resource",
    "AWS::Lambda::Function Supervisor/Function/Resource",
  ],
  "trigger": [
    "AWS::SQS::Queue Triggers/order-queue/Queue/Resource",
    "AWS::SQS::Queue Triggers/report-object-created/Queue/Resource",
    "AWS::SQS::Queue Triggers/report-schedule/Queue/Resource",
    "AWS::SQS::Queue Triggers/sold/Queue/Resource",
  ],
}
`);
});

test('no dead-letter queue is a part: who reads one is not stopped', () => {
  const letters = reader.ofType('AWS::SQS::Queue').filter(({ id }) => id.includes('DeadLetter'));
  // One of each trigger, and one of all agents.
  expect(letters).toHaveLength(5);
  expect(letters.filter((queue) => partOf(queue) !== undefined)).toEqual([]);
});
