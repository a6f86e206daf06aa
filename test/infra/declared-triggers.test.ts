/** A trigger declared beside its workflow and one declared in the stack give the same template. */

import { EventBus, type IEventBus } from 'aws-cdk-lib/aws-events';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { type Stack, TimeZone } from 'aws-cdk-lib/core';
import {
  type DeclaredTrigger,
  onEvent,
  onMessage,
  onObjectCreated,
  onSchedule,
} from '../../lib/author/triggers/trigger-declaration.ts';
import type { Steadfast } from '../../lib/infra/steadfast.ts';
import type { SteadfastStack } from '../../lib/infra/steadfast-stack.ts';
import { FOUND } from './fixture.ts';
import { makeStack, Reader } from './template.ts';

/** Workflows that accept any input. */
const report = { name: 'report', input: { '~standard': {} } } as const;

const found = (...triggers: readonly DeclaredTrigger[]) => ({
  ...FOUND,
  triggers: triggers.map((trigger, at) => ({
    file: 'workflows/report/triggers.ts',
    exportName: `t${at}`,
    trigger,
  })),
});
const sourcesOf = (stack: Stack) => ({
  buckets: { uploads: new Bucket(stack, 'Uploads') },
  eventBuses: { shop: EventBus.fromEventBusName(stack, 'Shop', 'shop') as IEventBus },
});

const input = { key: '$.detail.object.key' } as const;
const all = [
  onObjectCreated(report, { bucket: 'uploads', prefix: 'in/', suffix: '.csv', input }),
  onEvent(report, {
    bus: 'shop',
    pattern: { source: ['shop'], detailType: ['Sold'], detail: { total: [{ numeric: ['>', 100] }] } },
    input: '$.detail',
    maxConcurrency: 5,
  }),
  onEvent(report, { name: 'own-bus', pattern: { source: ['aws.health'] }, input: '$.detail' }),
  onSchedule(report, {
    schedule: 'cron(0 6 * * ? *)',
    timeZone: 'Europe/Berlin',
    input: { day: '$.time' },
  }),
  onMessage(report, { name: 'intake', idempotencyKey: '$.body.id' }),
];

function addThemselves({ triggers }: Steadfast, { buckets, eventBuses }: ReturnType<typeof sourcesOf>): void {
  triggers.onObjectCreated(buckets.uploads, 'report', { prefix: 'in/', suffix: '.csv', input });
  triggers.onEvent(
    { source: ['shop'], detailType: ['Sold'], detail: { total: [{ numeric: ['>', 100] }] } },
    'report',
    { eventBus: eventBuses.shop, input: '$.detail', maxConcurrency: 5 },
  );
  triggers.onEvent({ source: ['aws.health'] }, 'report', { name: 'own-bus', input: '$.detail' });
  const schedule = ScheduleExpression.expression('cron(0 6 * * ? *)', TimeZone.EUROPE_BERLIN);
  triggers.onSchedule(schedule, 'report', { input: { day: '$.time' } });
  triggers.onMessage('report', { name: 'intake', idempotencyKey: '$.body.id' });
}

const templateOf = (stack: SteadfastStack): unknown => new Reader(stack).template.toJSON();

test('all four kinds give the template of those that a stack adds itself', () => {
  const beside = makeStack({ workflows: found(...all), settings: sourcesOf });
  let sources: ReturnType<typeof sourcesOf> | undefined;
  const own = makeStack({
    settings: (stack) => {
      sources = sourcesOf(stack);
      return sources;
    },
  });
  addThemselves(own.steadfast, sources!);
  expect(templateOf(beside)).toEqual(templateOf(own));
  expect([...beside.steadfast.triggers.all.keys()]).toHaveLength(all.length);
});

test('a stack has one by its name, to let others send to it', () => {
  const { steadfast } = makeStack({ workflows: found(onMessage(report, { name: 'intake' })) });
  expect(steadfast.trigger('intake').workflowName).toBe('report');
  expect(() => steadfast.trigger('other')).toThrow("no trigger is named 'other'; there are intake");
  expect(() => makeStack().steadfast.trigger('other')).toThrow("no trigger is named 'other'; there are none");
});

test('its mapping is held against the input of the workflow, as far as that is known', () => {
  const text = { type: 'string' };
  const schema = {
    type: 'object',
    properties: {
      morning: text,
      by: { type: 'object', properties: { id: text }, additionalProperties: false },
      open: {},
    },
    additionalProperties: false,
  };
  const make = (given: object) => {
    const { workflows, ...rest } = found(
      onSchedule(report, { schedule: 'rate(1 day)', input: given as never }),
    );
    const known = workflows.map((one) => ({ ...one, input: { schema, required: ['morning'] } }));
    return () => makeStack({ workflows: { ...rest, workflows: known } });
  };
  const at = "workflows/report/triggers.ts, t0: trigger 'report-schedule': ";
  expect(make({ mornign: '$.time', morning: 'x' })).toThrow(
    `${at}input.mornign does not exist: input has morning, by, open; did you mean input.morning?`,
  );
  expect(make({ by: { name: '$.time' } })).toThrow(
    `${at}input.by.name does not exist: input.by has id; input.morning is required, and left out`,
  );
  expect(
    make({ morning: { $concat: ['on ', '$.time'] }, by: { id: '$.time' }, open: { any: 1 } }),
  ).not.toThrow();
});

const refused = (...triggers: readonly DeclaredTrigger[]) =>
  expect(() => makeStack({ workflows: found(...triggers), settings: sourcesOf }));

describe('is refused with its file and its export', () => {
  const at = 'workflows/report/triggers.ts, t0: ';
  it.each<[string, DeclaredTrigger, string]>([
    [
      'a bucket that the stack does not know',
      onObjectCreated(report, { bucket: 'upload', input }),
      `${at}it listens to 'upload', which the stack does not define: new Steadfast(…, { buckets: { "upload": … } }); there are uploads`,
    ],
    [
      'a bus that the stack does not know',
      onEvent(report, { bus: 'constructor', pattern: {}, input: {} }),
      `${at}it listens to 'constructor', which the stack does not define: new Steadfast(…, { eventBuses: { "constructor": … } }); there are shop`,
    ],
    [
      'cron with five fields',
      onSchedule(report, { schedule: 'cron(0 2 * * *)', input: {} }),
      `${at}schedule is 'cron(0 2 * * *)'; allowed: rate(5 minutes)`,
    ],
    [
      'a path that no event has',
      onSchedule(report, { schedule: 'rate(1 day)', input: { day: '$.date' } }),
      `${at}trigger 'report-schedule': input.day: '$.date' is not in events of this kind`,
    ],
    [
      'a workflow that is not deployed',
      onMessage({ ...report, name: 'else' }),
      `${at}a trigger starts 'else', which is not a workflow of this deployment`,
    ],
  ])('%s', (_, trigger, message) => {
    refused(trigger).toThrow(message);
  });

  it('two of one name', () => {
    refused(onMessage(report), onMessage(report)).toThrow(
      "workflows/report/triggers.ts, t1: two triggers are named 'report-queue'; give one of them another name",
    );
  });
});
