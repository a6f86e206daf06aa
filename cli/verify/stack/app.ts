/**
 * The CDK app of `steadfast verify --throwaway` and `--local`: one stack that goes without a trace.
 *
 * Owns: what the checks need beside a Steadfast: a table of effects, a queue for each kind of news, the role
 * that ends faults. Does not own: the workflows (`workflows/proof/`).
 */

import { join, relative } from 'node:path';
import { CorsHttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import { AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { SqsSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { App, ArnFormat, CfnOutput, Duration, RemovalPolicy, Tags } from 'aws-cdk-lib/core';
import { discoverWorkflows } from '../../../lib/infra/discover.ts';
import { SteadfastStack } from '../../../lib/infra/steadfast-stack.ts';

const app = new App({ analyticsReporting: false });
const name = String(app.node.tryGetContext('steadfast:verifyStack') ?? 'Steadfast-verify');
// From the working directory: the package's own folder may be read-only.
const root = process.cwd();
const folders = [relative(root, join(import.meta.dirname, 'workflows'))];
const workflows = await discoverWorkflows({ root, folders });
const restoredTable: unknown = app.node.tryGetContext('steadfast:restoredTable');
const stack = new SteadfastStack(app, name, {
  workflows,
  ...(typeof restoredTable === 'string' ? { restoredTable } : {}),
  removalPolicy: RemovalPolicy.DESTROY,
  agentConcurrency: 2,
  canary: Duration.minutes(1),
  cors: { allowOrigins: ['https://verify.example'], allowMethods: [CorsHttpMethod.GET] },
});
Tags.of(stack).add('steadfast:verify', name);

const effects = new Table(stack, 'Effects', {
  partitionKey: { name: 'key', type: AttributeType.STRING },
  sortKey: { name: 'id', type: AttributeType.STRING },
  billingMode: BillingMode.PAY_PER_REQUEST,
  removalPolicy: RemovalPolicy.DESTROY,
});
const { steadfast } = stack;
for (const acting of ['verify-act', 'verify-alone', 'verify-closed']) {
  const agent = steadfast.agent(acting);
  effects.grant(agent, 'dynamodb:PutItem', 'dynamodb:Query', 'dynamodb:DeleteItem', 'dynamodb:GetItem');
  if (agent.function instanceof LambdaFunction)
    agent.function.addEnvironment('VERIFY_EFFECTS', effects.tableName);
}

const news = (id: string): Queue =>
  new Queue(stack, id, { enforceSSL: true, removalPolicy: RemovalPolicy.DESTROY });
const ends = news('Ends');
const onEnd = new Rule(stack, 'OnEnd', {
  eventBus: steadfast.eventBus,
  eventPattern: { source: ['steadfast'], detailType: ['Steadfast Execution Ended'] },
});
onEnd.addTarget(new SqsQueue(ends));
const alarms = news('Alarms');
steadfast.monitoring?.topic.addSubscription(new SqsSubscription(alarms));

/** The process that makes a fault may die: a schedule ends the fault with this role. */
const ender = new Role(stack, 'Ender', {
  assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
    conditions: { StringEquals: { 'aws:SourceAccount': stack.account } },
  }),
});
/** By reference: of a long name of a stack CloudFormation keeps a part in the names of what is in it. */
const nodes = stack.node.findAll();
const functions = nodes
  .filter((node) => node instanceof LambdaFunction)
  .map(({ functionArn }) => functionArn);
const rules = nodes.filter((node) => node instanceof Rule).map(({ ruleArn }) => ruleArn);
const mappings = stack.formatArn({
  service: 'lambda',
  resource: 'event-source-mapping',
  resourceName: '*',
  arnFormat: ArnFormat.COLON_RESOURCE_NAME,
});
const rights: readonly (readonly [actions: readonly string[], on: readonly string[], conditions?: object])[] =
  [
    [['lambda:PutFunctionConcurrency', 'lambda:DeleteFunctionConcurrency'], functions],
    [['events:EnableRule', 'events:DisableRule'], rules],
    [['lambda:UpdateEventSourceMapping'], [mappings], { ArnLike: { 'lambda:FunctionArn': functions } }],
  ];
for (const [actions, on, conditions = {}] of rights)
  ender.addToPolicy(
    new PolicyStatement({
      actions: [...actions],
      resources: [...on],
      conditions: conditions as Record<string, unknown>,
    }),
  );

const outputs = {
  VerifyEnder: ender.roleArn,
  VerifyEffects: effects.tableName,
  VerifyEnds: ends.queueUrl,
  VerifyAlarms: alarms.queueUrl,
  VerifyRequests: steadfast.trigger('verify-requests').queue.queueUrl,
};
Object.entries(outputs).map(([id, value]) => new CfnOutput(stack, id, { value }));
app.synth();
