/**
 * `bin/app.ts` as `cdk deploy` runs it: the resources of the stack, their names, and the triggers of its
 * workflow.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { orderFulfilment } from '../../examples/order-fulfilment/workflow.ts';
import { BUNDLES } from '../../lib/aws/names.ts';
import { parseTrigger, startOf } from '../../lib/scheduler/trigger.ts';
import { appAssembly, makeApps } from '../e2e/assembly.ts';
import { project } from './fixture.ts';
import { type Resource, statementsIn } from './template.ts';

interface Synthesised {
  readonly assembly: string;
  readonly stacks: readonly string[];
  readonly ofType: (type: string) => readonly Resource[];
}

const withoutCode = { 'aws:cdk:bundling-stacks': [] };
const CONTEXTS = {
  prod: { ...withoutCode, stage: 'prod' },
  'password-reset': { ...withoutCode, 'steadfast:only': 'password-reset', stage: 'prod' },
  'etl-from-s3': { ...withoutCode, 'steadfast:only': 'etl-from-s3' },
};
const folders = Object.fromEntries(Object.keys(CONTEXTS).map((name) => [name, project()]));
beforeAll(() =>
  makeApps(Object.fromEntries(Object.entries(CONTEXTS).map(([name, context]) => [folders[name], context]))),
);
const synthesised = (name: keyof typeof CONTEXTS): Synthesised => readIn(folders[name] ?? '');

function readIn(assembly: string): Synthesised {
  const templates = readdirSync(assembly).filter((file) => file.endsWith('.template.json'));
  const resources = templates.flatMap((file) => {
    const { Resources } = JSON.parse(readFileSync(join(assembly, file), 'utf8')) as {
      Resources: Record<string, Omit<Resource, 'id'>>;
    };
    return Object.entries(Resources).map(([id, resource]) => ({ id, ...resource }));
  });
  const stacks = templates.map((file) => file.slice(0, -'.template.json'.length));
  return { assembly, stacks, ofType: (type) => resources.filter(({ Type }) => Type === type) };
}

interface Scaling {
  readonly MaximumConcurrency: number;
}

const agentsIn = ({ ofType }: Synthesised): string[] =>
  ofType('AWS::SQS::Queue').flatMap(
    ({ Properties }) => String(Properties['QueueName'] ?? '').split('_')[1] ?? [],
  );
/** The descriptions of the functions that do an author's work. */
const functionsOfAgents = ({ ofType }: Synthesised): string[] =>
  ofType('AWS::Lambda::Function')
    .map(({ Properties }) => String(Properties['Description']))
    .filter((text) => text.startsWith('Steadfast agent') && !text.includes('steadfast-'));
const EVENTS: Readonly<Record<string, object>> = {
  'order-fulfilment-object-created': {
    detail: {
      bucket: { name: 'pictures' },
      object: { key: 'harbour.jpg', size: 1_024, etag: 'e', sequencer: '0055AED6DCD90281E5' },
    },
  },
  'order-fulfilment-event': {
    id: 'e-1',
    source: 'shop',
    'detail-type': 'Cart Checked Out',
    detail: {
      orderId: 'cart-1',
      email: 'ada@customers.example',
      address: '1 Harbour Street',
      items: [{ sku: 'lighthouse', quantity: 1 }],
      total: 4_200,
    },
  },
  'order-fulfilment-schedule': { time: '2026-11-22T02:00:00Z', schedule: 'arn:aws:scheduler:…' },
};

test('the default is one example with a bucket, an event, a schedule and its outside world, for a new account', async () => {
  const app = readIn(await appAssembly());
  expect(app.stacks).toEqual(['Steadfast-dev']);
  expect(agentsIn(app).sort()).toEqual([
    'authorise-card',
    'charge-card',
    'notify-customer',
    'reserve-stock',
    'schedule-shipping',
    'steadfast-bulk',
  ]);
  expect(app.ofType('AWS::S3::Bucket').filter(({ id }) => !id.startsWith('Steadfast'))).toHaveLength(1);
  expect(app.ofType('AWS::Scheduler::Schedule')).toHaveLength(1);
  const ofObjects = app
    .ofType('AWS::Events::Rule')
    .filter(({ Properties }) => JSON.stringify(Properties['EventPattern'] ?? {}).includes('"aws.s3"'));
  expect(ofObjects).toHaveLength(1);
  const ofEvents = app
    .ofType('AWS::Events::Rule')
    .filter(({ Properties }) => JSON.stringify(Properties['EventPattern'] ?? {}).includes('"shop"'));
  expect(ofEvents.map(({ Properties }) => Properties['EventBusName'])).toEqual([undefined]);
  expect(app.ofType('AWS::Lambda::Url')).toHaveLength(1);
  expect(functionsOfAgents(app)).toEqual([
    'Steadfast agents charge-card, reserve-stock, schedule-shipping, notify-customer, authorise-card',
  ]);
  // The fewest of ten executions that a mapping may have.
  const mappings = app.ofType('AWS::Lambda::EventSourceMapping').map(({ Properties }) => Properties);
  expect(mappings.length).toBe(9);
  expect(mappings.filter(({ ScalingConfig }) => (ScalingConfig as Scaling).MaximumConcurrency !== 2)).toEqual(
    [],
  );
  const functions = app.ofType('AWS::Lambda::Function');
  expect(functions.filter(({ Properties }) => 'ReservedConcurrentExecutions' in Properties)).toEqual([]);

  const [deployment = '', ...others] = readdirSync(join(app.assembly, BUNDLES));
  expect(others).toEqual([]);
  const triggers = join(app.assembly, BUNDLES, deployment, 'triggers');
  const names = readdirSync(triggers).filter((name) => !name.endsWith('.json'));
  expect(names.sort()).toEqual(Object.keys(EVENTS).sort());
  for (const name of names) {
    const trigger = parseTrigger(readFileSync(join(triggers, name, 'trigger.json'), 'utf8'));
    const message = { id: 'm', body: JSON.stringify(EVENTS[name]), attributes: {} };
    const { input } = startOf(trigger, message);
    const checked = await orderFulfilment.input['~standard'].validate(input);
    expect([trigger.workflow, checked.issues]).toEqual([orderFulfilment.name, undefined]);
  }
});

test('prod brings no outside world, and its schedule is off', () => {
  const app = synthesised('prod');
  expect(functionsOfAgents(app)).toHaveLength(1);
  expect(app.ofType('AWS::Lambda::Url')).toEqual([]);
  expect(app.ofType('AWS::DynamoDB::GlobalTable')).toHaveLength(1);
  const schedules = app.ofType('AWS::Scheduler::Schedule').map(({ Properties }) => Properties['State']);
  expect(schedules).toEqual(['DISABLED']);
});

test('examples by name are a stack of their own, without what starts the other', () => {
  const app = synthesised('password-reset');
  expect(app.stacks).toEqual(['Steadfast-prod-password-reset']);
  expect(agentsIn(app)).not.toContain('charge-card');
  expect(app.ofType('AWS::Scheduler::Schedule')).toEqual([]);
  expect(app.ofType('AWS::DynamoDB::GlobalTable')[0]?.DeletionPolicy).toBe('Retain');
  const reserved = app
    .ofType('AWS::Lambda::Function')
    .flatMap(({ Properties }) => Properties['ReservedConcurrentExecutions'] ?? []);
  expect(reserved).toEqual([6]);
});

test('an example that reads objects is allowed those of its bucket, each agent what it needs', () => {
  const app = synthesised('etl-from-s3');
  expect(functionsOfAgents(app).length).toBeGreaterThan(1);
  expect(app.ofType('AWS::S3::Bucket').map(({ id }) => id)).toEqual([
    expect.stringMatching(/^SteadfastValues/),
    expect.stringMatching(/^Drop/),
  ]);
  const objects = ['incoming/*', 'work/*'];
  const granted = app.ofType('AWS::IAM::Policy').flatMap((policy) => {
    const { id } = policy;
    const [, agent = ''] = /^SteadfastAgents([a-z]+)/.exec(id) ?? [];
    const own = statementsIn(policy).filter(({ Resource }) => !JSON.stringify(Resource).includes('Values'));
    const text = JSON.stringify(own);
    const keys = objects.filter((pattern) => text.includes(`"/${pattern}"`));
    return keys.length === 0 ? [] : [[agent, keys, text.includes('s3:PutObject')] as const];
  });
  const byAgent = Object.fromEntries(granted.map(([agent, ...what]) => [agent, what]));
  expect(byAgent).toEqual({
    extractobject: [objects, true],
    loadrows: [['work/*'], false],
    transformbyline: [['work/*'], true],
    transformfile: [['work/*'], true],
  });
});
