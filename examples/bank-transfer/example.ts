/**
 * The ways in which a transfer fails, the people who answer its questions, and the audit of the two banks'
 * books.
 */

import { createClient } from 'steadfast/client';
import type { Audit, Example, OutsideWorld, Scene, Seen, Stage } from '../gallery/example.ts';
import type { Rule } from '../world/behaviour.ts';
import { audit, clearingOf, wrongAtAnyMoment } from './audit.ts';
import type { BankEntry } from './books.ts';
import type { Account } from './contracts.ts';
import { FOUR_EYES_ABOVE } from './workflow.ts';

const ADA: Account = { bank: 'north', account: 'ada' };
const BEN: Account = { bank: 'south', account: 'ben' };
const MALLORY: Account = { bank: 'south', account: 'mallory' };

const ledgerOf = (world: OutsideWorld): Promise<readonly BankEntry[]> =>
  world.ledger() as Promise<readonly BankEntry[]>;

/** Calls the API as a person: on a laptop a header names the person; in a deployment, the authorizer does. */
const as = ({ cloud }: Stage, name: string) =>
  createClient({
    url: cloud.url,
    authorization: (send) => (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set('x-local-user', name);
      return send(input, { ...init, headers });
    },
  });

async function start(stage: Stage, transfer: string, to = BEN, amount = 25_000): Promise<string> {
  const input = { transfer, from: ADA, to, amount };
  const started = await as(stage, 'ann').start('bank-transfer', { input, idempotencyKey: transfer });
  return started.executionId;
}

async function post({ world }: Stage, path: string, body: object): Promise<{ readonly id: string }> {
  const response = await fetch(`${world.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path} was answered ${response.status}`);
  return (await response.json()) as { id: string };
}

/** Whether the requested slowness has happened. */
async function isMet({ world }: Stage, transfer: string): Promise<true | undefined> {
  const { rules } = (await (await fetch(`${world.url}/behave`)).json()) as {
    readonly rules: readonly Rule[];
  };
  return rules.some(({ match, fired }) => match?.about === transfer && fired > 0) ? true : undefined;
}

const scenes: readonly Scene[] = [
  {
    name: 'lost-reply',
    wrong: "The payer's bank debits, and its answer is lost",
    ends: ['succeeded'],
    play: async (stage, transfer) => {
      const match = { about: transfer, reference: '.debit.' };
      await stage.world.behave({ service: 'north', mode: 'drop-reply', times: 1, match });
      return start(stage, transfer);
    },
    tell: () => 'Unknown, so nothing was booked again: a probe found the booking by its reference.',
  },
  {
    name: 'killed',
    wrong: "The agent that credits is killed, and the payee's bank books three seconds later",
    ends: ['succeeded'],
    play: async (stage, transfer) => {
      const match = { about: transfer, reference: '.credit.' };
      await stage.world.behave({ service: 'south', mode: 'slow', ms: 3_000, times: 1, match });
      const executionId = await start(stage, transfer);
      await stage.until('the request', () => isMet(stage, transfer));
      stage.cloud.kill('post-booking');
      return executionId;
    },
    tell: () => 'Its lease ran out, a probe found what it had set off, and nobody credited a second time.',
  },
  {
    name: 'four-eyes',
    wrong: 'Who started a large transfer wants to release it as well',
    ends: ['succeeded'],
    play: async (stage, transfer) => {
      const executionId = await start(stage, transfer, BEN, FOUR_EYES_ABOVE + 1);
      const token = await stage.until('the approval', async () => {
        const { steps } = await stage.client.get(executionId);
        const release = steps.find(({ name }) => name === 'release');
        return release?.status === 'running' || release?.waitsUntil !== undefined
          ? release?.token
          : undefined;
      });
      const own = await as(stage, 'ann')
        .callbacks.complete(token, { approved: true })
        .catch((error: { code?: string }) => error.code);
      if (own !== 'not-another') throw new Error(`ann released her own transfer: ${JSON.stringify(own)}`);
      await as(stage, 'ben').callbacks.complete(token, { approved: true });
      return executionId;
    },
    tell: ({ steps }) =>
      `Ann got 403 not-another; ${steps.find(({ name }) => name === 'release')?.by?.name} released it.`,
  },
  {
    name: 'sanctioned',
    wrong: 'The payee is on the sanctions list',
    ends: ['compensated'],
    play: (stage, transfer) => start(stage, transfer, MALLORY),
    tell: () => 'What was held is released. Nothing was booked.',
  },
  {
    name: 'blocked',
    wrong: 'The payee may not be paid, and the payer may not be paid back either',
    ends: ['compensated'],
    play: async (stage, transfer) => {
      const block = ({ bank, account }: Account) =>
        post(stage, `/${bank}/blocks`, { reference: 'a court', transfer, account });
      const [, back] = await Promise.all([block(BEN), block(ADA)]);
      const executionId = await start(stage, transfer);
      const incident = await stage.until('the incident', async () => {
        const { incidents } = await stage.client.get(executionId);
        return incidents.find(({ closedAt }) => closedAt === undefined);
      });
      await post(stage, `/${ADA.bank}/blocks/${back.id}/lift`, {});
      await as(stage, 'carl').questions.resolve(executionId, incident.number, { choice: 'retry' });
      return executionId;
    },
    tell: ({ incidents }) =>
      `The return of the debit failed for good: a person was asked, and the money was in clearing meanwhile. Carl had the block lifted and answered '${incidents[0]?.choice}'.`,
  },
];

async function audited({ stage, played }: Seen): Promise<Audit> {
  const entries = await ledgerOf(stage.world);
  const over = played.flatMap(({ subject, end }) =>
    end === undefined ? [] : [{ transfer: subject, status: end.status }],
  );
  const moments = entries.filter(({ kind }) => kind === 'booking' || kind === 'reversal').length;
  const clearing = clearingOf(entries);
  const open = clearing.filter((amount) => amount !== 0).length;
  const isSound = wrongAtAnyMoment(entries).length === 0;
  return {
    ledger: `${moments} bookings at two banks; after each of them each of ${clearing.length} transfers had ${isSound ? '' : 'NOT always '}nothing or its whole amount in clearing, and ${open} have any there at the end`,
    findings: audit(entries, over),
  };
}

export default {
  title:
    'Bank transfer: reserve, screen, two persons above a limit, debit at one bank and credit at another; of no transfer is any money missing between the two, not even for a moment.',
  world: 'BANK_URL',
  scenes,
  audit: audited,
} satisfies Example;
