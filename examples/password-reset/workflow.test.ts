/**
 * Runs the workflow with the deployed handlers, and the function that does the same, against their own
 * services.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PermanentError } from 'steadfast';
import { crashEverywhere, type WorldEffect, testWorkflow } from 'steadfast/testing';
import { handler as issue } from './agents/issue-token.ts';
import { handler as mail } from './agents/mail-link.ts';
import { issueToken, mailLink } from './contracts.ts';
import { handler as instead } from './instead.ts';
import { passwordReset, type Reset } from './workflow.ts';
import { startWorld, type World } from '../world/server.ts';
import { DEEDS } from './world.ts';

const agents = [issue, mail];
const reset: Reset = { account: 'ann@example.com' };

let folder: string;
let world: World;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reset-'));
  world = await startWorld({ deeds: DEEDS, port: 0, ledgerFile: join(folder, 'ledger.jsonl') });
  process.env['RESET_WORLD_URL'] = world.url;
});
afterEach(async () => {
  delete process.env['RESET_WORLD_URL'];
  await world.stop();
  rmSync(folder, { recursive: true });
});

const effects = (): WorldEffect[] =>
  world.ledger
    .filter(({ kind }) => kind === 'token' || kind === 'mail')
    .map(({ reference, kind, id }) => ({
      key: reference,
      kind,
      undone: world.ledger.filter(({ of, kind: what }) => of === id && what === 'revocation').length,
    }));
const made = (): readonly unknown[] => effects().map(({ kind, undone }) => [kind, undone]);

test('a link is mailed, and the token is in no record', async () => {
  const { status, steps } = await (await testWorkflow(passwordReset, { agents }).start(reset)).waitForEnd();
  expect([status, made()]).toEqual([
    'succeeded',
    [
      ['token', 0],
      ['mail', 0],
    ],
  ]);
  expect(steps['issue']?.output).toEqual({ token: 'token-1' });
});

test('a token that could not be mailed is revoked', async () => {
  const trial = testWorkflow(passwordReset, { agents });
  trial.loseReply(issueToken);
  trial.fail(mailLink, { times: Infinity, with: new PermanentError('no such mailbox') });
  expect((await (await trial.start(reset)).waitForEnd()).status).toBe('compensated');
  expect(made()).toEqual([['token', 1]]);
});

test('a mail service that is away until the token is worthless is not waited for any longer', async () => {
  const trial = testWorkflow(passwordReset, { agents });
  trial.fail(mailLink, { times: Infinity });
  const { status, tookMs } = await (await trial.start(reset)).waitForEnd();
  expect([status, made()]).toEqual(['compensated', [['token', 1]]]);
  expect(Math.round((tookMs ?? 0) / 60_000)).toBe(30);
});

describe('a fault at any point loses and doubles nothing', () => {
  test('on the way to the mail', async () => {
    const report = await crashEverywhere(passwordReset, { input: reset, agents, effects });
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ succeeded: report.runs + 1 });
  });

  test('nor on the way back', async () => {
    const report = await crashEverywhere(passwordReset, {
      input: reset,
      agents,
      effects,
      scenario: (trial, input) => {
        trial.fail(mailLink, { times: Infinity, with: new PermanentError('no such mailbox') });
        return trial.start(input);
      },
    });
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ compensated: report.runs + 1 });
  });
});

describe('a queue and a function', () => {
  const message = { messageId: 'm-1', body: JSON.stringify(reset) };

  test('do the same, once for each message, however often it is delivered', async () => {
    expect(await instead({ Records: [message, message] })).toEqual({ batchItemFailures: [] });
    expect(await instead({ Records: [message] })).toEqual({ batchItemFailures: [] });
    expect(made()).toEqual([
      ['token', 0],
      ['mail', 0],
    ]);
  });

  test('have what failed come again, and nothing else of its batch', async () => {
    const broken = { messageId: 'm-2', body: '{' };
    expect(await instead({ Records: [message, broken] })).toEqual({
      batchItemFailures: [{ itemIdentifier: 'm-2' }],
    });
    expect(made()).toHaveLength(2);
  });
});
