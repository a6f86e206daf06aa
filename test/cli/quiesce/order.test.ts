/** The order of quiesce and unquiesce, interrupted anywhere: Q1 to Q3 of `cli/quiesce/order.ts`. */

import * as fc from 'fast-check';
import type { Kind, Role } from '../../../cli/quiesce/account.ts';
import { packed } from '../../../cli/quiesce/kept.ts';
import { awake, type Options, quiesce, unquiesce } from '../../../cli/quiesce/order.ts';
import { Crash, type Given, MemoryAccount } from './memory-account.ts';

const OPTIONS: Options = { drain: false, sources: false, say: () => undefined };
const part = (role: Role, kind: Kind, state: Given['state']): Given => ({ role, kind, state });
const SMALL: readonly Given[] = [
  part('supervision', 'rule', 'ENABLED'),
  part('work', 'mapping', true),
  part('work', 'service', { desired: 3, scaling: null }),
  part('start', 'mapping', true),
  part('start', 'route', null),
  part('source', 'schedule', 'ENABLED'),
  // Turned off by somebody before: it stays off.
  part('work', 'mapping', 'off'),
];

/** Calls it again after each crash, until it ends. */
async function insist(
  account: MemoryAccount,
  crashes: readonly [number, boolean][],
  act: () => Promise<unknown>,
) {
  for (const [left, after] of [...crashes, undefined].map((crash) => crash ?? ([0, false] as const))) {
    account.crash = left === 0 ? undefined : { left, after };
    try {
      await act();
      if (left === 0) break;
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
    }
  }
  account.crash = undefined;
}

const crashes = fc.array(fc.tuple(fc.integer({ min: 1, max: 20 }), fc.boolean()), { maxLength: 4 });
const state = fc.constantFrom<Given['state']>('off', 'ENABLED', true, null, { desired: 2, scaling: null });
const given = fc.array(
  fc.record({
    role: fc.constantFrom<Role>('source', 'start', 'work', 'supervision'),
    kind: fc.constantFrom<Kind>('mapping', 'rule', 'schedule', 'service', 'route'),
    state,
  }),
  { minLength: 1, maxLength: 10 },
);

test('whatever there is and wherever it breaks down, the end is the same and the former states come back (Q1, Q2, Q3)', async () => {
  await fc.assert(
    fc.asyncProperty(
      given,
      crashes,
      crashes,
      fc.boolean(),
      fc.boolean(),
      async (parts, first, second, sources, drain) => {
        const account = new MemoryAccount(parts);
        const before = structuredClone([...account.states]);
        account.openCount = 3;
        // Where nothing works, nothing that is open ends.
        const canDrain = drain && parts.some((each) => each.role === 'work' && each.state !== 'off');
        const options = { ...OPTIONS, sources, drain: canDrain };
        await insist(account, first, () => quiesce(account, account, options));
        for (const each of await account.find())
          expect([each.id, account.states.get(each.id) === 'off']).toEqual([
            each.id,
            each.role !== 'source' || sources || parts[Number(each.id.split('-')[1])]?.state === 'off',
          ]);
        expect(account.leasedNow === 0 || !parts.some(({ role }) => role === 'work')).toBe(true);
        await insist(account, second, () => unquiesce(account, OPTIONS));
        expect([...account.states]).toEqual(before);
        expect(account.kept).toEqual([]);
        expect(account.broken).toEqual([]);
      },
    ),
    { numRuns: 300 },
  );
});

test('a crash between the two commands, either way, forgets nothing', async () => {
  const account = new MemoryAccount(SMALL);
  const before = structuredClone([...account.states]);
  await insist(account, [[4, true]], async () => undefined);
  account.crash = { left: 4, after: true };
  await expect(quiesce(account, account, OPTIONS)).rejects.toThrow(Crash);
  account.crash = { left: 2, after: false };
  await expect(unquiesce(account, OPTIONS)).rejects.toThrow(Crash);
  account.crash = undefined;
  await quiesce(account, account, OPTIONS);
  await unquiesce(account, OPTIONS);
  expect([...account.states]).toEqual(before);
  expect(account.broken).toEqual([]);
});

test('sources of triggers go on, for their queues keep what they send, unless they are to stop', async () => {
  const stopped = async (sources: boolean): Promise<string[]> => {
    const account = new MemoryAccount(SMALL);
    await quiesce(account, account, { ...OPTIONS, sources });
    return account.events.filter((event) => event.startsWith('stop'));
  };
  const rest = [
    'stop start-3',
    'stop start-4',
    'stop work-1',
    'stop work-2',
    'stop work-6',
    'stop supervision-0',
  ];
  expect(await stopped(false)).toEqual(rest);
  expect(await stopped(true)).toEqual(['stop source-5', ...rest]);
});

test('with --drain the agents work until nothing is open', async () => {
  const account = new MemoryAccount(SMALL);
  account.openCount = 5;
  const said: string[] = [];
  await quiesce(account, account, { ...OPTIONS, drain: true, say: (line) => said.push(line) });
  expect(account.openCount).toBe(0);
  expect(said.findIndex((line) => line.startsWith('1 open'))).toBeGreaterThan(-1);
  expect(said.findIndex((line) => line.startsWith('stopping agents'))).toBeGreaterThan(
    said.findIndex((line) => line.startsWith('1 open')),
  );
});

test('a part that came since the first quiesce is kept and stopped by the second', async () => {
  const account = new MemoryAccount(SMALL);
  await quiesce(account, account, OPTIONS);
  const lost = account.kept.splice(0, 1);
  account.states.set(lost[0]!.id, lost[0]!.state);
  await quiesce(account, account, OPTIONS);
  expect(account.kept).toHaveLength(SMALL.length - 1);
  expect(account.broken).toEqual([]);
});

test('unquiesce without a quiesce changes nothing', async () => {
  const account = new MemoryAccount(SMALL);
  expect(await unquiesce(account, OPTIONS)).toEqual([]);
  expect(account.events.filter((event) => event !== 'forget')).toEqual([]);
});

test('what is kept is cut into texts of 4 KB at most, and nothing of it is lost', () => {
  const formers = Array.from({ length: 200 }, (_, at) => ({
    ...SMALL[at % 7]!,
    id: `${'x'.repeat(at % 90)}${at}`,
  }));
  const texts = packed(formers, 4_096);
  expect(texts.length).toBeGreaterThan(3);
  expect(Math.max(...texts.map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(4_096);
  expect(texts.flatMap((text) => JSON.parse(text) as unknown[])).toEqual(formers);
  expect(packed([], 4_096)).toEqual([]);
});

test('what a deployment in between turns on or adds is found, stopped by another quiesce, and named at the end', async () => {
  const account = new MemoryAccount(SMALL);
  await quiesce(account, account, OPTIONS);
  expect(await awake(account)).toEqual([]);
  account.deploy(['supervision-0'], part('start', 'mapping', true));
  expect((await awake(account)).map(({ id }) => id)).toEqual(['start-7', 'supervision-0']);
  await quiesce(account, account, OPTIONS);
  expect(await awake(account)).toEqual([]);
  account.deploy([], part('work', 'mapping', true));
  const said: string[] = [];
  await unquiesce(account, { say: (line) => said.push(line) });
  expect(said.at(-1)).toBe('deployed since, left as it is: mapping work-8');
  expect(account.kept).toEqual([]);
});
