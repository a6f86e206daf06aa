/**
 * The contract of every store of open approvals and callbacks: they are read back unchanged, written in one
 * transaction with their subject, and listed with incidents.
 */

import type { InboxItem, Store } from '../../lib/core/ports.ts';
import { type CallbackQuestion, questionKey } from '../../lib/core/records/question.ts';
import { anExecution, aStep } from './records.ts';

const T = 1_700_000_000_000;
export const aCallback = (changes: Partial<CallbackQuestion> = {}): CallbackQuestion => ({
  step: 'a',
  life: 'life1',
  version: 1,
  writeId: 'w-n',
  kind: 'approval',
  openedAt: T,
  deadlineAt: T + 3_600_000,
  otherwise: 'reject',
  workflow: 'flow',
  tags: { orderId: 'o-1' },
  shown: { amount: 5_200, room: { number: 7 }, vip: null },
  reminders: 2,
  remindedAt: T + 120_000,
  remindAt: T + 180_000,
  unannounced: ['opened', 'reminded'],
  ...changes,
});
const closed = (changes: Partial<CallbackQuestion> = {}): CallbackQuestion => {
  const {
    remindAt: _remindAt,
    unannounced: _unannounced,
    ...rest
  } = aCallback({ version: 2, writeId: 'w-s' });
  return { ...rest, closedAt: T + 5, closedBy: 'answer', outcome: 'done', ...changes };
};

export function openCallbacks(store: () => Store): void {
  beforeEach(async () => {
    await store().create(anExecution());
  });

  it('is read back as it was written, open and closed', async () => {
    expect(await store().write({ executionId: 'e-1', question: aCallback() })).toBe('written');
    expect((await store().read('e-1'))?.questions).toStrictEqual({ a: aCallback() });
    expect(await store().write({ executionId: 'e-1', question: closed() })).toBe('written');
    expect((await store().read('e-1'))?.questions).toStrictEqual({ a: closed() });
  });

  it('is closed once, with its step: the second of two writes is a conflict, and nothing of it is written', async () => {
    await store().write({ executionId: 'e-1', question: aCallback() });
    const end = (writeId: string, status: 'done' | 'failed') =>
      store().write({
        executionId: 'e-1',
        execution: anExecution({ version: 2, writeId }),
        step: aStep({ writeId, status }),
        question: closed({ writeId }),
      });
    expect([await end('w-1', 'done'), await end('w-2', 'failed')]).toEqual(['written', 'conflict']);
    expect((await store().read('e-1'))?.steps['a']?.status).toBe('done');
    expect((await store().read('e-1'))?.questions?.['a']?.writeId).toBe('w-1');
    expect(await end('w-1', 'done')).toBe('written');
  });

  it('is listed beside the incidents while it is open, the earliest deadline first, page by page', async () => {
    const put = (step: string, deadlineAt: number) =>
      store().write({ executionId: 'e-1', question: aCallback({ step, deadlineAt }) });
    await put('first', T + 1);
    await put('third', T + 3);
    await put('fourth', T + 4);
    await store().write({
      executionId: 'e-1',
      question: {
        number: 7,
        life: 'life1',
        workflow: 'shop',
        version: 1,
        writeId: 'w-i',
        kind: 'recovery',
        stepVersion: 1,
        failure: { code: 'x', message: 'y' },
        openedAt: T + 9,
        deadlineAt: T + 2,
        otherwise: 'keep',
        reminders: 0,
      },
    });
    await store().write({ executionId: 'e-1', question: closed({ step: 'fourth' }) });
    const listed: string[] = [];
    let cursor: string | undefined;
    const nameOf = ({ executionId, question }: InboxItem): string =>
      `${executionId} ${questionKey(question)}`;
    do {
      const page = await store().inbox(1, cursor);
      listed.push(...page.items.map(nameOf));
      ({ cursor } = page);
    } while (cursor !== undefined);
    expect(listed).toEqual(['e-1 first', 'e-1 7', 'e-1 third']);
  });

  it('of another life is not there', async () => {
    await store().write({ executionId: 'e-1', question: aCallback() });
    const stale = aCallback({ life: 'life0', step: 'b' });
    await store().write({ executionId: 'e-1', question: stale });
    expect(Object.keys((await store().read('e-1'))?.questions ?? {})).toEqual(['a']);
  });
}
