/** What a workflow costs, on the command line. */

import { type Answer, type FakeApi, fakeApi, type Ran, steadfast } from '../fake-api.ts';

let api: FakeApi;
beforeEach(async () => {
  api = await fakeApi();
});
afterEach(async () => {
  await api.stop();
});

const step = (name: string, after: readonly string[] = []) => ({ name, kind: 'agent', agent: 'pay', after });
const listed: Answer = {
  status: 200,
  body: {
    items: [
      { workflow: 'order', plan: 'p1', withinMs: 1, steps: [step('charge'), step('ship', ['charge'])] },
      {
        workflow: 'orders',
        plan: 'p2',
        withinMs: 1,
        steps: [{ name: 'one', kind: 'child', after: [], workflow: 'order', undo: 'none' }],
      },
    ],
  },
};
const cli = (...args: string[]): Promise<Ran> => steadfast(['cost', ...args, '--url', api.url]);

it('says what a million executions cost, of which each part is shown, by which prices, and what is left out', async () => {
  api.answers.push(listed);
  const { out, exitCode } = await cli('order');
  expect(exitCode).toBe(0);
  expect(out).toMatch(/^order: 1,000,000 executions of 2 steps of agents cost about \$\d+\n/);
  expect(out).toMatch(/prices of us-east-1, 2026-11-21/);
  expect(out).toMatch(/DynamoDB writes +15 +\$9\.38\n/);
  expect(out).toMatch(/Steadfast +\$\d+\.\d\d, ± 10 %\n/);
  expect(out).toMatch(/Left out:\n {2}failures: /);
});

it('takes how many, how large, how many at once and how long, and prints data', async () => {
  api.answers.push(listed);
  const { out } = await cli(
    'order',
    '--executions',
    '1000',
    '--payload',
    '100',
    '--batch',
    '10',
    '--work',
    '2000',
    '--json',
  );
  expect(JSON.parse(out)).toMatchObject({
    workflow: 'order',
    agentSteps: 2,
    options: { executions: 1_000, payloadBytes: 100, batch: 10, workMs: 2_000 },
    units: { writeUnits: 10, agentGbSeconds: expect.closeTo(0.15) },
    tolerance: 0.1,
  });
});

it('adds what runs below', async () => {
  api.answers.push(listed, listed);
  const { out } = await cli('orders', '--json');
  expect(JSON.parse(out)).toMatchObject({ agentSteps: 2, units: { events: 2 } });
});

it('refuses numbers that mean nothing', async () => {
  const { exitCode, err } = await cli('order', '--batch', '11');
  expect(exitCode).toBe(2);
  expect(err).toContain('give 1 to 10.');
});
