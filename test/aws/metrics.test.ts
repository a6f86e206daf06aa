import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import type { Context } from 'aws-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { createMeter, METRICS_OF_NOTES, type Meter } from '../../lib/aws/metrics.ts';
import { FORM, type Item } from '../../lib/aws/dynamo-items.ts';
import { type DetailBy, ENV, METRICS, WAKE_EVENT } from '../../lib/aws/names.ts';
import { serviceLogger, tellAll } from '../../lib/aws/telemetry.ts';
import { STEP_STATUSES } from '../../lib/core/moves.ts';
import { auditHandler } from '../../lib/supervisor/audit-handler.ts';
import { supervisorHandler } from '../../lib/supervisor/handler.ts';
import { OpenGauge } from '../../lib/aws/open-now.ts';
import { type Line, linesOf } from './lines.ts';

const openBreakerOf = (agent: string) => ({
  pk: { S: `agent#${agent}` },
  sk: { S: 'breaker' },
  ...FORM,
  json: { S: JSON.stringify({ agent, openedAt: 1, openUntil: 2 }) },
});

const TICK = { getRemainingTimeInMillis: () => 5_000, awsRequestId: 'r' } as unknown as Context;

/** The item of a due execution that is gone when it is read. */
const dueItem = (at: number) => ({
  pk: { S: `exec#due-${at}` },
  sk: { S: 'exec' },
  wakeShard: { S: '0' },
  wakeAt: { N: '1' },
});

const aMeter = (): Meter => createMeter({ deployment: 'd', fields: { role: 'agent', agent: 'pay' } });
const flushed = (act: (meter: Meter) => void): Promise<Line[]> =>
  linesOf(() => {
    const meter = aMeter();
    act(meter);
    meter.flush();
  });

describe('the figures of an invocation', () => {
  test('leave out the built-in workflows and agents', async () => {
    const lines = await flushed((meter) => {
      const own = { workflow: 'steadfast-bulk' };
      meter.note({ what: 'started', executionId: 'e' }, own);
      meter.note({ what: 'claimed', executionId: 'e', agent: 'steadfast-bulk' }, own);
    });
    expect(lines).toEqual([]);
  });

  test('are one line with one dimension, and the agent as a field', async () => {
    const lines = await flushed((meter) => {
      meter.note({ what: 'claimed', executionId: 'e', step: 's', attempt: 2, detail: 'execute', ms: 40 });
      meter.note({ what: 'step-done', executionId: 'e', step: 's', attempt: 2, ms: 900 });
    });
    expect(lines).toEqual([
      {
        _aws: {
          Timestamp: expect.any(Number),
          CloudWatchMetrics: [
            { Namespace: 'Steadfast', Dimensions: [['service']], Metrics: expect.any(Array) },
          ],
        },
        service: 'd',
        role: 'agent',
        agent: 'pay',
        TimeToClaim: 40,
        Attempts: 1,
        Retries: 1,
        StepsDone: 1,
        TimeToRecover: 900,
      },
    ]);
  });

  test('are not written if there are none', async () => {
    expect(await flushed((meter) => meter.note({ what: 'message-dropped' }))).toEqual([]);
  });

  test.each([
    ['execute', { LeasesLost: 1, Unknowns: 1 }],
    ['probe', { LeasesLost: 1 }],
  ])('of a lost lease: an outcome is unknown if it was to %s', async (detail, figures) => {
    const [line] = await flushed((meter) => meter.note({ what: 'lease-ended', detail, ms: 5 }));
    const names = line!._aws.CloudWatchMetrics[0].Metrics.map(({ Name }) => Name);
    expect(names.sort()).toEqual([...Object.keys(figures), 'TimeToDetect'].sort());
    expect(line).toMatchObject({ ...figures, TimeToDetect: 5 });
  });

  test('are never negative, whatever the clocks of two machines say', async () => {
    const [line] = await flushed((meter) => meter.note({ what: 'claimed', detail: 'probe', ms: -3 }));
    expect(line).toMatchObject({ TimeToClaim: 0, Probes: 1 });
  });
});

describe('the figures by workflow and by agent', () => {
  const notes = (meter: Meter): void => {
    const of = { workflow: 'order' };
    meter.note({ what: 'started', detail: 'order' }, of);
    meter.note({ what: 'claimed', detail: 'execute', attempt: 2, ms: 4 }, of);
    meter.note({ what: 'succeeded' }, { ...of, lastedMs: 900 });
    meter.note({ what: 'lease-ended', detail: 'execute', agent: 'ship', ms: 7 }, { workflow: 'refund' });
  };
  const detailed = (...by: readonly DetailBy[]): Promise<Line[]> =>
    linesOf(() => {
      const fields = { role: 'agent', agent: 'pay' };
      const meter = createMeter({ deployment: 'd', fields, by: new Set(by) });
      notes(meter);
      meter.flush();
    });
  /** The lines with this dimension, without the line of the whole deployment. */
  const own = (lines: readonly Line[], dimension: string) =>
    lines
      .filter(({ _aws }) => _aws.CloudWatchMetrics[0].Dimensions[0]?.includes(dimension))
      .map(({ _aws, ...fields }) => fields);

  test('are lines of their own, each with one dimension more, only where they are asked for', async () => {
    expect(await detailed()).toHaveLength(1);
    expect(own(await detailed('workflow', 'agent'), 'workflow')).toEqual([
      { service: 'd', workflow: 'order', Started: 1, Retries: 1, Succeeded: 1, Duration: 900 },
      { service: 'd', workflow: 'refund', TimeToDetect: 7 },
    ]);
    // The function's agent, unless the note names another.
    expect(own(await detailed('agent'), 'agent')).toEqual([
      { service: 'd', agent: 'pay', Attempts: 1, Retries: 1, TimeToClaim: 4 },
      { service: 'd', agent: 'ship', TimeToDetect: 7 },
    ]);
    expect(own(await detailed('agent'), 'workflow')).toEqual([]);
  });
});

test('every metric that has a name is emitted, and no other', async () => {
  const lines = await flushed((meter) => {
    for (const what of Object.keys(METRICS_OF_NOTES)) {
      for (const detail of ['execute', 'probe', 'undo']) meter.note({ what, detail, attempt: 2, ms: 1 });
    }
    meter.note({ what: 'succeeded', executionId: 'e' }, { workflow: 'steadfast-canary' });
    meter.swept({ made: 1, oldestOverdueMs: 0, failed: 1 });
    meter.open({ incidents: 0, entries: 0, breakers: 0 });
    meter.audited({ removed: 1, ageMs: 0 });
  });
  const names = lines.flatMap(({ _aws }) => _aws.CloudWatchMetrics[0].Metrics.map(({ Name }) => Name));
  expect(names.sort()).toEqual(Object.keys(METRICS).sort());
});

test('every note that is a figure is one that is made', () => {
  const lib = join(import.meta.dirname, '..', '..', 'lib');
  const code = ['core', 'engine', 'scheduler', 'agent', 'supervisor']
    .map((folder) => join(lib, folder))
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
    )
    // The only note that no role makes.
    .concat(join(lib, 'aws', 'clock-skew.ts'))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const composed: Readonly<Record<string, readonly string[]>> = {
    '`step-${': STEP_STATUSES.map((status) => `step-${status}`),
    '`incident-${': ['resolved', 'timed-out']
      .filter((end) => code.includes(`'${end}'`))
      .map((end) => `incident-${end}`),
  };
  const made = Object.entries(composed).flatMap(([start, notes]) => (code.includes(start) ? notes : []));
  expect(
    Object.keys(METRICS_OF_NOTES).filter((what) => !made.includes(what) && !code.includes(`'${what}'`)),
  ).toEqual([]);
});

test('a count of none is not written, for CloudWatch charges for each metric that is', async () => {
  const [line] = await flushed((meter) => {
    meter.swept({ made: 2, oldestOverdueMs: 0, failed: 0 });
    meter.audited({ removed: 0, ageMs: 0 });
  });
  const names = line!._aws.CloudWatchMetrics[0].Metrics.map(({ Name }) => Name);
  expect(names).toEqual(['Sweeps', 'OldestOverdue', 'AuditAge']);
});

test('a log line says which execution, step, attempt and agent, and others hear the note too', async () => {
  const heard: string[] = [];
  const note = { what: 'lease-ended', executionId: 'e', step: 's', attempt: 1, agent: 'pay', ms: 7 };
  const logger = serviceLogger({ role: 'supervisor' });
  const lines = await linesOf(() => tellAll(logger, { note: ({ what }) => heard.push(what) }).note(note));
  const { what, ...fields } = note;
  expect(lines).toEqual([expect.objectContaining({ message: what, role: 'supervisor', ...fields })]);
  expect(heard).toEqual(['lease-ended']);
});

test.each([
  ['agent-missing', 'WARN'],
  ['evaluation-failed', 'WARN'],
  ['sweep-failed', 'WARN'],
  ['not-sent', 'WARN'],
  ['deferred', 'INFO'],
])('a note %s is a line at level %s with what it says', async (what, level) => {
  const logger = serviceLogger({ role: 'supervisor' });
  const lines = await linesOf(() => tellAll(logger).note({ what, agent: 'pay', detail: 'a sentence' }));
  expect(lines).toEqual([
    expect.objectContaining({ message: what, level, agent: 'pay', detail: 'a sentence' }),
  ]);
});

/** An inbox shard that has `count()` incidents and `entries` approvals. */
const inOneShard =
  (count: () => number, entries = 0) =>
  async (query: { ExpressionAttributeValues: Item }) => {
    const isIt = query.ExpressionAttributeValues[':key']?.S?.endsWith('#0') === true;
    return isIt ? { Count: count(), ScannedCount: count() + entries } : { Count: 0, ScannedCount: 0 };
  };

afterEach(() => mockClient(DynamoDBClient).restore());

test('a tick of the supervisor that finds nothing still says that it swept, and what is open', async () => {
  const dynamo = mockClient(DynamoDBClient);
  dynamo.on(QueryCommand).resolves({ Items: [] });
  dynamo.on(QueryCommand, { IndexName: 'list' }).callsFake(inOneShard(() => 2, 3));
  dynamo.on(BatchGetItemCommand).resolves({ Responses: { t: [openBreakerOf('pay')] } });
  Object.assign(process.env, {
    [ENV.table]: 't',
    [ENV.bus]: 'b',
    [ENV.deployment]: 'd',
    [ENV.queues]: 'https://sqs/1/p_',
    [ENV.agents]: 'pay,ship',
    // The SDK's transport, because the direct one has no mock.
    [ENV.transport]: 'sdk',
    AWS_REGION: 'us-east-1',
  });
  const lines = await linesOf(() => supervisorHandler()({}, TICK));
  expect(lines.filter((line) => '_aws' in line)).toEqual([
    expect.objectContaining({
      service: 'd',
      role: 'supervisor',
      Sweeps: 1,
      OldestOverdue: 0,
      OpenIncidents: 2,
      OpenEntries: 3,
      OpenBreakers: 1,
    }),
  ]);
});

test('a supervisor that was called hides no missing tick: its sweeps are not counted, nor what is open', async () => {
  const dynamo = mockClient(DynamoDBClient);
  dynamo.on(QueryCommand).resolves({ Items: [] });
  dynamo.on(PutItemCommand).resolves({});
  const called = {
    source: WAKE_EVENT.source,
    'detail-type': WAKE_EVENT.detailType,
    detail: { version: 1, untilAt: Date.now() - 60_000 },
  };
  const lines = await linesOf(() => supervisorHandler()(called, TICK));
  const [figures] = lines.filter((line) => '_aws' in line);
  expect(figures).toMatchObject({ role: 'supervisor', Sweeps: 0 });
  expect(figures).not.toHaveProperty('OpenIncidents');
  expect(lines).toContainEqual(expect.objectContaining({ message: 'called', sweeps: 1 }));
  // The second of two events finds that its call was taken over.
  const taken = new ConditionalCheckFailedException({ message: 'no', $metadata: {} });
  dynamo.on(PutItemCommand).rejects(taken);
  dynamo.on(GetItemCommand).resolves({});
  expect(await linesOf(() => supervisorHandler()(called, TICK))).toEqual([]);
});

test('what is open is counted as long as something is, and then no more until something is due or a while has passed', async () => {
  const dynamo = mockClient(DynamoDBClient);
  let [incidents, due] = [1, 0];
  dynamo
    .on(QueryCommand)
    .callsFake(async () => ({ Items: Array.from({ length: due }, (_, at) => dueItem(at)) }));
  dynamo.on(QueryCommand, { IndexName: 'list' }).callsFake(inOneShard(() => incidents));
  dynamo.on(BatchGetItemCommand).resolves({ Responses: { t: [] } });
  const handler = supervisorHandler();
  const reported = async (): Promise<number | undefined> => {
    const lines = await linesOf(() => handler({}, TICK));
    return lines.find((line) => '_aws' in line)?.['OpenIncidents'] as number | undefined;
  };
  expect([await reported(), await reported()]).toEqual([1, 1]);
  incidents = 0;
  expect([await reported(), await reported(), await reported()]).toEqual([0, undefined, undefined]);
  [incidents, due] = [1, 1];
  expect([await reported(), await reported()]).toEqual([undefined, 1]);
  // If the table cannot be read, everything else is reported as always, and the read is repeated.
  dynamo.on(BatchGetItemCommand).rejects(new Error('away'));
  due = 0;
  expect([await reported(), await reported()]).toEqual([undefined, undefined]);
  dynamo.on(BatchGetItemCommand).resolves({ Responses: { t: [] } });
  expect(await reported()).toBe(1);
});

test('a quiet system is counted every quarter of an hour, for an approval leaves nothing due', () => {
  const gauge = new OpenGauge();
  const none = { incidents: 0, entries: 0, breakers: 0 };
  expect(gauge.isDue(1_000_000)).toBe(true);
  gauge.counted(none, 1_000_000);
  expect([gauge.isDue(1_060_000), gauge.isDue(1_899_999), gauge.isDue(1_900_000)]).toEqual([
    false,
    false,
    true,
  ]);
  gauge.counted({ ...none, entries: 1 }, 1_900_000);
  expect(gauge.isDue(1_960_000)).toBe(true);
});

test('an execution at risk is counted, but not logged', async () => {
  const logger = serviceLogger({ role: 'agent' });
  const note = { what: 'at-risk', executionId: 'e' };
  expect(await linesOf(() => tellAll(logger).note(note))).toEqual([]);
  const [line] = await flushed((meter) => meter.note(note));
  expect(line).toMatchObject({ AtRisk: 1 });
});

test('a run of the audit says that it was made, and which records it could not read', async () => {
  const dynamo = mockClient(DynamoDBClient);
  dynamo.on(BatchGetItemCommand).resolves({ Responses: { t: [] } });
  dynamo.on(ScanCommand).resolves({ Items: [] });
  dynamo.on(ScanCommand, { Segment: 3 }).resolves({ Items: [{ pk: { S: 'exec#e' }, sk: { S: 'exec' } }] });
  dynamo.on(PutItemCommand).resolves({});
  Object.assign(process.env, {
    [ENV.table]: 't',
    [ENV.bus]: 'b',
    [ENV.deployment]: 'd',
    // The SDK's transport, because the direct one has no mock.
    [ENV.transport]: 'sdk',
  });
  Object.assign(process.env, { AWS_REGION: 'us-east-1', [ENV.auditEveryMs]: '0', [ENV.auditPages]: '1000' });
  const context = { getRemainingTimeInMillis: () => 5_000, awsRequestId: 'r' } as unknown as Context;
  const lines = await linesOf(() => auditHandler()({}, context));
  expect(lines.filter((line) => '_aws' in line)).toEqual([
    expect.objectContaining({
      service: 'd',
      role: 'audit',
      RecordsUnaudited: 1,
      AuditAge: expect.any(Number),
    }),
  ]);
  // A count that does not complete does not count.
  dynamo.on(ScanCommand).rejects(new Error('away'));
  const failed = await linesOf(() => auditHandler()({}, context).catch(() => undefined));
  expect(failed.filter((line) => '_aws' in line)).toEqual([]);
});
