/**
 * A fault in an account is written down and has its end scheduled before it is made, and the end of its time
 * restores the part without anybody's help, wherever who made it dies.
 */

import type { Calls } from '../../../cli/aws/calls.ts';
import { CallError } from '../../../cli/aws/calls.ts';
import { AwsFaults } from '../../../cli/verify/aws-faults.ts';
import { allowGameDay } from '../../../cli/verify/command.ts';
import { ENTRIES } from '../../../cli/verify/checks/all.ts';
import { type Check, isCheck } from '../../../cli/verify/check.ts';
import type { Fault } from '../../../cli/verify/ports.ts';
import { FakeDeployment, fakePorts } from './fake-deployment.ts';
import { goodSettings } from './good-settings.ts';

type Body = Record<string, unknown>;

/** A mapping, a rule and a function in an account, with the schedules that are made there. */
class FakeAccount {
  mapping = 'Enabled';
  rule = 'ENABLED';
  concurrency: number | undefined = undefined;
  /** The function. */
  isGone = false;
  readonly parameters = new Map<string, string>();
  readonly schedules = new Map<string, Body>();
  readonly done: string[] = [];
  /** The call before which the process of the command ends. */
  diesBefore: string | undefined;
  now = Date.UTC(2026, 10, 26, 10);

  readonly calls = {
    json: async (_service: string, operation: string, body: Body) => this.#json(operation, body),
    rest: async (_service: string, action: string, _method: string, path: string, body: Body = {}) =>
      this.#rest(action, path, body),
    pages: async function* (ask: (token: undefined) => Promise<Body>) {
      yield await ask(undefined);
    },
  } as unknown as Calls;

  readonly clock = { now: () => this.now, sleep: async () => {} };

  #before(what: string): void {
    if (this.diesBefore === what) throw new Error('the process is gone');
    if (!/^(Get|Describe)/.test(what)) this.done.push(what);
  }

  #json(operation: string, body: Body): Body {
    this.#before(operation);
    const name = String(body['Name']);
    switch (operation) {
      case 'PutParameter':
        if (this.parameters.has(name)) throw new CallError('ssm', 'ParameterAlreadyExists', name, 400);
        this.parameters.set(name, String(body['Value']));
        return {};
      case 'GetParameter':
        if (!this.parameters.has(name)) throw new CallError('ssm', 'ParameterNotFound', name, 400);
        return { Parameter: { Value: this.parameters.get(name) } };
      case 'GetParametersByPath':
        return { Parameters: [...this.parameters].map(([Name, Value]) => ({ Name, Value })) };
      case 'DeleteParameter':
        this.parameters.delete(name);
        return {};
      case 'DescribeRule':
        return { State: this.rule };
      case 'EnableRule':
      case 'DisableRule':
        this.rule = operation === 'EnableRule' ? 'ENABLED' : 'DISABLED';
        return {};
      default:
        throw new Error(`not faked: ${operation}`);
    }
  }

  #rest(action: string, path: string, body: Body): Body {
    this.#before(action);
    if (this.isGone && action.endsWith('FunctionConcurrency'))
      throw new CallError('lambda', 'ResourceNotFoundException', '', 404);
    switch (action) {
      case 'GetEventSourceMapping':
        return { State: this.mapping };
      case 'UpdateEventSourceMapping':
        this.mapping = body['Enabled'] === true ? 'Enabled' : 'Disabled';
        return {};
      case 'GetFunctionConcurrency':
        return this.concurrency === undefined ? {} : { ReservedConcurrentExecutions: this.concurrency };
      case 'PutFunctionConcurrency':
        this.concurrency = Number(body['ReservedConcurrentExecutions']);
        return {};
      case 'DeleteFunctionConcurrency':
        this.concurrency = undefined;
        return {};
      case 'CreateSchedule':
        this.schedules.set(path, body);
        return {};
      case 'DeleteSchedule':
        if (!this.schedules.delete(path))
          throw new CallError('scheduler', 'ResourceNotFoundException', '', 404);
        return {};
      default:
        throw new Error(`not faked: ${action}`);
    }
  }

  /** What EventBridge Scheduler does when its time has come. */
  pass(ms: number): void {
    this.now += ms;
    for (const [path, { ScheduleExpression, Target }] of this.schedules) {
      const at = Date.parse(`${String(ScheduleExpression).slice('at('.length, -1)}Z`);
      if (at > this.now) continue;
      this.schedules.delete(path);
      const { Arn, Input } = Target as { Arn: string; Input: string };
      const input = JSON.parse(Input) as Body;
      if (Arn.endsWith('eventbridge:enableRule')) this.rule = 'ENABLED';
      else if (Arn.endsWith('lambda:updateEventSourceMapping'))
        this.mapping = input['Enabled'] === true ? 'Enabled' : 'Disabled';
      else if (Arn.endsWith('lambda:deleteFunctionConcurrency')) this.concurrency = undefined;
      else if (Arn.endsWith('lambda:putFunctionConcurrency'))
        this.concurrency = Number(input['ReservedConcurrentExecutions']);
    }
  }

  get state(): readonly unknown[] {
    return [this.mapping, this.rule, this.concurrency];
  }
}

const RULE = 'arn:aws:events:eu-central-1:123456789012:rule/Shop-Tick';
const FAULTS: readonly Fault[] = [
  { kind: 'rule', id: RULE, forMs: 60_000 },
  { kind: 'mapping', id: 'm1', forMs: 60_000 },
  { kind: 'concurrency', id: 'Shop-Pay', forMs: 60_000 },
];
const faultsIn = (account: FakeAccount): AwsFaults =>
  new AwsFaults(account.calls, account.clock, 'Shop', { roleArn: 'arn:aws:iam::123456789012:role/ender' });

it.each(FAULTS)('of a $kind: written down, scheduled, made; its end is nobody’s work (F1)', async (fault) => {
  const account = new FakeAccount();
  const before = account.state;
  await faultsIn(account).make(fault);
  expect(account.done.slice(0, 2)).toEqual(['PutParameter', 'CreateSchedule']);
  expect(account.state).not.toEqual(before);
  account.pass(59_000);
  expect(account.state).not.toEqual(before);
  account.pass(1_000);
  expect(account.state).toEqual(before);
  expect(account.schedules.size).toBe(0);
});

it.each(['PutParameter', 'CreateSchedule', 'DisableRule'])(
  'leaves nothing broken where the command dies before %s',
  async (call) => {
    const account = new FakeAccount();
    account.diesBefore = call;
    await expect(faultsIn(account).make(FAULTS[0] as Fault)).rejects.toThrow('the process is gone');
    expect(account.rule).toBe('ENABLED');
    account.pass(60_000);
    expect(account.rule).toBe('ENABLED');
  },
);

it('ends a fault at once, and forgets it only then (F2)', async () => {
  const account = new FakeAccount();
  const faults = faultsIn(account);
  for (const fault of FAULTS) await faults.make(fault);
  account.diesBefore = 'EnableRule';
  await expect(faults.end(FAULTS[0] as Fault)).rejects.toThrow('the process is gone');
  expect(account.parameters.size).toBe(3);
  account.diesBefore = undefined;
  expect(await faults.endAll()).toBe(3);
  expect(account.state).toEqual(['Enabled', 'ENABLED', undefined]);
  expect([account.parameters.size, account.schedules.size]).toEqual([0, 0]);
  await faults.end(FAULTS[0] as Fault);
});

const parameterOf = (account: FakeAccount, part: string): string =>
  [...account.parameters.keys()].find((name) => name.includes(part)) ?? '';

it('ends the others where one cannot be ended, and says which (F2)', async () => {
  const account = new FakeAccount();
  for (const fault of FAULTS) await faultsIn(account).make(fault);
  const name = parameterOf(account, 'Tick');
  account.parameters.set(name, '{"kind":"route","id":"*"');
  account.parameters.set('/steadfast/Shop/verify/other', '{"kind":"queue","id":"x","state":true}');
  await expect(faultsIn(account).endAll()).rejects.toThrow(`the parameter ${name} holds no fault`);
  expect(account.state).toEqual(['Enabled', 'DISABLED', undefined]);
  expect([...account.parameters.keys()].sort()).toEqual([name, '/steadfast/Shop/verify/other'].sort());
});

it('leaves as it is what is not stopped any more: its schedule has restored it, and it was changed since', async () => {
  const account = new FakeAccount();
  for (const fault of FAULTS) await faultsIn(account).make(fault);
  account.pass(60_000);
  account.concurrency = 50;
  expect(await faultsIn(account).endAll()).toBe(3);
  expect(account.state).toEqual(['Enabled', 'ENABLED', 50]);
  expect(account.parameters.size).toBe(0);
});

it('forgets the fault of a function that is gone', async () => {
  const account = new FakeAccount();
  const fault = FAULTS[2] as Fault;
  await faultsIn(account).make(fault);
  account.isGone = true;
  expect(await faultsIn(account).endAll()).toBe(1);
  await faultsIn(account).end(fault);
  expect([account.parameters.size, account.schedules.size]).toEqual([0, 0]);
});

it('gives a function the concurrency back that it had', async () => {
  const account = new FakeAccount();
  account.concurrency = 7;
  await faultsIn(account).make(FAULTS[2] as Fault);
  expect(account.concurrency).toBe(0);
  account.pass(60_000);
  expect(account.concurrency).toBe(7);
});

it.each(['aws', 'aws-us-gov', 'aws-cn'])(
  'ends faults with a target of the partition %s',
  async (partition) => {
    const account = new FakeAccount();
    const roleArn = `arn:${partition}:iam::123456789012:role/ender`;
    const faults = new AwsFaults(account.calls, account.clock, 'Shop', { roleArn });
    for (const fault of FAULTS) await faults.make(fault);
    for (const { Target } of account.schedules.values())
      expect((Target as { Arn: string }).Arn).toMatch(new RegExp(`^arn:${partition}:scheduler:::aws-sdk:`));
  },
);

const checkOf = (id: string): Check => ENTRIES.filter(isCheck).find((check) => check.id === id) as Check;

it.each(['mapping-off', 'ticks-off', 'throttled', 'supervisor-silent', 'canary-late'])(
  '%s ends its fault also where what it does meanwhile fails',
  async (id) => {
    const fake = new FakeDeployment();
    const ports = fakePorts(fake);
    const refuse = async (): Promise<never> => Promise.reject(new Error('no answer'));
    const api = { ...ports.api, start: refuse };
    const state = async () => (fake.faultCalls.length === 0 ? 'OK' : refuse());
    const alarms = { ...ports.alarms, state };
    await expect(checkOf(id).run({ ...ports, api, alarms })).rejects.toThrow('no answer');
    expect(fake.faultCalls).toHaveLength(2);
    expect(fake.faultCalls[1]).toMatch(/^end /);
  },
);

it('breaks one part by one check at a time', async () => {
  const fake = new FakeDeployment();
  const ports = fakePorts(fake);
  await Promise.all(['ticks-off', 'supervisor-silent'].map((id) => checkOf(id).run(ports)));
  expect(fake.faultCalls.map((call) => call.split(' ').slice(0, 2).join(' '))).toEqual([
    'make rule',
    'end rule',
    'make rule',
    'end rule',
  ]);
});

it('breaks nothing in a stack that keeps its data, but with its name said once more', async () => {
  const settings = goodSettings();
  const ports = fakePorts(new FakeDeployment(), {
    ...settings,
    table: { ...settings.table, keepsData: true },
  });
  await expect(allowGameDay({ gameDay: true, stack: 'Orders-prod' }, ports)).rejects.toThrow(
    'add --yes-in Orders-prod',
  );
  await expect(
    allowGameDay({ gameDay: true, stack: 'Orders-prod', yesIn: 'Orders-staging' }, ports),
  ).rejects.toThrow('keeps its data');
  await allowGameDay({ gameDay: true, stack: 'Orders-prod', yesIn: 'Orders-prod' }, ports);
  await allowGameDay({ stack: 'Orders-prod' }, ports);
});
