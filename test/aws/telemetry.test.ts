/** Log lines have the keys of Powertools, and fields of one attempt are in no other attempt's lines. */

import type { Context } from 'aws-lambda';
import { createMeter, METRICS_OF_NOTES } from '../../lib/aws/metrics.ts';
import { metering } from '../../lib/aws/invocation.ts';
import type { Telemetry } from '../../lib/aws/ports.ts';
import { attemptLog, serviceLogger, tellAll } from '../../lib/aws/telemetry.ts';
import { linesOf } from './lines.ts';

const CONTEXT = {
  awsRequestId: 'request-1',
  functionName: 'pay',
  functionVersion: '$LATEST',
  invokedFunctionArn: 'arn:aws:lambda:eu-central-1:1:function:pay',
  memoryLimitInMB: '384',
} as unknown as Context;
const IN_CONTEXT = {
  function_name: 'pay',
  function_request_id: 'request-1',
  cold_start: expect.any(Boolean),
};

const FIELDS = { role: 'agent', agent: 'pay' };
const aTelemetry = (): Telemetry => ({
  logger: serviceLogger(FIELDS),
  meter: createMeter({ deployment: 'd', fields: FIELDS }),
});
const ABOUT = { executionId: 'e-1', step: 'charge', attempt: 2, mode: 'execute' } as const;

const variables = { ...process.env };
afterEach(() => {
  process.env = { ...variables };
});

test('a line of an invocation has its function, its request and its correlation id', async () => {
  const telemetry = aTelemetry();
  const lines = await linesOf(() =>
    metering(telemetry, CONTEXT, async () => telemetry.logger.warn('odd'), 'gateway-1'),
  );
  expect(lines).toEqual([
    expect.objectContaining({ message: 'odd', ...FIELDS, ...IN_CONTEXT, correlation_id: 'gateway-1' }),
  ]);
});

test('the correlation id of a line about an execution is the execution, whichever request it belongs to', async () => {
  const telemetry = aTelemetry();
  const log = tellAll(telemetry.logger);
  const lines = await linesOf(() =>
    metering(
      telemetry,
      CONTEXT,
      async () => log.note({ what: 'lease-ended', executionId: 'e-1' }),
      'gateway-1',
    ),
  );
  expect(lines).toEqual([expect.objectContaining({ executionId: 'e-1', correlation_id: 'e-1' })]);
});

test.each([
  ['step-failed', 'ERROR'],
  ['step-retrying', 'WARN'],
  ['lease-ended', 'WARN'],
  ['value-lost', 'WARN'],
])('%s has its level, its code and its message, cut and printable', async (what, level) => {
  const failure = { code: 'declined\u001b[2J', message: `no\n${'x'.repeat(400)}` };
  const lines = await linesOf(async () =>
    tellAll(aTelemetry().logger).note({ what, executionId: 'e-1', step: 's', failure }),
  );
  const said = { code: 'declined\\u001b[2J', failure: `no\\u000a${'x'.repeat(297)}` };
  expect(lines).toEqual([expect.objectContaining({ level, message: what, ...said })]);
});

describe('what an agent logs in an attempt', () => {
  test('is a line whatever it is', async () => {
    let deep: object = {};
    for (let level = 0; level < 20_000; level += 1) deep = { deep };
    const get = (): never => {
      throw unreadable;
    };
    const unreadable = new Error('x');
    Object.defineProperties(unreadable, { name: { get }, message: { get } });
    const lines = await linesOf(async () => {
      const { info } = attemptLog(aTelemetry().logger, ABOUT);
      for (const message of [null, undefined, Symbol('s'), { of: 1 }]) info(message as never);
      for (const fields of [unreadable, null, 'text', [10n], deep]) info('fields', fields as never);
    });
    const texts = ['null', 'undefined', 'Symbol(s)', '{ of: 1 }'];
    expect(lines.map(({ message }) => message)).toEqual([...texts, ...Array<string>(5).fill('fields')]);
    expect(lines.at(-1)).toHaveProperty('shown');
  });

  test('has the attempt, the function, and what the agent adds', async () => {
    const telemetry = aTelemetry();
    const lines = await linesOf(() =>
      metering(telemetry, CONTEXT, async () => {
        const { info, error } = attemptLog(telemetry.logger, ABOUT);
        info('charging', { cents: 5 });
        error('no answer', new Error('hung up'));
      }),
    );
    const every = { ...ABOUT, ...FIELDS, ...IN_CONTEXT, correlation_id: 'e-1' };
    expect(lines).toEqual([
      expect.objectContaining({ ...every, level: 'INFO', message: 'charging', cents: 5 }),
      expect.objectContaining({
        ...every,
        level: 'ERROR',
        message: 'no answer',
        error: expect.objectContaining({ message: 'hung up' }),
      }),
    ]);
  });

  test('is in no line of another attempt of the same invocation, nor in the role’s own', async () => {
    const telemetry = aTelemetry();
    const lines = await linesOf(() =>
      metering(telemetry, CONTEXT, async () => {
        const one = attemptLog(telemetry.logger, ABOUT);
        attemptLog(telemetry.logger, { ...ABOUT, executionId: 'e-2' }).info('other');
        one.info('one');
        telemetry.logger.info('own');
      }),
    );
    expect(lines.map(({ message, executionId }) => [message, executionId])).toEqual([
      ['other', 'e-2'],
      ['one', 'e-1'],
      ['own', undefined],
    ]);
  });

  test('is written from the level on that Powertools’ variable says, under the service’s name', async () => {
    Object.assign(process.env, { POWERTOOLS_LOG_LEVEL: 'DEBUG', POWERTOOLS_SERVICE_NAME: 'shop' });
    const shown = await linesOf(() => attemptLog(serviceLogger(FIELDS), ABOUT).debug('detail'));
    expect(shown).toEqual([expect.objectContaining({ message: 'detail', level: 'DEBUG', service: 'shop' })]);
    process.env['POWERTOOLS_LOG_LEVEL'] = 'ERROR';
    expect(await linesOf(() => attemptLog(serviceLogger(FIELDS), ABOUT).warn('detail'))).toEqual([]);
  });
});

test('a large value that is gone counts for the alarm of records that cannot be read', () => {
  expect(METRICS_OF_NOTES['value-lost']?.({ what: 'value-lost' })).toEqual({ RecordsUnaudited: 1 });
});
