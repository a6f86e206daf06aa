/**
 * The template of a deployment at rest switches off all that runs by itself, so that it starts, claims,
 * sweeps and audits nothing.
 */

import { type IVpc, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { Duration, Stack } from 'aws-cdk-lib/core';
import { ENV } from '../../lib/aws/names.ts';
import { SteadfastStack } from '../../lib/infra/steadfast-stack.ts';
import { FOUND } from './fixture.ts';
import { makeApp, Reader, type Resource } from './template.ts';

const [pay, ship, mail] = FOUND.agents;

/**
 * A stack with every kind of trigger, agents in functions and in a container, and more supervisors than one
 * rule starts.
 */
function everything(atRest: boolean): Reader {
  const app = makeApp();
  const vpc = new Vpc(new Stack(app, 'Net'), 'Vpc', { maxAzs: 2 }) as IVpc;
  const stack = new SteadfastStack(app, 'Test', {
    workflows: { ...FOUND, agents: [{ ...pay!, runsIn: 'container' as const }, ship!, mail!] },
    tuning: { supervisors: 8, wakeShards: 8 },
    atRest,
    canary: Duration.minutes(5),
    agentSettings: { pay: { container: { vpc } } },
  });
  const { steadfast } = stack;
  steadfast.triggerOnObjectCreated(new Bucket(stack, 'In'), 'report', { input: {} });
  steadfast.triggerOnEvent({ source: ['shop'] }, 'report', { name: 'sold', input: {} });
  steadfast.triggerOnSchedule(ScheduleExpression.rate(Duration.days(1)), 'report', { input: {} });
  steadfast.startQueue('order');
  return new Reader(stack);
}

/** For each resource type that runs or delivers by itself, whether a resource is off. */
const IS_OFF: Readonly<Record<string, (properties: Resource['Properties']) => boolean>> = {
  'AWS::Events::Rule': ({ State }) => State === 'DISABLED',
  'AWS::Lambda::EventSourceMapping': ({ Enabled }) => Enabled === false,
  'AWS::ECS::Service': ({ DesiredCount }) => DesiredCount === 0,
  'AWS::ApplicationAutoScaling::ScalableTarget': ({ MaxCapacity }) => MaxCapacity === 0,
  // Schedules stay on: they fill queues that nobody reads meanwhile, so no start is lost.
  'AWS::Scheduler::Schedule': () => false,
};
/** Types that start nothing by themselves. New types of the template must be listed here or above. */
const STILL =
  /^AWS::(IAM|Logs|CloudWatch|SNS|DynamoDB|KMS|S3|EC2|ECR)::|^AWS::(SQS::Queue(Policy)?|Lambda::(Function|Permission|EventInvokeConfig)|ApiGatewayV2::(Api|Route|Integration|Authorizer|Stage)|Events::EventBus|ECS::(Cluster|TaskDefinition)|Scheduler::ScheduleGroup|ApplicationAutoScaling::ScalingPolicy)$/;

const resting = everything(true);
const onOf = (reader: Reader): string[] =>
  reader.all
    .filter((one) => IS_OFF[one.Type]?.(one.Properties) === false)
    .map(({ Type, id }) => `${Type} ${id}`);

test('nothing in the template is of a type of which nobody has said whether it runs by itself', () => {
  const types = new Set(resting.all.map(({ Type }) => Type));
  expect([...types].filter((type) => !STILL.test(type) && IS_OFF[type] === undefined)).toEqual([]);
});

test('what fills the queues of triggers alone goes on', () => {
  const on = onOf(resting).map((line) =>
    line.replace(/ (Steadfast)?(Triggers)?/, ' ').replace(/[0-9A-F]{8}$/, ''),
  );
  expect(on.filter((line) => !/^AWS::(Scheduler::Schedule|Events::Rule) /.test(line))).toEqual([]);
  // Only the object's and the event's triggers keep their rules on, not the supervisors and the audit.
  expect(on.filter((line) => line.startsWith('AWS::Events::Rule'))).toHaveLength(2);
});

test('the API knows, and without the setting all is on', () => {
  const variables = (reader: Reader): string =>
    JSON.stringify(reader.ofType('AWS::Lambda::Function').map(({ Properties }) => Properties['Environment']));
  expect(variables(resting)).toContain(ENV.atRest);
  const working = everything(false);
  expect(variables(working)).not.toContain(ENV.atRest);
  const kinds = Object.keys(IS_OFF);
  expect(onOf(working)).toHaveLength(working.all.filter(({ Type }) => kinds.includes(Type)).length);
});
