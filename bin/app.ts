/** The CDK app: what is deployed, at which stages, and what starts it. `cdk deploy` and `npm start` make the same of it. */

import { RemovalPolicy } from 'aws-cdk-lib/core';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { orderFulfilment } from '../examples/order-fulfilment/workflow.ts';
import type { Steadfast } from '../lib/infra/steadfast.ts';
import { addSteadfast, createApp, exitWith } from '../lib/infra/synth.ts';

/** Workflow folders of the stack. Any others are a stack of their own: `-c steadfast:only=video-publishing`. */
const DEPLOYED = ['order-fulfilment'];

/** By `-c stage=…`, for each what differs from the defaults in lib/infra/steadfast-props.ts: alarms, keys, agents' networks. */
const STAGES = {
  dev: () => ({ removalPolicy: RemovalPolicy.DESTROY }),
  // Needs an account with 106 concurrent executions: of a new one's 10 none can be set aside.
  prod: () => ({ removalPolicy: RemovalPolicy.RETAIN, supervisorConcurrency: 6 }),
};

/** What starts orders beside the API. */
function addTriggers(steadfast: Steadfast): void {
  const buyer = { email: 'gallery@example.com', address: '1 Main Street' };

  // A picture that is dropped into the bucket is an order of one print of it.
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

  // Every night, frames for the next day.
  steadfast.triggerOnSchedule(ScheduleExpression.cron({ hour: '2', minute: '0' }), orderFulfilment, {
    input: {
      orderId: { $concat: ['frames-', '$.time'] },
      items: [{ sku: 'frame', quantity: 20 }],
      total: 18_000,
      ...buyer,
    },
  });
}

const app = createApp();
const { steadfast } = await addSteadfast(app, { deployed: DEPLOYED, stages: STAGES }).catch(exitWith);
if (steadfast.deploys(orderFulfilment)) addTriggers(steadfast);
app.synth();
