import { audit, wrongAtAnyMoment } from './audit.ts';
import { type BankEntry, inClearing } from './books.ts';

type Line = Pick<BankEntry, 'kind'> & Partial<BankEntry>;

const ledger = (...lines: readonly Line[]): BankEntry[] =>
  lines.map((line, at) => ({
    seq: at + 1,
    at,
    id: `${line.kind}-${at + 1}`,
    service: 'north',
    reference: 'r',
    executionId: 'x',
    transfer: 't',
    ...line,
  }));

const HOLD: Line = { kind: 'hold', id: 'h', account: 'ada', amount: 100 };
const DEBIT: Line = { kind: 'booking', id: 'd', account: 'ada', side: 'debit', amount: 100 };
const CREDIT: Line = {
  kind: 'booking',
  id: 'c',
  service: 'south',
  account: 'ben',
  side: 'credit',
  amount: 100,
};
const BACK: Line = { ...DEBIT, kind: 'reversal', id: 'b', of: 'd' };
const RELEASE: Line = { ...HOLD, kind: 'release', id: 'l', of: 'h' };

/** The audit's findings after that end, in words. */
const after = (status: string, ...lines: readonly Line[]): string[] =>
  audit(ledger(...lines), [{ transfer: 't', status }]).map(({ kind, text }) => `${kind}: ${text}`);

test('nothing is wrong with a transfer, nor with one that is taken back', () => {
  expect(after('succeeded', HOLD, DEBIT, CREDIT)).toEqual([]);
  expect(after('compensated', HOLD, DEBIT, BACK, RELEASE)).toEqual([]);
  expect(after('compensated', HOLD, RELEASE)).toEqual([]);
});

describe('the auditor finds', () => {
  test('a booking without its counterpart: a credit without a debit, a debit without a credit', () => {
    expect(after('succeeded', HOLD, CREDIT)).toEqual([
      'other: -100 of 100 in clearing',
      'leftBehind: -100 in clearing',
    ]);
    expect(after('succeeded', HOLD, DEBIT)).toEqual([
      'leftBehind: 100 in clearing',
      'lost: succeeded, and nothing is credited',
    ]);
  });

  test('a reversal without its counterpart: the payer has it back, and the payee keeps it', () => {
    expect(after('compensated', HOLD, DEBIT, CREDIT, BACK, RELEASE)).toEqual([
      'other: -100 of 100 in clearing',
      'leftBehind: -100 in clearing',
    ]);
  });

  test('two banks that booked different amounts', () => {
    expect(after('succeeded', HOLD, DEBIT, { ...CREDIT, amount: 90 })).toEqual([
      'other: 10 of 100 in clearing',
      'leftBehind: 10 in clearing',
    ]);
    expect(after('succeeded', HOLD, { ...DEBIT, amount: 90 }, { ...CREDIT, amount: 90 })).toEqual([
      'other: 90 of 100 in clearing',
    ]);
  });

  test('what two transfers have wrong between them, and their sum hides', () => {
    const other: Partial<BankEntry> = { transfer: 'u', executionId: 'y' };
    const entries = ledger(HOLD, DEBIT, { ...HOLD, ...other, id: 'g' }, { ...CREDIT, ...other });
    expect(inClearing(entries)).toBe(0);
    const over = ['t', 'u'].map((transfer) => ({ transfer, status: 'succeeded' }));
    expect(audit(entries, over)).toMatchObject([
      { subject: 'u', text: '-100 of 100 in clearing' },
      { subject: 't', text: '100 in clearing' },
      { subject: 'u', text: '-100 in clearing' },
      { subject: 't', text: 'succeeded, and nothing is credited' },
    ]);
  });

  test('an account that was overdrawn, also if it is not any more', () => {
    const spent: Line = { ...DEBIT, account: 'dora' };
    expect(wrongAtAnyMoment(ledger(spent, { ...spent, kind: 'reversal' }))).toMatchObject([
      { text: "'north/dora' is overdrawn" },
    ]);
  });

  test('money that is credited before it is debited', () => {
    expect(after('succeeded', HOLD, CREDIT, DEBIT)).toEqual(['other: -100 of 100 in clearing']);
  });

  test('a debit, a credit and a reversal that came twice', () => {
    expect(after('succeeded', HOLD, DEBIT, { ...DEBIT, id: 'd2' }, CREDIT, CREDIT)).toEqual([
      'other: 200 of 100 in clearing',
      'doubled: 2 × debit',
      'doubled: 2 × credit',
    ]);
    expect(after('succeeded', HOLD, DEBIT, CREDIT, CREDIT)).toEqual([
      'other: -100 of 100 in clearing',
      'doubled: 2 × credit',
      'leftBehind: -100 in clearing',
    ]);
    expect(after('compensated', HOLD, DEBIT, BACK, BACK, RELEASE)).toContain('doubled: 2 × reversal of d');
  });

  test('money that stays in clearing', () => {
    expect(after('compensated', HOLD, DEBIT, RELEASE)).toEqual([
      'leftBehind: 100 in clearing',
      'lost: compensated, and not all is given back',
    ]);
  });

  test('a success without a credit, a hold that stays, and money that moves for nobody', () => {
    expect(after('succeeded', HOLD)).toEqual(['lost: succeeded, and nothing is credited']);
    expect(after('compensated', HOLD)).toEqual(['lost: compensated, and still held']);
    expect(audit(ledger(HOLD), [])).toMatchObject([{ kind: 'lost', text: 'a transfer that nobody knows' }]);
  });
});
