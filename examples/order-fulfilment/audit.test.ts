import { audit, type AuditedExecution } from './audit.ts';
import type { EntryKind, MailSubject, OrderEntry as Entry } from './world.ts';

/**
 * The third part of a mail is its subject; the third part of a charge is the authorisation that it captures.
 */
type Line = readonly [kind: EntryKind, id: string, of?: string];

/** A ledger of one execution, by default `x`. */
const ledger = (lines: readonly Line[], executionId = 'x'): Entry[] =>
  lines.map(([kind, id, of], index) => ({
    seq: index + 1,
    at: index,
    service: 'payment',
    kind,
    id,
    reference: 'r',
    executionId,
    ...(of === undefined
      ? {}
      : kind === 'mail'
        ? { subject: of as MailSubject }
        : kind === 'charge'
          ? { authorisationId: of }
          : { of }),
  }));

const execution = (status: string): AuditedExecution => ({ executionId: 'x', status });

const FORWARD: readonly Line[] = [
  ['charge', 'c1'],
  ['reservation', 'r1'],
  ['shipment', 's1'],
  ['mail', 'm1', 'on-its-way'],
];
/** The customer of an order that is undone gets a mail. */
const TOLD: Line = ['mail', 'm9', 'not-fulfilled'];

const found = (lines: readonly Line[], status: string): string[] =>
  audit(ledger(lines), [execution(status)]).findings.map(
    ({ kind, effect, count }) => `${kind} ${effect} ${count}`,
  );

describe('the audit finds nothing', () => {
  test('in a plain success, and counts it', () => {
    const { executions, ...result } = audit(ledger(FORWARD), [execution('succeeded')]);
    expect(result).toEqual({ findings: [], doubleCharges: 0, lostCharges: 0, doubleRefunds: 0 });
    expect(executions).toEqual([
      {
        executionId: 'x',
        status: 'succeeded',
        findings: [],
        counts: {
          charge: 1,
          refund: 0,
          reservation: 1,
          release: 0,
          shipment: 1,
          cancellation: 0,
          mail: 1,
        },
      },
    ]);
  });

  test('in a clean compensation, with or without something to take back', () => {
    expect(
      found([...FORWARD.slice(0, 2), ['refund', 'f1', 'c1'], ['release', 'l1', 'r1'], TOLD], 'compensated'),
    ).toEqual([]);
    expect(found([TOLD], 'compensated')).toEqual([]);
    expect(found([TOLD], 'canceled')).toEqual([]);
  });

  test('in a mail that was sent before the order was undone: it cannot be taken back', () => {
    expect(found([['mail', 'm1', 'on-its-way'], TOLD], 'canceled')).toEqual([]);
  });

  test('in a mail that is missing where its step says so', () => {
    const silent = (status: string, name: string): unknown =>
      audit(ledger(status === 'succeeded' ? FORWARD.slice(0, 3) : []), [
        { executionId: 'x', status, steps: [{ name, status: 'tolerated' }] },
      ]).findings;
    expect(silent('succeeded', 'notify')).toEqual([]);
    expect(silent('compensated', 'tell-customer')).toEqual([]);
    expect(silent('compensated', 'notify')).toHaveLength(1);
  });

  test('in what a skipped step has not done: the order was paid before', () => {
    const steps = ['charge', 'reserve', 'ship', 'notify'].map((name) => ({ name, status: 'skipped' }));
    expect(audit([], [{ executionId: 'x', status: 'succeeded', steps }]).findings).toEqual([]);
  });

  test('in repeats that a deduplicating service answered from memory', () => {
    expect(found([...FORWARD, ['repeat', 'p1', 'r1']], 'succeeded')).toEqual([]);
  });

  test('in what an open or failed execution has not taken back: it claims nothing', () => {
    expect(found(FORWARD, 'running')).toEqual([]);
    expect(found(FORWARD, 'compensating')).toEqual([]);
    expect(found(FORWARD, 'failed')).toEqual([]);
  });
});

describe('the audit finds', () => {
  test('a planted double charge, also where the second one was refunded and where the execution is open', () => {
    const twice: Line[] = [...FORWARD, ['charge', 'c2']];
    expect(found(twice, 'succeeded')).toEqual(['double charge 1']);
    expect(found([...twice, ['refund', 'f1', 'c2']], 'succeeded')).toEqual(['double charge 1']);
    expect(found(twice, 'running')).toEqual(['double charge 1']);
    expect(audit(ledger([...twice, ['charge', 'c3']]), [execution('succeeded')]).doubleCharges).toBe(2);
  });

  test('a lost charge: succeeded, but never charged or given back', () => {
    expect(found(FORWARD.slice(1), 'succeeded')).toEqual(['lost charge 1']);
    expect(found([...FORWARD, ['refund', 'f1', 'c1']], 'succeeded')).toEqual(['lost charge 1']);
    expect(audit(ledger(FORWARD.slice(1)), [execution('succeeded')]).lostCharges).toBe(1);
  });

  test('a charge that a compensated or canceled execution kept', () => {
    expect(found([['charge', 'c1'], TOLD], 'compensated')).toEqual(['lost charge 1']);
    expect(found([['charge', 'c1'], TOLD], 'canceled')).toEqual(['lost charge 1']);
  });

  test('a customer who got no mail, two mails, or a false one', () => {
    expect(found([], 'compensated')).toEqual(['lost mail 1']);
    expect(found([['mail', 'm1', 'on-its-way']], 'canceled')).toEqual(['lost mail 1']);
    expect(found([TOLD, ['mail', 'm8', 'not-fulfilled']], 'compensated')).toEqual(['double mail 1']);
    expect(found([...FORWARD, TOLD], 'succeeded')).toEqual(['untrue mail 1']);
  });

  test('a double refund', () => {
    const lines: Line[] = [['charge', 'c1'], ['refund', 'f1', 'c1'], ['refund', 'f2', 'c1'], TOLD];
    expect(found(lines, 'compensated')).toEqual(['double-undo charge 1']);
    expect(audit(ledger(lines), [execution('compensated')])).toMatchObject({
      doubleRefunds: 1,
      doubleCharges: 0,
      lostCharges: 0,
    });
  });

  test('a refund of a charge that never was', () => {
    const lines: Line[] = [['refund', 'f1', 'c9'], TOLD];
    expect(found(lines, 'compensated')).toEqual(['stray-undo charge 1']);
    expect(audit(ledger(lines), [execution('compensated')]).lostCharges).toBe(1);
  });

  test('a key that came with other parameters', () => {
    expect(found([...FORWARD, ['misuse', 'p1', 'r1']], 'succeeded')).toEqual(['misuse reservation 1']);
  });

  test('the same of reservations, shipments and mails', () => {
    const without = (effect: EntryKind): Line[] => FORWARD.filter(([kind]) => kind !== effect);
    expect(found(without('reservation'), 'succeeded')).toEqual(['lost reservation 1']);
    expect(found(without('shipment'), 'succeeded')).toEqual(['lost shipment 1']);
    expect(found(without('mail'), 'succeeded')).toEqual(['lost mail 1']);
    expect(found([...FORWARD, ['shipment', 's2'], ['mail', 'm2', 'on-its-way']], 'succeeded')).toEqual([
      'double shipment 1',
      'double mail 1',
    ]);
    expect(found([['reservation', 'r1'], ['shipment', 's1'], TOLD], 'compensated')).toEqual([
      'lost reservation 1',
      'lost shipment 1',
    ]);
  });

  test('an authorisation that is doubled, left open, voided twice or never was, and one that was refused', () => {
    const captured: Line[] = [['authorisation', 'a1'], ['charge', 'c1', 'a1'], ...FORWARD.slice(1)];
    const voided: Line[] = [['authorisation', 'a1'], ['void', 'v1', 'a1'], TOLD];
    expect([found(captured, 'succeeded'), found(voided, 'compensated')]).toEqual([[], []]);
    expect(found([['authorisation', 'a1'], ...FORWARD], 'succeeded')).toEqual(['lost authorisation 1']);
    expect(found([['authorisation', 'a1'], TOLD], 'compensated')).toEqual(['lost authorisation 1']);
    expect(found([['authorisation', 'a2'], ...captured], 'succeeded')).toEqual([
      'double authorisation 1',
      'lost authorisation 1',
    ]);
    expect(found([...voided, ['void', 'v2', 'a1']], 'compensated')).toEqual(['double-undo authorisation 1']);
    expect(found([['void', 'v1', 'a9'], TOLD], 'canceled')).toEqual(['stray-undo authorisation 1']);
    expect(found([...captured, ['breach', 'b1']], 'succeeded')).toEqual(['breach authorisation 1']);
  });

  test('a capture that is doubled, lost, or of an authorisation that is not open', () => {
    const rest = FORWARD.slice(1);
    const twice: Line[] = [['authorisation', 'a1'], ['charge', 'c1', 'a1'], ['charge', 'c2', 'a1'], ...rest];
    expect(found(twice, 'succeeded')).toEqual(['double charge 1']);
    expect(found([['authorisation', 'a1'], ['void', 'v1', 'a1'], ...rest], 'succeeded')).toEqual([
      'lost charge 1',
    ]);
    expect(found([['charge', 'c1', 'a9'], ...rest], 'succeeded')).toEqual(['breach charge 1']);
    const late: Line[] = [['authorisation', 'a1'], ['void', 'v1', 'a1'], ['charge', 'c1', 'a1'], ...rest];
    expect(found(late, 'succeeded')).toEqual(['breach charge 1']);
  });

  test('charges of an execution that nobody knows, and of none at all', () => {
    expect(audit(ledger([['charge', 'c1']], 'stranger'), [execution('compensated')]).lostCharges).toBe(1);
    const [{ executionId, ...orphan }] = ledger([['charge', 'c1']]) as [Entry];
    expect(executionId).toBe('x');
    expect(audit([orphan], []).lostCharges).toBe(1);
  });

  test('each execution on its own: one order’s charge does not stand in for another’s', () => {
    const entries = [...ledger(FORWARD.slice(1)), ...ledger([['charge', 'c1'], TOLD], 'y')];
    const { findings } = audit(entries, [
      execution('succeeded'),
      { executionId: 'y', status: 'compensated' },
    ]);
    expect(findings.map(({ executionId, kind }) => [executionId, kind])).toEqual([
      ['x', 'lost'],
      ['y', 'lost'],
    ]);
  });
});
