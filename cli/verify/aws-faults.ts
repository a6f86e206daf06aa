/**
 * Faults in an account, each of which ends by itself.
 *
 * Owns: in which order a fault is made, and what ends it. Does not own: what turns a part on and off
 * (`../quiesce/kinds.ts`), which faults are made (`checks/game-day.ts`).
 *
 * F1 a fault is made only after its former state is kept (a parameter of Systems Manager) and a schedule
 *    stands that restores it: who makes it may die at any moment.
 * F2 what is kept is forgotten only after it is restored. What an earlier run has left and is not stopped any
 *    more was restored by its schedule, or by a person, and stays as it is; what is gone needs nothing.
 */

import { type Answer, type Calls, unlessGone } from '../aws/calls.ts';
import { KINDS, STOPPED } from '../quiesce/kinds.ts';
import type { Value } from '../quiesce/account.ts';
import { type Clock, CliError, EXIT } from '../io.ts';
import type { Fault, FaultPort } from './ports.ts';

interface Written extends Fault {
  readonly state: Value;
}

export interface EndingRole {
  /** The role that the schedules which end faults assume. */
  readonly roleArn: string;
}

/** https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html: to the second, in UTC. */
const at = (ms: number): string => `at(${new Date(ms).toISOString().slice(0, 19)})`;

export class AwsFaults implements FaultPort {
  readonly #calls: Calls;
  readonly #clock: Clock;
  readonly #stack: string;
  readonly #roleArn: string;

  constructor(calls: Calls, clock: Clock, stack: string, { roleArn }: EndingRole) {
    this.#calls = calls;
    this.#clock = clock;
    this.#stack = stack;
    this.#roleArn = roleArn;
  }

  async make(fault: Fault): Promise<void> {
    const state = await stateOf(this.#calls, fault);
    const written: Written = { ...fault, state };
    await this.#calls.json('ssm', 'PutParameter', {
      Name: this.#parameter(fault),
      Value: JSON.stringify(written),
      Type: 'String',
      // An existing parameter holds the state before the first fault.
      Overwrite: false,
    });
    await this.#calls.rest('scheduler', 'CreateSchedule', 'POST', `/schedules/${this.#name(fault)}`, {
      ScheduleExpression: at(this.#clock.now() + fault.forMs),
      FlexibleTimeWindow: { Mode: 'OFF' },
      ActionAfterCompletion: 'DELETE',
      Target: { ...restoring(written, this.#roleArn), RoleArn: this.#roleArn },
    });
    await set(this.#calls, fault, STOPPED);
  }

  async end(fault: Fault): Promise<void> {
    const Name = this.#parameter(fault);
    const found = await unlessGone(this.#calls.json('ssm', 'GetParameter', { Name }));
    if (found === undefined) return;
    const { Value: kept } = Object(found['Parameter']) as { readonly Value: string };
    await this.#restore(writtenOf(Name, kept));
  }

  /** Ends all faults, even if one cannot be ended. @throws CliError `not-ended` which, and why */
  async endAll(): Promise<number> {
    let ended = 0;
    const failed: string[] = [];
    const pages = this.#calls.pages(
      (NextToken) => this.#calls.json('ssm', 'GetParametersByPath', { Path: this.#path, NextToken }),
      'NextToken',
    );
    for await (const page of pages) {
      for (const { Name, Value: kept } of page['Parameters'] as readonly Record<'Name' | 'Value', string>[])
        try {
          const written = writtenOf(Name, kept);
          if (isStopped(written, await stateOf(this.#calls, written))) await this.#restore(written);
          else await this.#forget(written);
          ended += 1;
        } catch (error) {
          failed.push(error instanceof CliError ? error.message : `${Name}: ${String(error)}`);
        }
    }
    if (failed.length > 0) throw new CliError('not-ended', failed.join('\n'), EXIT.failed);
    return ended;
  }

  async #restore(written: Written): Promise<void> {
    await set(this.#calls, written, written.state);
    await this.#forget(written);
  }

  async #forget(written: Written): Promise<void> {
    await unlessGone(
      this.#calls.rest('scheduler', 'DeleteSchedule', 'DELETE', `/schedules/${this.#name(written)}`),
    );
    await unlessGone(this.#calls.json('ssm', 'DeleteParameter', { Name: this.#parameter(written) }));
  }

  get #path(): string {
    return `/steadfast/${this.#stack}/verify`;
  }

  #parameter(fault: Fault): string {
    return `${this.#path}/${keyOf(fault)}`;
  }

  /** https://docs.aws.amazon.com/scheduler/latest/APIReference/API_CreateSchedule.html: at most so long. */
  #name(fault: Fault): string {
    return `steadfast-verify-${keyOf(fault)}`.slice(0, LONGEST_NAME);
  }
}

const LONGEST_NAME = 64;
/** Only characters that the names of a parameter and of a schedule may have. */
const keyOf = ({ kind, id }: Fault): string =>
  `${kind}-${(id.split('/').at(-1) ?? id).replaceAll(/[^\w.-]/g, '-').slice(-40)}`;

/** @throws CliError `not-ended` where it is none of what was written here */
function writtenOf(name: string, kept: string): Written {
  const { kind, id, state, ...others } = parsed(kept) as Partial<Written>;
  if (typeof id === 'string' && FAULT_KINDS.some((one) => one === kind) && state !== undefined)
    return { ...others, kind, id, state } as Written;
  throw new CliError(
    'not-ended',
    `the parameter ${name} holds no fault of steadfast verify: read it, then delete it`,
    EXIT.failed,
  );
}

const FAULT_KINDS: readonly Fault['kind'][] = ['rule', 'mapping', 'concurrency'];

function parsed(text: string): object {
  try {
    return Object(JSON.parse(text)) as object;
  } catch {
    return {};
  }
}

const isStopped = ({ kind }: Fault, state: Value | null): boolean =>
  state !== null && (kind === 'concurrency' ? Number(state) === 0 : KINDS[kind].isStopped(state));

const concurrencyPath = (version: string, name: string): string =>
  `/${version}/functions/${encodeURIComponent(name)}/concurrency`;

/** @returns null where it is gone */
async function stateOf(calls: Calls, { kind, id }: Fault): Promise<Value> {
  if (kind !== 'concurrency') return (await KINDS[kind].state(calls, id)) ?? null;
  const path = concurrencyPath('2019-09-30', id);
  const found = await unlessGone<Answer>(calls.rest('lambda', 'GetFunctionConcurrency', 'GET', path));
  return found === undefined ? null : Number(found['ReservedConcurrentExecutions'] ?? -1);
}

async function set(calls: Calls, { kind, id }: Fault, state: Value): Promise<void> {
  if (kind !== 'concurrency') {
    await KINDS[kind].set(calls, id, state);
    return;
  }
  const path = concurrencyPath('2017-10-31', id);
  const most = state === STOPPED ? 0 : Number(state);
  const body = { ReservedConcurrentExecutions: most };
  const made =
    most < 0
      ? calls.rest('lambda', 'DeleteFunctionConcurrency', 'DELETE', path)
      : calls.rest('lambda', 'PutFunctionConcurrency', 'PUT', path, body);
  await (state === STOPPED ? made : unlessGone(made));
}

/**
 * What a schedule calls to make it as it was, in the partition of its role: China's and the government's
 * regions are in others.
 * https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html
 */
function restoring(
  { kind, id, state }: Written,
  roleArn: string,
): { readonly Arn: string; readonly Input: string } {
  const [, partition = 'aws'] = roleArn.split(':');
  const target = (call: string, input: object): { readonly Arn: string; readonly Input: string } => ({
    Arn: `arn:${partition}:scheduler:::aws-sdk:${call}`,
    Input: JSON.stringify(input),
  });
  switch (kind) {
    case 'rule': {
      const [, path = ''] = id.split(':rule/');
      const [Name = '', EventBusName] = path.split('/').toReversed();
      return target(state === 'DISABLED' ? 'eventbridge:disableRule' : 'eventbridge:enableRule', {
        Name,
        ...(EventBusName === undefined ? {} : { EventBusName }),
      });
    }
    case 'mapping':
      return target('lambda:updateEventSourceMapping', { Uuid: id, Enabled: state === true });
    case 'concurrency':
      return Number(state) < 0
        ? target('lambda:deleteFunctionConcurrency', { FunctionName: id })
        : target('lambda:putFunctionConcurrency', {
            FunctionName: id,
            ReservedConcurrentExecutions: Number(state),
          });
  }
}
