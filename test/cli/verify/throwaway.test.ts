/**
 * The stack of `verify` in an account: whatever a run is doing when it is interrupted or fails, nothing is
 * left, and nothing is made again.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { CallError, Calls } from '../../../cli/aws/calls.ts';
import type { CdkApp } from '../../../cli/verify/cdk.ts';
import { Throwaway } from '../../../cli/verify/throwaway.ts';

type Body = Record<string, unknown>;
const CHANGE =
  '<ResourceChange><Action>Modify</Action><Replacement>False</Replacement><ResourceType>AWS::Lambda::Function</ResourceType></ResourceChange>';

class FakeAccount extends Calls {
  now = 1_000_000;
  /** Nothing without a stack. */
  status: string | undefined = 'UPDATE_COMPLETE';
  readonly parameters = new Map<string, string>();
  readonly done: string[] = [];
  readonly projects: CdkApp[] = [];
  /** Its pages. */
  changeSet = [`<Status>CREATE_COMPLETE</Status>${CHANGE}`];
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

  override async form(operation: string, fields: Readonly<Record<string, string>>): Promise<string> {
    if (operation === 'DescribeChangeSet') {
      const at = Number(fields['NextToken'] ?? 0);
      const more = at + 1 < this.changeSet.length ? `<NextToken>${at + 1}</NextToken>` : '';
      return `${this.changeSet[at]}${more}`;
    }
    if (this.status === undefined)
      throw new CallError('cloudformation', 'ValidationError', 'Stack with id Shop does not exist', 400);
    return operation === 'DescribeStacks' ? `<StackStatus>${this.status}</StackStatus>` : '';
  }

  override async json(_service: string, operation: string, body: Body): Promise<Body> {
    if (operation === 'GetResources') return { ResourceTagMappingList: [] };
    if (operation === 'GetParametersByPath')
      return {
        Parameters: [...this.parameters]
          .filter(([name]) => name.startsWith(`${String(body['Path'])}/`))
          .map(([Name, Value]) => ({ Name, Value })),
      };
    if (operation === 'DeleteParameter') this.parameters.delete(String(body['Name']));
    if (operation === 'DeleteParameters')
      for (const name of body['Names'] as readonly string[]) this.parameters.delete(name);
    if (operation.endsWith('Table')) throw new CallError('dynamodb', 'ResourceNotFoundException', '', 400);
    return {};
  }

  override async rest(): Promise<Body> {
    throw new CallError('lambda', 'ResourceNotFoundException', '', 404);
  }

  readonly run = async (_io: unknown, project: CdkApp, _region: string, args: readonly string[]) => {
    const command = String(args[0]);
    this.done.push(`${command} ${this.status}`);
    this.projects.push(project);
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
const throwaway = (account: FakeAccount, before?: string): Throwaway => {
  const { run, clock } = account;
  return new Throwaway({ calls: account, io, stack: 'Shop', before, run, clock });
};

const FAULT = JSON.stringify({ kind: 'mapping', id: 'm1', forMs: 1, state: true });
const AT_REST = JSON.stringify([{ role: 'work', kind: 'mapping', id: 'm1', state: true }]);

it('leaves no parameter of a stack that was removed at rest, with a fault that stood', async () => {
  const account = new FakeAccount();
  account.parameters.set('/steadfast/Shop/quiesced/1', AT_REST);
  account.parameters.set('/steadfast/Shop/verify/mapping-m1', FAULT);
  account.parameters.set('/steadfast/Shop-prod/quiesced/1', AT_REST);
  await throwaway(account).removed();
  expect([...account.parameters.keys()]).toEqual(['/steadfast/Shop-prod/quiesced/1']);
});

it('keeps what was at rest of a stack that cannot be deleted, tries twice, and says why', async () => {
  const account = new FakeAccount();
  account.parameters.set('/steadfast/Shop/quiesced/1', AT_REST);
  account.meanwhile = () => Promise.reject(new Error('a bucket is not empty'));
  await expect(throwaway(account).removed()).rejects.toThrow(
    "'Shop' could not be removed: a bucket is not empty",
  );
  expect(account.done).toHaveLength(2);
  expect([...account.parameters.keys()]).toEqual(['/steadfast/Shop/quiesced/1']);
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

it('waits for tags, which are found minutes after a deployment, before it stops anything', async () => {
  const account = new FakeAccount();
  const { now: askedAt } = account;
  await expect(throwaway(account).atRest(async () => {})).rejects.toThrow("no stack named 'Shop'");
  expect(account.now - askedAt).toBeGreaterThanOrEqual(10 * 60_000);
});

it('reads every page of a change set', async () => {
  const account = new FakeAccount();
  account.changeSet.push(
    '<ResourceChange><Replacement>True</Replacement><LogicalResourceId>State</LogicalResourceId><ResourceType>AWS::DynamoDB::Table</ResourceType></ResourceChange>',
  );
  const stack = throwaway(account);
  await stack.deploy();
  expect(await stack.changeSet()).toEqual(['State (AWS::DynamoDB::Table) would be replaced']);
});

describe('a release before that is installed in a folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-before-'));
  const app = join(folder, 'node_modules/steadfast/dist/cli/verify/stack/app.js');
  mkdirSync(dirname(app), { recursive: true });
  writeFileSync(app, '');
  writeFileSync(join(folder, 'node_modules/steadfast/package.json'), '{"version":"0.9.0"}');
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('is found there by the CDK, which runs in that folder', async () => {
    const account = new FakeAccount();
    account.changeSet = ['<Status>FAILED</Status>'];
    await throwaway(account, relative(process.cwd(), folder)).change('before');
    const [project] = account.projects;
    expect(project).toMatchObject({ root: folder, app: expect.stringContaining(`"${app}"`) });
  });

  it('is no release before where deploying it would change nothing', async () => {
    const account = new FakeAccount();
    account.changeSet = [''];
    expect(await throwaway(account, folder).change('before')).toEqual({
      release: '0.9.0',
      problems: ['the change set is not there: ', 'it has no change'],
    });
  });
});
