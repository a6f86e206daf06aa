/** `steadfast agents` against an API that answers what the test tells it to. */

import { type FakeApi, fakeApi, steadfast } from './fake-api.ts';

let api: FakeApi;
beforeEach(async () => {
  api = await fakeApi();
});
afterEach(() => api.stop());

test('agents: queues, breakers and latest failures; what could not be asked is a question mark', async () => {
  const now = Date.now();
  const items = [
    {
      name: 'charge-card',
      effect: 'probed',
      workflows: ['order'],
      queue: { waiting: 3, underWork: 2, delayed: 1 },
      breaker: { status: 'half-open', since: now - 60_000, trialUntil: now + 9_000 },
      lastError: { code: 'TransientError', message: '503', at: now - 10_000 },
    },
    { name: 'notify', effect: 'idempotent', workflows: ['order'], breaker: { status: 'closed' } },
  ];
  api.answers.push({ status: 200, body: { items } });
  const { exitCode, out } = await steadfast(['agents', '--url', api.url]);
  expect([exitCode, api.asked.at(-1)?.path]).toEqual([0, '/agents']);
  const [head, first, second] = out.split('\n').map((line) => line.split(/ {2,}/));
  expect(head).toEqual(['AGENT', 'WAITING', 'UNDER WORK', 'DELAYED', 'BREAKER', 'LAST ERROR']);
  expect(first?.slice(0, 4)).toEqual(['charge-card', '3', '2', '1']);
  expect(first?.[4]).toMatch(/^half-open for 1 min.*, a trial is under way$/);
  expect(first?.[5]).toMatch(/^10(\.\d)? s ago: 503$/);
  expect(second).toEqual(['notify', '?', '?', '?', 'closed']);
});
