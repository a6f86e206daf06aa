/** The canary in the template: its parts, and the alarm if no canary ends. */

import { Duration } from 'aws-cdk-lib/core';
import { FOUND } from './fixture.ts';
import { findingsOf, makeStack, Reader } from './template.ts';

test('has an agent, a schedule and an alarm of its absence, and is asked for', () => {
  const stack = makeStack({ canary: Duration.minutes(5) });
  const reader = new Reader(stack);
  expect(reader.functionOf('Agents/steadfast-canary').Properties['Timeout']).toBe(25);
  const [schedule] = reader.ofType('AWS::Scheduler::Schedule');
  expect(schedule?.Properties['ScheduleExpression']).toBe('rate(5 minutes)');
  const alarms = reader.ofType('AWS::CloudWatch::Alarm');
  const late = alarms.find(({ id }) => id.includes('CanaryLate'));
  expect(late?.Properties).toMatchObject({
    MetricName: 'CanaryEnded',
    Period: 300,
    EvaluationPeriods: 2,
    ComparisonOperator: 'LessThanThreshold',
    Threshold: 1,
    TreatMissingData: 'missing',
  });
  // A canary that does not come leaves no data at all.
  expect(late?.Properties['InsufficientDataActions']).toEqual(late?.Properties['AlarmActions']);
  expect(findingsOf(stack)).toEqual([]);
  const without = JSON.stringify(new Reader(makeStack()).all);
  expect(without.toLowerCase()).not.toContain('canary');
});

test('is not listed among the stacks to deploy', () => {
  const agents = Array.from({ length: 90 }, (_, n) => ({ ...FOUND.agents[0]!, name: `a-${n}`, peers: [] }));
  const workflows = {
    ...FOUND,
    agents,
    workflows: [{ ...FOUND.workflows[0]!, agents: agents.map(({ name }) => name) }],
  };
  expect(() => new Reader(makeStack({ workflows, canary: Duration.minutes(1) }))).toThrow(
    /order alone has 90 agents/,
  );
});

test.each([30, 90, 3_660])('of %d s is refused with what is allowed', (seconds) => {
  expect(() => makeStack({ canary: Duration.seconds(seconds) })).toThrow(
    /canary is .*; allowed: 1 to 60 whole minutes/,
  );
});
