/**
 * Operators' views and commands through AWS's adapters, over the DynamoDB commands of `serve`: a bug in an
 * agent's code does not count against its service, an agent is tried now, work that waits for a rate is
 * counted (N8).
 */

import { BREAKER, dynamoRecords, RATE } from '../../lib/aws/dynamo-side-records.ts';
import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import type { Ports } from '../../lib/core/ports.ts';
import { newBreaker } from '../../lib/core/step/breaker.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { openDatabase, TABLE_NAME } from '../../serve/sqlite/client.ts';
import { client } from '../api/app.ts';

const table = TABLE_NAME;
let database: ReturnType<typeof openDatabase>;
beforeEach(() => {
  database = openDatabase();
});
afterEach(() => database.close());

const records = {
  breakers: () => dynamoRecords(database.client, table, BREAKER),
  rates: () => dynamoRecords(database.client, table, RATE),
};
const onAws = (world: MemoryWorld): Ports => ({
  ...world,
  store: dynamoStore(database.client, { table, wakeShards: 4, pause: async () => undefined, log: world.log }),
  breakers: records.breakers(),
  rates: records.rates(),
});

it('a bug of the code opens no breaker, and is named as one', async () => {
  const c = client(async () => {
    // Without the place, which no other answer names.
    throw Object.assign(new ReferenceError('rate is not defined'), { stack: '' });
  }, onAws);
  const id = await c.begun();
  for (const send of c.sent.splice(0)) await c.deliver(send);
  const { body: overview } = await c.get('/overview');
  expect(overview).toMatchObject({
    breakers: [],
    health: { findings: expect.arrayContaining([expect.objectContaining({ kind: 'bug', agent: 'worker' })]) },
  });
  expect((await c.get('/agents')).body['items']).toMatchObject([
    { name: 'worker', breaker: { status: 'closed' }, bugs: { failure: { code: 'bug' } } },
  ]);
  const { body: why } = await c.get(`/executions/${id}/why`);
  expect(JSON.stringify(why)).toContain("a bug in agent 'worker': ReferenceError: rate is not defined");
  expect(JSON.stringify(why)).not.toContain('fix its service');
});

it('an agent whose breaker is open is tried now', async () => {
  const c = client(undefined, onAws);
  const now = c.clock.now();
  const open = { openedAt: now - 600_000, openUntil: now + 100_000, cooldowns: 4, failedAt: now, score: 8 };
  await records.breakers().write({ ...newBreaker('worker'), ...open, version: 1, writeId: 'w' });
  expect((await c.get('/overview')).body['breakers']).toMatchObject([{ agent: 'worker' }]);
  const tried = await c.post('/agents/worker/try-now', {});
  expect(tried).toMatchObject({ status: 202, body: { agent: 'worker', breaker: { status: 'half-open' } } });
});

it('attempts that wait for a rate are counted', async () => {
  const c = client(undefined, onAws);
  const now = c.clock.now();
  const lastTurnOf = { '-': now + 10_000 };
  const rate = { agent: 'worker', version: 1, writeId: 'w', perSecond: 4, givenUntil: now, lastTurnOf };
  await records.rates().write(rate);
  expect((await c.get('/overview')).body['rateQueues']).toEqual([
    { agent: 'worker', waiting: 40, perSecond: 4, lastTurnAt: now + 10_000 },
  ]);
});
