/** Faults at exact points: kill, freeze, delay, throttling, ambiguous answers. */
import type { Cloud } from '../../local/cloud.ts';
import { cloudFor, Lines, until } from './fixture.ts';
import { ManualClock } from './manual-clock.ts';

const VISIBILITY_MS = 1000;

let cloud: Cloud;
let end: () => Promise<void>;
let lines: Lines;
let clock: ManualClock;

beforeEach(async () => {
  lines = new Lines();
  clock = new ManualClock(Date.now());
  ({ cloud, end } = await cloudFor({ clock, onLog: lines.onLog }));
});
afterEach(async () => await end());

const alive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
const order = (id: string) => cloud.control.send('work', JSON.stringify({ id }));
const settled = async () =>
  await until('every process is idle', () =>
    cloud.control.functions().every((each) => each.processes.every((process) => process.state === 'idle')),
  );
const drained = async () => await until('the queue is empty', () => cloud.control.peek('work').length === 0);
/** The number of the worker's second writes for an order. */
const doneCount = async (id: string) => {
  const result = await fetch(cloud.gatewayUrl, {
    method: 'POST',
    headers: { 'x-amz-target': 'DynamoDB_20120810.GetItem' },
    body: JSON.stringify({
      TableName: 'Shop-Table',
      Key: { pk: { S: id }, sk: { S: 'done' } },
      ConsistentRead: true,
    }),
  });
  return Number(((await result.json()) as { Item?: { n: { N: string } } }).Item?.n.N ?? 0);
};

test('killed before its Nth call: the call is not executed, the message comes back and is done', async () => {
  const fault = cloud.control.kill('worker', { beforeCall: 2 });
  order('a');
  const hit = await fault.hit;
  expect(hit).toMatchObject({ outcome: 'hit', call: 'dynamodb UpdateItem' });
  expect(hit.pids.map(alive)).toEqual([false]);
  // Like Lambda, the local cloud reports in the function's own log how its process ended.
  expect(await lines.next(/platform\.report/u)).toMatch(/"status":"error".*signal: killed/u);
  expect(await doneCount('a')).toBe(0);
  expect(cloud.control.queues().find((queue) => queue.name === 'Shop-Work')).toMatchObject({ inFlight: 1 });
  await settled();
  clock.advance(VISIBILITY_MS);
  await drained();
  expect(await doneCount('a')).toBe(1);
  expect(cloud.control.functions()[1]).toMatchObject({ logicalId: 'Worker', invocations: 2, errors: 1 });
});

test('killed after a named call: it was executed, its answer never came', async () => {
  const fault = cloud.control.kill('worker', { afterCall: 1, operation: 'UpdateItem' });
  order('b');
  expect(await fault.hit).toMatchObject({ outcome: 'hit', call: 'dynamodb UpdateItem' });
  expect(await doneCount('b')).toBe(1);
  await settled();
  clock.advance(VISIBILITY_MS);
  await drained();
  expect(await doneCount('b')).toBe(2);
});

test('killed at its next event, before the handler ran', async () => {
  const fault = cloud.control.kill('worker', { nextEvent: true });
  cloud.control.resetCalls();
  order('c');
  const hit = await fault.hit;
  expect(hit.pids.map(alive)).toEqual([false]);
  expect(cloud.control.calls().filter((call) => call.caller === 'Worker')).toEqual([]);
  await settled();
  clock.advance(VISIBILITY_MS);
  await drained();
});

test('killed while it serves a message with a text in it; who serves none is left alone', async () => {
  const frozen = cloud.control.freeze('worker', { beforeCall: 1 });
  order('held');
  const { pids } = await frozen.hit;
  const other = cloud.control.kill('worker', { holding: '{\\"id\\":\\"other' });
  expect(await other.hit).toMatchObject({ outcome: 'nothing', pids: [] });
  expect(pids.map(alive)).toEqual([true]);
  const killed = cloud.control.kill('worker', { holding: '{\\"id\\":\\"held' });
  expect(await killed.hit).toMatchObject({ outcome: 'hit', pids });
  expect(pids.map(alive)).toEqual([false]);
  await settled();
  clock.advance(VISIBILITY_MS);
  await drained();
});

test('frozen before a call and thawed: it goes on where it was', async () => {
  const fault = cloud.control.freeze('worker', { beforeCall: 2 });
  order('d');
  await fault.hit;
  expect(cloud.control.functions()[1]?.processes).toMatchObject([{ state: 'frozen' }]);
  expect(await doneCount('d')).toBe(0);
  expect(cloud.control.thaw('worker')).toHaveLength(1);
  await drained();
  expect(await doneCount('d')).toBe(1);
});

test('frozen beyond its timeout: it is ended all the same', async () => {
  const fault = cloud.control.freeze('web', { nextEvent: true });
  const response = fetch(`${cloud.apiUrl}/text`);
  const [pid = 0] = (await fault.hit).pids;
  expect((await response).status).toBe(500);
  expect(alive(pid)).toBe(false);
});

test('throttled: the client gets the error it retries, for exactly N calls', async () => {
  const fault = cloud.control.throttle('worker', { calls: 2, operation: 'PutItem' });
  order('e');
  expect(await fault.hit).toMatchObject({ outcome: 'hit', call: 'dynamodb PutItem' });
  await drained();
  const put = cloud.control.calls().find((call) => call.caller === 'Worker' && call.operation === 'PutItem');
  expect(put).toMatchObject({ calls: 3, errors: 2 });
  const throttledSend = cloud.control.throttle('web', { calls: 1, operation: 'SendMessage' });
  expect((await fetch(`${cloud.apiUrl}/order?id=f`)).status).toBe(202);
  expect(await throttledSend.hit).toMatchObject({ call: 'sqs SendMessage' });
});

test('ambiguous: executed, no answer; the retry executes it again', async () => {
  cloud.control.ambiguous('worker', { calls: 1, operation: 'UpdateItem' });
  order('g');
  await drained();
  expect(await doneCount('g')).toBe(2);
});

test('delayed: the next calls take longer', async () => {
  const fault = cloud.control.delay('web', { calls: 1, ms: 60 });
  await cloud.control.invoke('web', { rawPath: '/text' });
  const from = performance.now();
  await fetch(`${cloud.apiUrl}/items?pk=none`);
  expect(performance.now() - from).toBeGreaterThanOrEqual(59);
  expect(await fault.hit).toMatchObject({ outcome: 'hit', call: 'dynamodb GetItem' });
});

test('killed now: the busy process, else the warm ones, else nothing', async () => {
  expect(await cloud.control.kill('web').hit).toMatchObject({ outcome: 'nothing', pids: [] });
  await fetch(`${cloud.apiUrl}/text`);
  const warm = await cloud.control.kill('web').hit;
  expect(warm.pids).toHaveLength(1);
  const hanging = fetch(`${cloud.apiUrl}/hang`);
  await until('it is busy', () => cloud.control.functions()[0]?.processes[0]?.state === 'busy');
  expect((await cloud.control.kill('web').hit).pids.map(alive)).toEqual([false]);
  expect((await hanging).status).toBe(500);
});

test('faults are listed and can be withdrawn', async () => {
  const fault = cloud.control.kill('worker', { beforeCall: 1 });
  expect(cloud.control.faults()).toMatchObject([
    { functionName: 'Shop-Worker', action: 'kill', state: 'armed' },
  ]);
  cloud.control.clearFaults();
  expect(await fault.hit).toMatchObject({ outcome: 'cleared' });
  order('h');
  await drained();
  expect(cloud.control.functions()[1]).toMatchObject({ errors: 0 });
  expect(() => cloud.control.kill('worker', { beforeCall: 0 })).toThrow(/count from 1/);
});

test('DynamoDB killed and back: the data is there, calls meanwhile break off', async () => {
  order('i');
  await drained();
  const down = cloud.control.restartDynamo(30);
  await expect(doneCount('i')).rejects.toThrow();
  await down;
  expect(await doneCount('i')).toBe(1);
});

test('disabled: its messages are received and refused, each at the cost of a receive', async () => {
  cloud.control.disableFunction('worker', 60 * VISIBILITY_MS);
  order('j');
  await until('it was received', () => cloud.control.peek('work')[0]?.receiveCount === 1);
  expect(cloud.control.functions()[1]).toMatchObject({ invocations: 0, throttles: 1 });
  clock.advance(60 * VISIBILITY_MS);
  await drained();
  expect(await lines.next(/record/)).toContain('receive 2');
});

test('thawed with its connections cut: the call under way is lost, and made again', async () => {
  const fault = cloud.control.freeze('worker', { beforeCall: 2 });
  order('k');
  await fault.hit;
  expect(cloud.control.thaw('worker', { cut: true })).toHaveLength(1);
  await drained();
  // The worker cannot know whether its first call was executed, so it has repeated the call.
  const made = cloud.control.calls().find(({ operation }) => operation === 'UpdateItem');
  expect(made?.calls).toBe(2);
});
