/**
 * The stack of `verify` in an account: whatever a run is doing when it is interrupted or fails, nothing is
 * left, and nothing is made again.
 */

import { CallError, Calls } from '../../../cli/aws/calls.ts';
import type { CdkApp } from '../../../cli/verify/cdk.ts';
import { Throwaway } from '../../../cli/verify/throwaway.ts';

type Body = Record<string, unknown>;

class FakeAccount extends Calls {
  now = 1_000_000;
  /** Nothing without a stack. */
  status: string | undefined = 'UPDATE_COMPLETE';
  readonly done: string[] = [];
  /** What a call of the CDK does meanwhile. */
  meanwhile: (command: string) => Promise<void> = async () => {};

  readonly clock = {
    now: () => this.now,
    sleep: async (ms: number): Promise<void> => {
      this.now += ms;
      this.status = this.status?.replace(/_IN_PROGRESS$/, '_COMPLETE');
    },
  };

  constructor() {
    super({ region: 'eu-central-1', clock: { now: () => 0, sleep: async () => {} } });
  }

  override async form(operation: string): Promise<string> {
    if (this.status === undefined)
      throw new CallError('cloudformation', 'ValidationError', 'Stack with id Shop does not exist', 400);
    return operation === 'DescribeStacks' ? `<StackStatus>${this.status}</StackStatus>` : '';
  }

  override async json(): Promise<Body> {
    return { ResourceTagMappingList: [] };
  }

  readonly run = async (_io: unknown, _project: CdkApp, _region: string, args: readonly string[]) => {
    const command = String(args[0]);
    this.done.push(`${command} ${this.status}`);
    await this.meanwhile(command);
    if (command === 'destroy') this.status = undefined;
  };
}

const said: string[] = [];
const io = {
  out: () => true,
  err: (text: string) => said.push(text) > 0,
  move: () => true,
  env: {},
  isTTY: false,
};
const throwaway = (account: FakeAccount): Throwaway => {
  const { run, clock } = account;
  return new Throwaway({ calls: account, io, stack: 'Shop', run, clock });
};

it('tries twice to delete a stack, and says why it cannot', async () => {
  const account = new FakeAccount();
  account.meanwhile = () => Promise.reject(new Error('a bucket is not empty'));
  await expect(throwaway(account).removed()).rejects.toThrow(
    "'Shop' could not be removed: a bucket is not empty",
  );
  expect(account.done).toHaveLength(2);
});

it('deletes a stack only after its update, which goes on without its command', async () => {
  const account = new FakeAccount();
  account.status = 'UPDATE_IN_PROGRESS';
  await throwaway(account).removed();
  expect(account.done).toEqual(['destroy UPDATE_COMPLETE']);
});

it('removes nothing where no stack was made', async () => {
  const account = new FakeAccount();
  account.status = undefined;
  await expect(throwaway(account).removed()).resolves.toBeUndefined();
});

it('deploys nothing after an interrupt, and removes the stack after the call that goes on (T2)', async () => {
  const account = new FakeAccount();
  const stack = throwaway(account);
  let removing: Promise<void> | undefined;
  account.meanwhile = async (command) => {
    if (command !== 'deploy') return;
    await new Promise((resolve) => setImmediate(resolve));
    removing ??= stack.removed();
    await new Promise((resolve) => setImmediate(resolve));
    account.done.push('deployed');
  };
  await expect(stack.deploy()).rejects.toThrow();
  await removing;
  expect(account.done).toEqual(['deploy UPDATE_COMPLETE', 'deployed', 'destroy UPDATE_COMPLETE']);
});
