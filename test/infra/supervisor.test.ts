/** The supervisors of a deployment: their number, how often they sweep, who may call one. */

import { Duration } from 'aws-cdk-lib/core';
import { DEFAULT_SUPERVISORS, DEFAULT_SWEEP_EVERY_MS, DEFAULT_WAKE_SHARDS } from '../../lib/aws/names.ts';
import { supervisorSettings, type SupervisorSettingsGiven } from '../../lib/infra/supervisor-settings.ts';
import { SWEEP_EVERY_MS } from '../../lib/supervisor/sweep.ts';
import { makeStack, Reader } from './template.ts';

interface RuleProperties {
  readonly Targets: readonly { readonly Input: string }[];
}
const rulesOf = (reader: Reader) =>
  reader
    .ofType('AWS::Events::Rule')
    .filter(({ Metadata }) => Metadata?.['aws:cdk:path']?.includes('/Supervisor/') === true);
const inputsOf = (reader: Reader): unknown[] =>
  rulesOf(reader).flatMap(({ Properties }) =>
    (Properties as unknown as RuleProperties).Targets.map(({ Input }) => JSON.parse(Input) as unknown),
  );

describe('the supervisors', () => {
  const settings = { supervisors: 7, wakeShards: 8, sweepEvery: Duration.millis(1_500) };
  const many = new Reader(makeStack({ tuning: settings, supervisorConcurrency: 16 }));

  test('are started by each tick, each with its number and how many there are', () => {
    expect(inputsOf(many)).toEqual(Array.from({ length: 7 }, (_, part) => ({ part, of: 7 })));
  });

  test('beyond five have another rule, which comes before the first one changes', () => {
    const [first, second] = rulesOf(many) as unknown as {
      readonly id: string;
      readonly Properties: RuleProperties;
      readonly DependsOn?: readonly string[];
    }[];
    expect([first, second].map((rule) => rule?.Properties.Targets.length)).toEqual([5, 2]);
    expect(first?.DependsOn).toContain(second?.id);
  });

  test('know between which sweeps they rest, and have executions set aside', () => {
    expect(many.environmentOf('Supervisor')['STEADFAST_SWEEP_EVERY_MS']).toBe('1500');
    expect(many.environmentOf('Supervisor')['STEADFAST_RELEASE']).toMatch(/^[0-9a-f]{16}$/);
    expect(many.functionOf('Supervisor').Properties).toMatchObject({ ReservedConcurrentExecutions: 16 });
  });

  test('are two, every two seconds, unless said otherwise', () => {
    expect(supervisorSettings({})).toMatchObject({
      supervisors: DEFAULT_SUPERVISORS,
      reservedConcurrency: 'unreserved',
    });
    expect(supervisorSettings({}).sweepEvery.toMilliseconds()).toBe(DEFAULT_SWEEP_EVERY_MS);
    expect(DEFAULT_SWEEP_EVERY_MS).toBe(SWEEP_EVERY_MS);
    expect(supervisorSettings({ wakeShards: 1 }).supervisors).toBe(2);
    expect(supervisorSettings({ supervisorConcurrency: 9 }).reservedConcurrency).toBe(9);
  });

  test.each<[SupervisorSettingsGiven, string]>([
    [{ supervisors: 0 }, 'supervisors is 0; allowed: a whole number from 1 to 20'],
    [{ supervisors: 1.5 }, 'supervisors is 1.5; allowed: a whole number from 1 to 20'],
    [{ supervisors: 21, wakeShards: 40 }, 'supervisors is 21; allowed: a whole number from 1 to 20'],
    [
      { supervisors: 5 },
      `supervisors is 5, but the wake index has ${DEFAULT_WAKE_SHARDS} shards (wakeShards), and a supervisor without a shard has nothing to do; at most 4 are allowed, or raise wakeShards as well`,
    ],
    [{ wakeShards: 0 }, 'wakeShards is 0; allowed: a whole number from 1 to 64'],
    [{ wakeShards: 65 }, 'wakeShards is 65; allowed: a whole number from 1 to 64'],
    [{ wakeShards: 2.5 }, 'wakeShards is 2.5; allowed: a whole number from 1 to 64'],
    [{ sweepEvery: Duration.millis(999) }, 'allowed: 1 to 15 seconds'],
    [{ sweepEvery: Duration.seconds(16) }, 'sweepEvery is 16 seconds; allowed: 1 to 15 seconds'],
  ])('are refused as %j', (given, message) => {
    expect(() => supervisorSettings(given)).toThrow(message);
  });

  test.each([
    { supervisors: 4 },
    { wakeShards: 16 },
    { wakeShards: 64, supervisors: 20 },
    { sweepEvery: Duration.seconds(15) },
    { sweepEvery: Duration.seconds(1) },
  ])('may be %j', (given) => {
    expect(() => supervisorSettings(given)).not.toThrow();
  });
});

describe('a call of a supervisor', () => {
  const reader = new Reader(makeStack());
  const bus = reader.one('AWS::Events::EventBus', 'WakeUps');

  test('starts the same function, once, by an event on a bus of its own', () => {
    expect(reader.one('AWS::Events::Rule', 'WakeUps').Properties).toMatchObject({
      EventBusName: { Ref: bus.id },
      EventPattern: { source: ['steadfast'], 'detail-type': ['Steadfast Supervisor Called'] },
      Targets: [
        {
          Arn: { 'Fn::GetAtt': [reader.functionOf('Supervisor').id, 'Arn'] },
          RetryPolicy: { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 },
        },
      ],
    });
  });

  test('goes to a bus that every function knows', () => {
    for (const path of ['Scheduler', 'Agents/pay', 'Agents/mail'])
      expect(reader.environmentOf(path)['STEADFAST_WAKE_BUS']).toEqual({ Ref: bus.id });
  });
});
