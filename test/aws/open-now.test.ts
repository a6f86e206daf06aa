/** Counts open questions in a real table: answered and closed ones do not count. */

import { type DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import { BREAKER, dynamoRecords } from '../../lib/aws/dynamo-side-records.ts';
import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import { openNow } from '../../lib/aws/open-now.ts';
import type { Incident } from '../../lib/core/records/question.ts';
import type { Breaker } from '../../lib/core/step/breaker.ts';
import { type Dynamo, startDynamo } from '../contract/dynamodb.ts';
import { aCallback } from '../contract/open-callbacks.contract.ts';
import { anExecution, aStep } from '../contract/records.ts';

const T = 1_700_000_000_000;
let dynamo: Dynamo;
let name: string;
beforeAll(async () => {
  dynamo = await startDynamo();
  ({ name } = await dynamo.table());
});
afterAll(() => dynamo.stop());

const incident = (changes: Partial<Incident> = {}): Incident => ({
  number: 1,
  life: 'life1',
  workflow: 'shop',
  version: 1,
  writeId: 'w-1',
  kind: 'recovery',
  step: 'a',
  stepVersion: 1,
  failure: { code: 'declined', message: 'no' },
  openedAt: T,
  deadlineAt: T + 3_600_000,
  otherwise: 'undo-all',
  reminders: 0,
  ...changes,
});
const opened = (agent: string): Breaker => ({
  agent,
  version: 1,
  writeId: 'w',
  score: 8,
  failedAt: T,
  cooldowns: 1,
  openedAt: T,
  openUntil: T + 10_000,
});
const AGENTS = ['pay', 'ship', 'mail'];
const counted = (agents = AGENTS, now = T + 1): ReturnType<typeof openNow> =>
  openNow(dynamo.client, name, agents, now);

function answering(answer: object): { readonly client: DynamoDBClient; readonly calls: unknown[] } {
  const calls: unknown[] = [];
  const send = async (command: unknown): Promise<object> => {
    calls.push(command);
    return answer;
  };
  return { client: { send } as unknown as DynamoDBClient, calls };
}

test('nothing is open in an empty table, and without agents no breaker is read', async () => {
  expect(await counted()).toEqual({ incidents: 0, entries: 0, breakers: 0 });
  const { client, calls } = answering({ Count: 0, ScannedCount: 0 });
  await openNow(client, name, [], T);
  expect(calls.map((call) => call instanceof QueryCommand)).toEqual(Array<boolean>(8).fill(true));
});

test('incidents count from when they are opened until they are answered', async () => {
  const store = dynamoStore(dynamo.client, { table: name, wakeShards: 1 });
  for (const id of ['e-1', 'e-2', 'e-3']) {
    await store.create(anExecution({ id }));
    await store.write({ executionId: id, step: aStep() });
    const execution = anExecution({ id, version: 2, writeId: 'w-1' });
    expect(await store.write({ executionId: id, execution, question: incident() })).toBe('written');
  }
  expect((await counted()).incidents).toBe(3);
  // An approval is in the same inbox, and is not an incident.
  expect(await store.write({ executionId: 'e-1', question: aCallback() })).toBe('written');
  expect((await store.inbox(10)).items).toHaveLength(4);
  expect(await counted()).toMatchObject({ incidents: 3, entries: 1 });
  const answer = { version: 2, writeId: 'w-2', closedAt: T + 1, choice: 'skip', closedBy: 'answer' } as const;
  expect(await store.write({ executionId: 'e-2', question: incident(answer) })).toBe('written');
  expect((await counted()).incidents).toBe(2);
});

test('a breaker counts while it lets nothing through but trials, that is until it is closed', async () => {
  const breakers = dynamoRecords(dynamo.client, name, BREAKER);
  await breakers.write(opened('pay'));
  await breakers.write(opened('ship'));
  const { openedAt: _at, openUntil: _until, ...closed } = opened('mail');
  await breakers.write({ ...closed, score: 7 });
  expect((await counted()).breakers).toBe(2);
  // Half-open: the cooldown is over, and nobody has been answered yet.
  expect((await counted(AGENTS, T + 20_000)).breakers).toBe(2);
  const { openedAt: _opened, openUntil: _openUntil, ...again } = opened('ship');
  await breakers.write({ ...again, version: 2, writeId: 'w-2', score: 0 });
  expect((await counted()).breakers).toBe(1);
  expect((await counted(['ship', 'mail'])).breakers).toBe(0);
});

test('a count that never ends is cut off', async () => {
  const { client, calls } = answering({ Count: 9_000, LastEvaluatedKey: { pk: { S: 'more' } } });
  const { incidents } = await openNow(client, name, [], T);
  expect([incidents, calls.length]).toEqual([72_000, 8]);
});
