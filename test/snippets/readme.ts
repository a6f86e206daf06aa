/**
 * The code of README, first project and author's reference, each piece with the code around it that it needs.
 */

import { blockWith, type Files, namedBlocks, read } from './blocks.ts';

const readme = read('README.md');
const firstProject = read('docs/FIRST-PROJECT.md');
const GUIDE = [
  'WORKFLOWS',
  'WRITING-AGENTS',
  'WHEN-IT-FAILS',
  'PARTS-THAT-FAIL',
  'AFTER-A-FAILURE',
  'WAITING',
  'LISTS',
  'CONCURRENCY',
] as const;
const guide = GUIDE.map((page) => read(`docs/${page}.md`)).join('\n');

/** The files of the first project. */
export const firstFiles: Files = new Map(namedBlocks(firstProject));

export const FOLDER = 'workflows/first-greeting';
const INFRA = '../../../../lib/infra';
/** Code that comes before the pieces. */
const orderWorkflow = `import { askPerson, retry, workflow } from 'steadfast';
import * as z from 'zod/mini';
import { chargeCard, notifyCustomer, reserveStock, scheduleShipping } from '../../../../examples/order-fulfilment/workflow.ts';
const Text = z.string().check(z.minLength(1));
const items = z.array(z.object({ sku: Text, quantity: z.int() }));
const Order = z.object({ orderId: Text, email: Text, address: Text, items, total: z.int() });
${blockWith(readme, 'orderFulfilment = ')}`;
const handler = `import { done, notDone } from 'steadfast';
import { chargeCard } from '../../../../examples/order-fulfilment/workflow.ts';
const charged = { chargeId: '' };
const payments = {
  charge: (_key: string, amount: number) => Promise.resolve({ ...charged, amount }),
  find: (key: string) => Promise.resolve(key === '' ? notDone() : done(charged)),
  refund: (_key: string) => Promise.resolve(),
};
${blockWith(readme, 'chargeCard.handler')}`;
const triggers = (block: string): string => `import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import type { IEventBus } from 'aws-cdk-lib/aws-events';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Stack } from 'aws-cdk-lib/core';
import type { Discovery } from '${INFRA}/discovery.ts';
import { Steadfast } from '${INFRA}/steadfast.ts';
declare const stack: Stack;
declare const workflows: Discovery;
declare const steadfast: Steadfast;
declare const uploads: Bucket;
declare const shopBus: IEventBus;
declare const shop: IGrantable;
export const uses = [ScheduleExpression, Steadfast, stack, workflows, steadfast, uploads, shopBus, shop];
${block}`;

/** A reader's own stack with this line. */
const stack = (block: string): string => `import { CorsHttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Stack } from 'aws-cdk-lib/core';
import { Steadfast, Workflows } from 'steadfast/cdk';
declare const secret: Secret;
declare const uploads: Bucket;
export const uses = [CorsHttpMethod, HttpJwtAuthorizer, secret, uploads];
export class Orders extends Stack {
  make(): void {
    ${block}
  }
}`;
const client = (block: string): string =>
  `import type { firstGreeting as helloGreeting } from './workflow.ts';
${block.replace(/^import type \{ helloGreeting.*$/m, '')}
export const answer = { status, output };`;
/** A test of an agent that replaces the existing one. */
const killed = (block: string): string => `import { testWorkflow } from 'steadfast/testing';
import { handler } from './agents/deliver-greeting.ts';
import { deliverGreeting as reserveSeat, firstGreeting as helloGreeting } from './workflow.ts';
const agents = [handler];
declare const boxOffice: { readonly seats: () => readonly { readonly key: string }[] };
${block}`;
/** Two lines that need a builder, with the agents that they use. */
const lines = `import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';
const Host = z.object({ host: z.string() });
const deploy = agent('deploy', { input: Host, output: Host, effect: 'idempotent' });
const deployHost = workflow('deploy-host', { input: Host, within: '1h' }, (w) => {
  w.step('deploy', deploy, { host: w.input.host });
});
const Hosts = z.object({ hosts: z.array(z.string()) });
export const fleet = workflow('fleet', { input: Hosts, within: '5d' }, (w) => {
  const { hosts } = w.input;
  ${blockWith(guide, 'deployHost, hosts')}
  return { total: rollout.output.total };
});`;
/** A workflow with each kind of waiting step in docs/WAITING.md and docs/LISTS.md. */
const waiting = `import { agent, exists, required, retry, workflow } from 'steadfast';
import * as z from 'zod/mini';
const performs = <const I extends z.ZodMiniObject>(name: string, input: I) =>
  agent(name, { input, output: z.null(), effect: 'idempotent', undo: 'none' });
const sendMail = performs('send-mail', z.object({ to: z.string() }));
const askBank = performs('ask-bank', z.object({ order: z.string(), answerTo: z.string() }));
const payOut = performs('pay-out', z.object({ amount: z.number() }));
const packItem = performs('pack-item', z.object({ sku: z.string(), place: z.number() }));
const payment = workflow('payment', { input: z.object({ order: z.string() }), within: '2d' }, (w) => {
  w.step('ask', askBank, { order: w.input.order, answerTo: 'nobody' });
});
const Order = z.object({
  orderId: z.string(),
  email: z.string(),
  amount: z.number(),
  skus: z.array(z.string()),
  notBefore: z.optional(z.iso.datetime({ offset: true })),
});
export const delivery = workflow('delivery', { input: Order, within: '14d' }, (w) => {
  ${blockWith(guide, "w.wait('rest'")}
  ${blockWith(guide, "w.callback('paid'")}
  ${blockWith(guide, "w.approval('release'")}
  ${blockWith(guide, "w.child('pay'")}
  ${blockWith(guide, "w.map('pack'")}
  return { packed: pack.output.total, by: check.output.by, pay: pay.output, amount: paid.output.amount };
});`;
const others = {
  'order.ts': orderWorkflow,
  'handler.ts': handler,
  'environment.ts': stack(blockWith(firstProject, 'BOX_OFFICE_URL')),
  'browser.ts': stack(blockWith(firstProject, 'allowOrigins')),
  'killed.ts': killed(blockWith(firstProject, 'boxOffice')),
  'client.ts': client(blockWith(firstProject, 'createClient')),
  'trigger-calls.ts': triggers(blockWith(read('docs/TRIGGERS.md'), 'triggerOnEvent')),
  'trigger-sources.ts': triggers(blockWith(read('docs/TRIGGERS.md'), 'eventBuses')),
  // Jest knows only the file's own extension.
  'triggers.ts': blockWith(read('docs/TRIGGERS.md'), 'onSchedule').replace('workflow.js', 'workflow.ts'),
  'webhooks.ts': blockWith(read('docs/TRIGGERS.md'), 'export const pushed').replace(
    'workflow.js',
    'workflow.ts',
  ),
  'answers.ts': `import { onWebhook, type SignedBy, type Workflow } from 'steadfast';
declare const order: Workflow<object>;
declare const verify: SignedBy;
${blockWith(read('docs/TRIGGERS.md'), 'export const decided')}`,
  'dev.ts': blockWith(guide, 'startDev'),
  'failures.ts': blockWith(guide, 'bookCourier'),
  'waiting.ts': waiting,
  'rounds.ts': blockWith(guide, 'export const pages'),
  'remote.ts': blockWith(read('docs/AGENTS-ELSEWHERE.md'), 'PARCELS_TOKEN'),
  'tolerated.ts': blockWith(guide, 'export const holiday'),
  'in-time.ts': blockWith(guide, 'export const trailer'),
  'groups.ts': blockWith(guide, 'export const launch'),
  'on-failure.ts': blockWith(guide, 'export const purchase'),
  'lines.ts': lines,
};

export const readmeFiles: Files = new Map([
  ...firstFiles,
  ...Object.entries(others).map(([name, content]): [string, string] => [`${FOLDER}/${name}`, content]),
]);
