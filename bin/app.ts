/** The CDK app: what is deployed, at which stages, and what starts it. `cdk deploy` and `npm start` make the same of it. */

import { RemovalPolicy } from 'aws-cdk-lib/core';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { orderFulfilment } from '../examples/order-fulfilment/workflow.ts';
import type { Steadfast } from '../lib/infra/steadfast.ts';
import { SteadfastStack } from '../lib/infra/steadfast-stack.ts';
import { createApp, exitWith, stackAskedFor } from '../lib/infra/synth.ts';

/** Workflow folders of the stack. Any others are a stack of their own: `-c steadfast:only=video-publishing`. */
const DEPLOYED = ['order-fulfilment'];

/** Settings of each `-c stage=…` that differ from the defaults in lib/infra/steadfast-props.ts: alarms, keys, agents' networks. */
const STAGES = {
  dev: () => ({ removalPolicy: RemovalPolicy.DESTROY }),
  // Needs an account with 106 concurrent executions: a new account has 10, of which none can be set aside.
  prod: () => ({ removalPolicy: RemovalPolicy.RETAIN, supervisorConcurrency: 6 }),
};

/** Starts orders beside the API: a bucket and a schedule. */
function addTriggers(steadfast: Steadfast): void {
  const buyer = { email: 'gallery@example.com', address: '1 Main Street' };

  // A picture that is put into the bucket orders one print of it.
  const pictures = new Bucket(steadfast, 'Pictures', { enforceSSL: true });
  steadfast.triggerOnObjectCreated(pictures, orderFulfilment, {
    suffix: '.jpg',
    input: {
      orderId: { $concat: ['print-', '$.detail.object.sequencer'] },
      items: [{ sku: '$.detail.object.key', quantity: 1 }],
      total: 1_900,
      ...buyer,
    },
  });

  // Every night, frames are ordered for the next day.
  steadfast.triggerOnSchedule(ScheduleExpression.cron({ hour: '2', minute: '0' }), orderFulfilment, {
    input: {
      orderId: { $concat: ['frames-', '$.time'] },
      items: [{ sku: 'frame', quantity: 20 }],
      total: 18_000,
      ...buyer,
    },
  });
}

try {
  const app = createApp();
  const { name, props } = await stackAskedFor(app, { deployed: DEPLOYED, stages: STAGES });
  const { steadfast } = new SteadfastStack(app, name, props);
  if (steadfast.deploys(orderFulfilment)) addTriggers(steadfast);
  app.synth();
} catch (error) {
  exitWith(error);
}
