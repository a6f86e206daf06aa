/** A deployment's canary through the real functions, from its schedule to the metric of its end. */

import { setTimeout as pause } from 'node:timers/promises';
import { Duration } from 'aws-cdk-lib/core';
import { setSmallStack, type SmallStack } from './small-stack.ts';

let stack: SmallStack;
const lines: string[] = [];
beforeAll(async () => {
  stack = await setSmallStack({
    workflows: 'canary',
    settings: { canary: Duration.minutes(5) },
    cloud: { onLog: ({ line }) => lines.push(line) },
  });
});
afterAll(() => stack?.strike());

it('starts by its schedule, needs every role to come to its end, and is counted there', async () => {
  const { cloud } = stack;
  const schedule = cloud.control.schedules().find(({ expression }) => expression === 'rate(5 minutes)');
  await cloud.control.tick(schedule?.name ?? '');
  while (!lines.some((line) => line.includes('"CanaryEnded"'))) await pause(100);
  const listed = await fetch(`${cloud.apiUrl}/executions?workflow=steadfast-canary`);
  expect(await listed.json()).toMatchObject({ items: [{ status: 'succeeded' }] });
  // The metrics of the deployment's own executions do not include it.
  expect(lines.filter((line) => line.includes('"Succeeded"'))).toEqual([]);
});
