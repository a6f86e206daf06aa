import { audit, wrongAtAnyMoment } from './audit.ts';
import type { BankEntry } from './books.ts';

type Line = Pick<BankEntry, 'kind'> & Partial<BankEntry>;

const ledger = (...lines: readonly Line[]): BankEntry[] =>
  lines.map((line, at) => ({
    seq: at + 1,
    at,
    id: `${line.kind}-${at + 1}`,
    service: 'bank',
    reference: 'r',
    executionId: 'x',
    transfer: 't',
    ...line,
  }));

const HOLD: Line = { kind: 'hold', id: 'h', account: 'ada', amount: 100 };
const DEBIT: Line = { kind: 'booking', id: 'd', from: 'ada', to: 'clearing', amount: 100 };
const CREDIT: Line = { kind: 'booking', id: 'c', from: 'clearing', to: 'ben', amount: 100 };
const BACK: Line = { ...DEBIT, kind: 'reversal', id: 'b', of: 'd' };
const RELEASE: Line = { ...HOLD, kind: 'release', id: 'l', of: 'h' };

/** Found after that end, in words. */
const after = (status: string, ...lines: readonly Line[]): string[] =>
  audit(ledger(...lines), [{ transfer: 't', status }]).map(({ kind, text }) => `${kind}: ${text}`);

test('nothing is wrong with a transfer, nor with one that is taken back', () => {
  expect(after('succeeded', HOLD, DEBIT, CREDIT)).toEqual([]);
  expect(after('compensated', HOLD, DEBIT, BACK, RELEASE)).toEqual([]);
  expect(after('compensated', HOLD, RELEASE)).toEqual([]);
});

describe('the auditor finds', () => {
  test('a booking of which one half is missing', () => {
    expect(wrongAtAnyMoment(ledger(HOLD, { ...DEBIT, to: 'nowhere' }))).toEqual([
      {
        kind: 'other',
        subject: 't',
        text: 'the sum of all accounts is 1020999900 in the place of 1021000000',
      },
    ]);
  });

  test('an account that was overdrawn, also if it is not any more', () => {
    const spent: Line = { ...DEBIT, from: 'dora' };
    expect(wrongAtAnyMoment(ledger(spent, { ...spent, kind: 'reversal' }))).toMatchObject([
      { text: "'dora' is overdrawn" },
    ]);
  });

  test('money that is credited before it is debited', () => {
    expect(after('succeeded', HOLD, CREDIT, DEBIT)).toEqual(['other: the clearing account has -100 of 100']);
  });

  test('a debit, a credit and a reversal that came twice', () => {
    expect(after('succeeded', HOLD, DEBIT, { ...DEBIT, id: 'd2' }, CREDIT, CREDIT)).toEqual([
      'other: the clearing account has 200 of 100',
      'doubled: 2 × debit',
      'doubled: 2 × credit',
    ]);
    expect(after('compensated', HOLD, DEBIT, BACK, BACK, RELEASE)).toContain('doubled: 2 × reversal of d');
  });

  test('money that stays in the clearing account', () => {
    expect(after('compensated', HOLD, DEBIT, RELEASE)).toEqual([
      'leftBehind: 100 in the clearing account',
      'lost: compensated, and not all is given back',
    ]);
  });

  test('a success without a credit, a hold that stays, and money that moves for nobody', () => {
    expect(after('succeeded', HOLD)).toEqual(['lost: succeeded, and nothing is credited']);
    expect(after('compensated', HOLD)).toEqual(['lost: compensated, and still held']);
    expect(audit(ledger(HOLD), [])).toMatchObject([{ kind: 'lost', text: 'a transfer that nobody knows' }]);
  });
});
