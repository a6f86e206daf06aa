/**
 * Runs the transfer with the deployed handlers, at two banks of its own; an auditor checks their books at
 * every moment.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  crashEverywhere,
  type CrashReport,
  type WorldEffect,
  type TestRun,
  testWorkflow,
  type WorkflowTest,
} from 'steadfast/testing';
import type { RuleInput } from '../world/behaviour.ts';
import { startWorld, type World } from '../world/server.ts';
import { handler as hold } from './agents/hold-funds.ts';
import { handler as post } from './agents/post-booking.ts';
import { handler as screen } from './agents/screen-transfer.ts';
import { clearingOf, wrongAtAnyMoment } from './audit.ts';
import { type BankEntry, balances, inClearing } from './books.ts';
import { type Account, postBooking } from './contracts.ts';
import { bankTransfer, type Transfer } from './workflow.ts';
import { DEEDS } from './world.ts';

const agents = [hold, screen, post];
const ADA: Account = { bank: 'north', account: 'ada' };
const BEN: Account = { bank: 'south', account: 'ben' };
const CLEO: Account = { bank: 'north', account: 'cleo' };
const SMALL: Transfer = { transfer: 't-1', from: ADA, to: BEN, amount: 25_000 };
/** Needs a second person's release. */
const LARGE: Transfer = { ...SMALL, amount: 1_000_001 };
const AT_THE_LIMIT: Transfer = { ...SMALL, amount: 1_000_000 };

let folder: string;
let world: World;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bank-'));
  world = await startWorld({ deeds: DEEDS, port: 0, ledgerFile: join(folder, 'ledger.jsonl') });
  process.env['BANK_URL'] = world.url;
});
afterEach(async () => {
  delete process.env['BANK_URL'];
  await world.stop();
  rmSync(folder, { recursive: true });
});

const send = async (path: string, body: object): Promise<{ readonly id: string }> => {
  const response = await fetch(`${world.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
  return (await response.json()) as { id: string };
};
const behave = (rule: RuleInput): Promise<unknown> => send('/behave', rule);
/** @returns a function that lifts the block */
async function block({ bank, account }: Account): Promise<() => Promise<unknown>> {
  const order = { reference: 'a court', transfer: SMALL.transfer, account };
  const { id } = await send(`/${bank}/blocks`, order);
  return () => send(`/${bank}/blocks/${id}/lift`, {});
}

const ledger = (): readonly BankEntry[] => [...world.ledger] as readonly BankEntry[];

const kinds = (): string[] => ledger().map(({ kind }) => kind);

/** Ada's balance, the amount in clearing, and Ben's balance. */
async function books(): Promise<unknown[]> {
  const entries = ledger();
  const has = balances(entries);
  return [has.get('north/ada'), inClearing(entries), has.get('south/ben')];
}

/** The effects that took place, and how often each was undone. */
function effects(): readonly WorldEffect[] {
  const entries = ledger();
  return entries
    .filter(({ kind }) => kind === 'hold' || kind === 'booking')
    .map(({ id, kind, reference }) => ({
      key: reference,
      kind,
      undone: entries.filter(({ of, kind: other }) => of === id && other !== 'repeat').length,
    }));
}

/** Starts the transfer as Ann and releases it as Ben. */
async function released(trial: WorkflowTest<Transfer>, transfer: Transfer): Promise<TestRun> {
  const run = await trial.start(transfer, { by: 'ann' });
  await run.waitForQuestion('release');
  await run.approve('release', { by: 'ben' });
  return run;
}

/** A transfer in which neither payee nor payer may be paid, until a person lifts the second block. */
async function liftedByAPerson(trial: WorkflowTest<Transfer>, transfer: Transfer): Promise<TestRun> {
  const blocks = await Promise.all([block(BEN), block(ADA)]);
  const run = await trial.start(transfer);
  await run.waitForIncident();
  for (const lift of blocks) await lift();
  await run.resolve({ choice: 'retry', by: 'carl' });
  return run;
}

test('a small transfer needs one person', async () => {
  const run = await testWorkflow(bankTransfer, { agents }).start(AT_THE_LIMIT);
  expect((await run.waitForEnd()).status).toBe('succeeded');
  expect(kinds()).toEqual(['hold', 'check', 'booking', 'booking']);
  expect(await books()).toEqual([999_000_000, 0, 2_000_000]);
});

describe('a large one', () => {
  test('is not released by the person who started it, but by another one', async () => {
    const trial = testWorkflow(bankTransfer, { agents });
    const run = await trial.start(LARGE, { by: 'ann' });
    await run.waitForQuestion('release');
    expect(trial.questionNews.map(({ shown }) => shown)).toEqual([
      { amount: LARGE.amount, from: LARGE.from.account, to: LARGE.to.account },
    ]);
    await expect(run.approve('release', { by: 'ann' })).rejects.toMatchObject({ code: 'not-another' });
    expect(kinds()).toEqual(['hold', 'check']);
    await run.approve('release', { by: 'ben' });
    expect((await run.waitForEnd()).status).toBe('succeeded');
  });

  test('that nobody releases in two days moves nothing, and is held no longer', async () => {
    const run = await testWorkflow(bankTransfer, { agents }).start(LARGE, { by: 'ann' });
    const { status, failure } = await run.waitForEnd();
    expect([status, failure?.code]).toEqual(['compensated', 'rejected']);
    expect(kinds()).toEqual(['hold', 'check', 'release']);
  });
});

describe('refused before anything moves is', () => {
  test('a payee on the sanctions list', async () => {
    const run = await testWorkflow(bankTransfer, { agents }).start({
      ...SMALL,
      to: { ...BEN, account: 'mallory' },
    });
    expect((await run.waitForEnd()).status).toBe('compensated');
    expect(kinds()).toEqual(['hold', 'release']);
  });

  test('what the payer has not got, and what is held for another transfer', async () => {
    const trial = testWorkflow(bankTransfer, { agents });
    const first = await trial.start({ ...SMALL, from: BEN, to: CLEO, amount: 900_000 });
    await first.until(({ steps }) => steps['reserve']?.status === 'done');
    const second = await trial.start({ ...SMALL, from: BEN, to: ADA, amount: 200_000 });
    expect((await second.waitForEnd()).failure?.message).toMatch("'south/ben' has not got 200000");
    expect((await first.waitForEnd()).status).toBe('succeeded');
  });
});

test('a booking of which no answer came is found by its reference, not booked again', async () => {
  await behave({ service: 'north', mode: 'drop-reply', match: { action: 'book' }, times: 1 });
  await behave({ service: 'south', mode: 'drop-reply', match: { action: 'book' }, times: 1 });
  expect((await (await testWorkflow(bankTransfer, { agents }).start(SMALL)).waitForEnd()).status).toBe(
    'succeeded',
  );
  expect(kinds()).toEqual(['hold', 'check', 'booking', 'booking']);
});

test('a booking that takes effect when its sender is long dead is not booked again', async () => {
  const trial = testWorkflow(bankTransfer, { agents });
  trial.lateEffect(postBooking, { by: '4s', times: 2 });
  expect((await (await trial.start(SMALL)).waitForEnd()).status).toBe('succeeded');
  expect(kinds().filter((kind) => kind === 'booking')).toHaveLength(2);
});

test('what cannot be credited is booked back', async () => {
  await block(BEN);
  expect((await (await testWorkflow(bankTransfer, { agents }).start(SMALL)).waitForEnd()).status).toBe(
    'compensated',
  );
  expect(kinds()).toEqual(['block', 'hold', 'check', 'booking', 'reversal', 'release']);
});

test('what cannot be booked back either waits in clearing for a person', async () => {
  const trial = testWorkflow(bankTransfer, { agents });
  const blocks = await Promise.all([block(BEN), block(ADA)]);
  const run = await trial.start(SMALL);
  const incident = await run.waitForIncident();
  expect([incident.step, incident.choices.map(({ choice }) => choice)]).toEqual([
    'debit',
    ['retry', 'skip', 'keep'],
  ]);
  expect(await books()).toEqual([999_975_000, 25_000, 1_000_000]);
  await blocks[1]();
  await run.resolve({ choice: 'retry', by: 'carl' });
  expect((await run.waitForEnd()).status).toBe('compensated');
  expect(await books()).toEqual([1_000_000_000, 0, 1_000_000]);
});

describe('a fault at any point loses and doubles nothing, and no moment has a part of a transfer in clearing:', () => {
  const expectSound = async (report: CrashReport, end: string): Promise<void> => {
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ [end]: report.runs + 1 });
    expect(wrongAtAnyMoment(ledger())).toEqual([]);
    expect(clearingOf(ledger()).filter((amount) => amount !== 0)).toEqual([]);
  };

  test('of a transfer that two persons release', async () => {
    await expectSound(
      await crashEverywhere(bankTransfer, { input: LARGE, agents, effects, scenario: released }),
      'succeeded',
    );
  });

  test('of one that a person has booked back', async () => {
    await expectSound(
      await crashEverywhere(bankTransfer, { input: SMALL, agents, effects, scenario: liftedByAPerson }),
      'compensated',
    );
  });
});
