/**
 * What every store must do with entries of the inbox: read back, one transaction with what they
 * concern, listed beside incidents.
 */

import type { InboxItem, Store } from '../../lib/core/ports.ts';
import type { Entry } from '../../lib/core/records/entry.ts';
import { anExecution, aStep } from './records.ts';

const T = 1_700_000_000_000;
export const anEntry = (changes: Partial<Entry> = {}): Entry => ({
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
const closed = (changes: Partial<Entry> = {}): Entry => {
  const { remindAt: _remindAt, unannounced: _unannounced, ...rest } = anEntry({ version: 2, writeId: 'w-s' });
  return { ...rest, closedAt: T + 5, closedBy: 'answer', outcome: 'done', ...changes };
};

export function entries(store: () => Store): void {
  beforeEach(async () => {
    await store().create(anExecution());
  });

  it('is read back as it was written, open and closed', async () => {
    expect(await store().write({ executionId: 'e-1', entry: anEntry() })).toBe('written');
    expect((await store().read('e-1'))?.entries).toStrictEqual({ a: anEntry() });
    expect(await store().write({ executionId: 'e-1', entry: closed() })).toBe('written');
    expect((await store().read('e-1'))?.entries).toStrictEqual({ a: closed() });
    expect(await store().read('e-1')).not.toHaveProperty('incidents');
  });

  it('is closed once, with its step: the second of two writes is a conflict, and nothing of it is written', async () => {
    await store().write({ executionId: 'e-1', entry: anEntry() });
    const end = (writeId: string, status: 'done' | 'failed') =>
      store().write({
        executionId: 'e-1',
        execution: anExecution({ version: 2, writeId }),
        step: aStep({ writeId, status }),
        entry: closed({ writeId }),
      });
    expect([await end('w-1', 'done'), await end('w-2', 'failed')]).toEqual(['written', 'conflict']);
    expect((await store().read('e-1'))?.steps['a']?.status).toBe('done');
    expect((await store().read('e-1'))?.entries?.['a']?.writeId).toBe('w-1');
    expect(await end('w-1', 'done')).toBe('written');
  });

  it('is listed beside the incidents while it is open, latest opened first, page by page', async () => {
    const put = (step: string, openedAt: number) =>
      store().write({ executionId: 'e-1', entry: anEntry({ step, openedAt }) });
    await put('first', T + 1);
    await put('third', T + 3);
    await put('fourth', T + 4);
    await store().write({
      executionId: 'e-1',
      incident: {
        number: 7,
        life: 'life1',
        version: 1,
        writeId: 'w-i',
        kind: 'recovery',
        stepVersion: 1,
        failure: { code: 'x', message: 'y' },
        openedAt: T + 2,
        deadlineAt: T + 9,
        otherwise: 'fail',
      },
    });
    await store().write({ executionId: 'e-1', entry: closed({ step: 'fourth' }) });
    const listed: string[] = [];
    let cursor: string | undefined;
    const nameOf = ({ executionId, incident, entry }: InboxItem): string =>
      `${executionId} ${incident?.number ?? entry?.step}`;
    do {
      const page = await store().inbox(1, cursor);
      listed.push(...page.items.map(nameOf));
      ({ cursor } = page);
    } while (cursor !== undefined);
    expect(listed).toEqual(['e-1 third', 'e-1 7', 'e-1 first']);
  });

  it('of another life is not there', async () => {
    await store().write({ executionId: 'e-1', entry: anEntry() });
    const stale = anEntry({ life: 'life0', step: 'b' });
    await store().write({ executionId: 'e-1', entry: stale });
    expect(Object.keys((await store().read('e-1'))?.entries ?? {})).toEqual(['a']);
  });
}
