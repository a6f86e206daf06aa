/**
 * What `steadfast verify` finds on a running local cloud: a fault that is planted in a permission fails the
 * rows of what was refused, and what the game day breaks heals though the command is killed.
 */

import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ENTRIES } from '../../../cli/verify/checks/all.ts';
import { localPorts } from '../../../cli/verify/local.ts';
import { type LocalStack, startLocalStack } from '../../../cli/verify/local-stack.ts';
import type { Ports } from '../../../cli/verify/ports.ts';
import { run } from '../../../cli/verify/run.ts';
import { ended, until } from '../../../cli/verify/starting.ts';
import { ioOf } from '../../../cli/io.ts';
import { changed, ROOT, STACK, synthesized, type Template } from './planted.ts';

const folder = mkdtempSync(join(tmpdir(), 'steadfast-planted-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** How long a fault lasts here. */
const SHORT_MS = 10_000;

/** So fast does the time pass by which a check gives up. */
const PACE = 60;

const withoutPermission = (template: Template): Template =>
  changed(
    template,
    'AWS::IAM::Policy',
    ({ Properties }) => {
      const { Statement } = Properties['PolicyDocument'] as { Statement: { Action: unknown }[] };
      const effects = Statement.find(({ Action }) => JSON.stringify(Action).includes('dynamodb:DeleteItem'));
      if (effects !== undefined) effects.Action = 'dynamodb:Query';
    },
    ({ Properties }) => /verifyact/i.test(JSON.stringify(Properties['Roles'])),
  );

describe('on a local cloud with a missing permission', () => {
  let stack: LocalStack;

  beforeAll(async () => {
    const [assembly, broken] = [join(folder, 'cdk.out'), join(folder, 'broken')] as const;
    const template = await synthesized(assembly);
    cpSync(assembly, broken, { recursive: true });
    writeFileSync(join(broken, `${STACK}.template.json`), JSON.stringify(withoutPermission(template)));
    const io = ioOf({ out: () => true, err: () => true, env: process.env, isTTY: false });
    stack = await startLocalStack(io, broken);
  });
  afterAll(() => stack.stop());

  it('the rows of the order and of the permissions fail', async () => {
    const beganAt = Date.now();
    const real: Ports = await localPorts({ ...stack, runId: 'planted' });
    const clock = { ...real.clock, now: () => beganAt + (Date.now() - beganAt) * PACE };
    const entries = ENTRIES.filter(({ id }) => ['order', 'child', 'permissions'].includes(id));
    const phases = new Set(['smoke', 'traces'] as const);
    const results = await run(entries, { ...real, clock }, { phases, budget: 5, say: () => {} });
    expect(results.map(({ entry, outcome }) => [entry.id, outcome])).toEqual([
      ['order', 'failed'],
      ['child', 'held'],
      ['permissions', 'failed'],
    ]);
    expect(results[2]?.evidence).toContain('is not authorized to perform: dynamodb:PutItem');
  });

  it('every fault is gone within its time, though the game day was killed in the middle', async () => {
    const ports = await localPorts({ ...stack, runId: 'killed' });
    // A third fault is made, and nothing more is done: not even its end is asked for.
    const program = `
      import { ENTRIES } from './cli/verify/checks/all.ts';
      import { localPorts } from './cli/verify/local.ts';
      import { run } from './cli/verify/run.ts';
      const ports = await localPorts({ apiUrl: '${stack.apiUrl}', runId: 'killed' });
      let made = 0;
      const make = async (fault) => {
        await ports.faults.make({ ...fault, forMs: ${SHORT_MS} });
        made += 1;
        if (made === 3) process.kill(process.pid, 'SIGKILL');
      };
      const phases = new Set(['game-day']);
      const breaking = ENTRIES.filter(({ needs = [] }) => needs.includes('faults'));
      await run(breaking, { ...ports, faults: { ...ports.faults, make } }, { phases, budget: 5, say: () => {} });`;
    const args = ['--import', 'tsx', '--input-type=module', '--eval', program];
    const killed = promisify(execFile)(process.execPath, args, {
      cwd: ROOT,
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    await expect(killed).rejects.toMatchObject({ signal: 'SIGKILL' });
    const off = async (): Promise<number> => {
      const all = await Promise.all(
        ['schedules', 'mappings', 'functions'].map(async (what) => {
          const answer = await fetch(`${stack.apiUrl}/_local/${what}`);
          return (await answer.json()) as { readonly enabled: boolean }[];
        }),
      );
      return all.flat().filter(({ enabled }) => !enabled).length;
    };
    expect(await off()).toBe(3);
    expect(await until(ports, async () => ((await off()) === 0 ? 'gone' : undefined))).toBe('gone');
    expect((await ended(ports, 'verify-part', { n: 1 }, 'killed')).status).toBe('succeeded');
  });
});
