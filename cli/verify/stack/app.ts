/**
 * The CDK app of `steadfast verify --throwaway` and `--local`: a stack that can be deleted completely.
 *
 * Owns: the resources that the checks need besides a Steadfast: a table of effects, a queue of announced
 * ends, a subscriber of the alarms. Does not own: the workflows (`workflows/proof/`).
 */

import { join, relative } from 'node:path';
import { AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { SqsSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { App, CfnOutput, Duration, RemovalPolicy, Tags } from 'aws-cdk-lib/core';
import { discoverWorkflows } from '../../../lib/infra/discover.ts';
import { SteadfastStack } from '../../../lib/infra/steadfast-stack.ts';

const app = new App({ analyticsReporting: false });
const name = String(app.node.tryGetContext('steadfast:verifyStack') ?? 'Steadfast-verify');
// Relative to the working directory, because the package's own folder may be read-only.
const root = process.cwd();
const folders = [relative(root, join(import.meta.dirname, 'workflows'))];
const workflows = await discoverWorkflows({ root, folders });
const stack = new SteadfastStack(app, name, {
  workflows,
  removalPolicy: RemovalPolicy.DESTROY,
  agentConcurrency: 2,
  canary: Duration.minutes(1),
});
Tags.of(stack).add('steadfast:verify', name);

const effects = new Table(stack, 'Effects', {
  partitionKey: { name: 'key', type: AttributeType.STRING },
  sortKey: { name: 'id', type: AttributeType.STRING },
  billingMode: BillingMode.PAY_PER_REQUEST,
  removalPolicy: RemovalPolicy.DESTROY,
});
const { steadfast } = stack;
for (const acting of ['verify-act', 'verify-closed']) {
  const agent = steadfast.agent(acting);
  effects.grant(agent, 'dynamodb:PutItem', 'dynamodb:Query', 'dynamodb:DeleteItem');
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
steadfast.monitoring?.topic.addSubscription(new SqsSubscription(news('Alarms')));

const outputs = {
  VerifyEffects: effects.tableName,
  VerifyEnds: ends.queueUrl,
  VerifyRequests: steadfast.trigger('verify-requests').queue.queueUrl,
};
Object.entries(outputs).map(([id, value]) => new CfnOutput(stack, id, { value }));
app.synth();
