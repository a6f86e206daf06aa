/** `start --wait` prints what it waits for and where to see more, then each change. */

import { eachFakeApi, steadfast } from './fake-api.ts';

const api = eachFakeApi();

const view = (status: string, more: object = {}) => ({
  executionId: 'e1',
  workflow: 'order',
  status: 'running',
  startedAt: 0,
  deadlineAt: 5,
  input: {},
  incidents: [],
  steps: [{ name: 'charge', kind: 'agent', status, after: [], attempts: [], ...more }],
});
const failure = { code: 'timeout', message: 'no answer' };
const ANSWERS = [
  { executionId: 'e1', status: 'running' },
  view('ready'),
  view('running'),
  view('running'),
  view('unknown', { failure }),
  { ...view('done'), status: 'succeeded', endedAt: 3 },
];

it.each([
  [
    [],
    (url: string) =>
      `e1  running\nSee it: ${url}/console/#/executions/e1\ncharge: running\ncharge: unknown (timeout: no answer)\n`,
  ],
  [['--json'], () => '{"executionId":"e1","status":"running"}\n'],
])('says it beside the answer (%j)', async (how, said) => {
  api.answers.push(...ANSWERS.map((body) => ({ status: 200, body })));
  const { exitCode, err, out } = await steadfast(['start', 'order', '--wait', '--url', api.url, ...how]);
  expect([exitCode, err]).toEqual([0, said(api.url)]);
  expect(out).toContain('succeeded');
});
