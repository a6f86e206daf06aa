/** Names of the agents' queues: each deployment has its own prefix, and functions and roles use it. */

import { NestedStack, Stack } from 'aws-cdk-lib/core';
import { agentQueues } from '../../lib/aws/agent-queues.ts';
import { LONGEST_PREFIX, LONGEST_QUEUE_NAME, queuePrefix } from '../../lib/infra/queue-names.ts';
import { Steadfast } from '../../lib/infra/steadfast.ts';
import type { Json } from '../../local/template/json.ts';
import { resolved } from './named-permissions.ts';
import { FOUND } from './fixture.ts';
import { makeApp, makeStack, Reader } from './template.ts';

const LONGEST_AGENT = `a${'b'.repeat(47)}`;
const LONGEST_STACK = `S${'t'.repeat(127)}`;

const prefixOf = (stackName: string, id = 'Steadfast'): string => {
  const stack = new Stack(makeApp(), 'Any', { stackName });
  return new Steadfast(stack, id, { workflows: FOUND }).queuePrefix;
};

test('the longest names fit, and are of the characters that SQS takes', () => {
  const prefix = prefixOf(LONGEST_STACK);
  expect(prefix).toHaveLength(LONGEST_PREFIX);
  expect(`${prefix}${LONGEST_AGENT}`.length).toBeLessThanOrEqual(LONGEST_QUEUE_NAME);
  expect(`${prefix}${LONGEST_AGENT}`).toMatch(/^[\w-]+$/);
});

test('another stack has another prefix, and so has another construct of a stack; the same has the same', () => {
  const names = ['Steadfast-dev', 'Steadfast-prod', 'Steadfast', LONGEST_STACK, `${LONGEST_STACK.slice(1)}x`];
  const prefixes = [...names.map((name) => prefixOf(name)), prefixOf('Steadfast-dev', 'Other')];
  expect(new Set(prefixes).size).toBe(prefixes.length);
  for (const one of prefixes)
    expect(prefixes.filter((other) => `${other}agent`.startsWith(one))).toEqual([one]);
  expect(prefixOf('Steadfast-dev')).toBe(prefixes[0]);
});

test('a nested stack has that of the stack around it and its own place', () => {
  const [one, other] = ['One', 'Other'].map((stackName) => {
    const stack = new Stack(makeApp(), 'Any', { stackName });
    return queuePrefix(new NestedStack(stack, 'Nested'));
  });
  expect([one, other]).toEqual([
    expect.stringMatching(/^One-\w{8}_$/),
    expect.stringMatching(/^Other-\w{8}_$/),
  ]);
  expect(one?.slice(-9)).not.toBe(other?.slice(-9));
});

test('an address that a function puts together is that of the queue', () => {
  const reader = new Reader(makeStack());
  const { resources } = resolved(reader.template.toJSON() as Json, 'Test');
  const scheduler = resources.get(reader.functionOf('Scheduler').id);
  const { Variables } = Object(scheduler?.properties['Environment']) as { Variables: Record<string, string> };
  const queues = agentQueues(Variables);
  expect([...queues.keys()]).toEqual(['pay', 'ship', 'mail', 'steadfast-bulk']);
  for (const [agent, url] of queues)
    expect(resources.get(reader.one('AWS::SQS::Queue', `Agents/${agent}/Queue`).id)?.ref).toBe(url);
});

test('an environment without agents has no queues', () => {
  expect(agentQueues({}).size).toBe(0);
  expect(agentQueues({ STEADFAST_QUEUES: 'https://sqs/1/p_', STEADFAST_AGENTS: '' }).size).toBe(0);
});
