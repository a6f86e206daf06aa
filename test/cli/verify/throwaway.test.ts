/**
 * The temporary stack of `verify`: if a run fails or is interrupted at any point, no resource is left or made
 * again.
 */

import { CallError, Calls } from '../../../cli/aws/calls.ts';
import { type Throwaway, throwaway } from '../../../cli/verify/throwaway.ts';

type Body = Record<string, unknown>;

class FakeAccount extends Calls {
  now = 1_000_000;
  hasStack = true;
  readonly done: string[] = [];
  /** Runs during a call of the CDK. */
  meanwhile: (command: string) => Promise<void> = async () => {};

  readonly clock = {
    now: () => this.now,
    sleep: async (ms: number): Promise<void> => {
      this.now += ms;
    },
  };

  constructor() {
    super({ region: 'eu-central-1', clock: { now: () => 0, sleep: async () => {} } });
  }

  override async form(): Promise<string> {
    if (this.hasStack) return '';
    throw new CallError('cloudformation', 'ValidationError', 'Stack with id Shop does not exist', 400);
  }

  override async json(): Promise<Body> {
    return { ResourceTagMappingList: [] };
  }

  readonly run = async (_io: unknown, _project: unknown, _region: string, args: readonly string[]) => {
    const command = String(args[0]);
    this.done.push(command);
    await this.meanwhile(command);
    if (command === 'destroy') this.hasStack = false;
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
const stackIn = (account: FakeAccount): Throwaway =>
  throwaway(account, io, 'Shop', account.run, account.clock);

it('tries for minutes to delete a stack, and says why it cannot', async () => {
  const account = new FakeAccount();
  account.meanwhile = () => Promise.reject(new Error('a bucket is not empty'));
  await expect(stackIn(account).removed()).rejects.toThrow(
    "'Shop' could not be removed: a bucket is not empty",
  );
  expect(account.now).toBe(1_000_000 + 9 * 60_000);
});

it('deletes a stack after its rollback, which goes on without its command', async () => {
  const account = new FakeAccount();
  account.meanwhile = async () => {
    if (account.now < 1_120_000) throw new Error('Shop is ROLLBACK_IN_PROGRESS');
  };
  await stackIn(account).removed();
  expect(account.done).toEqual(['destroy', 'destroy', 'destroy']);
});

it('removes nothing where no stack was made', async () => {
  const account = new FakeAccount();
  account.hasStack = false;
  await expect(stackIn(account).removed()).resolves.toBeUndefined();
});

it('deploys nothing after an interrupt, and removes the stack after the call that goes on (T2)', async () => {
  const account = new FakeAccount();
  const stack = stackIn(account);
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
  expect(account.done).toEqual(['deploy', 'deployed', 'destroy']);
});
