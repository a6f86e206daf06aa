/** Synthesis says how many of the account's concurrent executions a deployment may use. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SteadfastStackProps } from '../../lib/infra/steadfast-stack.ts';
import { FOUND } from './fixture.ts';
import { makeStack, Reader } from './template.ts';

/** Synthesis's messages about concurrency, and the function's own settings. */
function said(props: Partial<SteadfastStackProps>, triggers = 0): { text: string; reader: Reader } {
  const stack = makeStack(props);
  for (let n = 0; n < triggers; n += 1) stack.steadfast.startQueue('order', { name: `intake-${n}` });
  const reader = new Reader(stack);
  const text = stack.steadfast.node.metadata.map(({ data }) => String(data)).join('\n');
  return { text, reader };
}

test('a deployment that fits says nothing', () => {
  expect(said({}).text).toBe('');
});

test('a warning names agents and triggers that may take more than the account has, and the remedy', () => {
  expect(said({ agentConcurrency: 333 }).text).toBe('');
  const { text } = said({ agentConcurrency: 333 }, 1);
  expect(text).toMatch(
    /3 agents and 1 triggers may run 1009 functions at the same time, and the account allows 1000: .*agentConcurrency to 225 or less.*schedulerConcurrency/,
  );
  expect(said({ agentConcurrency: 333, accountConcurrency: 3_000 }, 1).text).toBe('');
  expect(said({ accountConcurrency: 10 }).text).toContain('may run 150 functions');
});

test('where agents take few, triggers take no more', () => {
  const mappings = (props: Partial<SteadfastStackProps>): unknown[] =>
    said(props, 1)
      .reader.ofType('AWS::Lambda::EventSourceMapping')
      .map(
        ({ Properties }) =>
          (Properties['ScalingConfig'] as Readonly<Record<string, unknown>>)['MaximumConcurrency'],
      );
  expect(new Set(mappings({ agentConcurrency: 2 }))).toEqual(new Set([2]));
  expect(mappings({ agentConcurrency: 20 })).toContain(10);
});

test('what is set aside names the account that it needs', () => {
  const { text, reader } = said({ supervisorConcurrency: 4, schedulerConcurrency: 20 });
  expect(text).toContain('24 concurrent function runs are reserved: the account must allow 124 or more');
  expect(reader.functionOf('Scheduler').Properties['ReservedConcurrentExecutions']).toBe(20);
  // Half of it may wait for an end.
  expect(reader.environmentOf('Scheduler')).toMatchObject({ STEADFAST_OPEN_WAITS: '10' });
  expect(said({}).reader.environmentOf('Scheduler')).not.toHaveProperty('STEADFAST_OPEN_WAITS');
});

test('more than any account of that size has is refused', () => {
  expect(() => said({ supervisorConcurrency: 4, accountConcurrency: 100 })).toThrow(
    'of the account’s 100'.replace('’', "'"),
  );
  expect(() => said({ supervisorConcurrency: 4, accountConcurrency: 104 })).not.toThrow();
});

test('what a new project sets fits a new account, with two supervisors, the audit and a call of the API', () => {
  const template = join(import.meta.dirname, '../../create/templates');
  const set = /agentConcurrency: (\d+)/.exec(readFileSync(join(template, 'app/lib/app-stack.ts'), 'utf8'));
  const names = readdirSync(join(template, 'workflow/agents')).map((file) => file.replace(/\.ts$/, ''));
  const [agent] = FOUND.agents;
  const agents = names.map((name) => ({ ...agent!, name, peers: names }));
  const workflows = { ...FOUND, workflows: [{ ...FOUND.workflows[0]!, agents: names }], agents };
  const { reader } = said({ workflows, agentConcurrency: Number(set?.[1]) });
  const most = reader
    .ofType('AWS::Lambda::EventSourceMapping')
    .map(({ Properties }) => Object(Properties['ScalingConfig']).MaximumConcurrency as number);
  expect(most).toHaveLength(names.length + 1);
  expect(most.reduce((sum, one) => sum + one, 0) + 2 + 1 + 1).toBeLessThanOrEqual(10);
});
