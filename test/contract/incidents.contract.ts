/**
 * The contract of every store of incidents: they are read back unchanged, written in one transaction with
 * their subject, and listed while open.
 */

import type { Store } from '../../lib/core/ports.ts';
import { type Incident, questionKey } from '../../lib/core/records/question.ts';
import { anExecution, aStep } from './records.ts';

export const anIncident = (changes: Partial<Incident> = {}): Incident => ({
  number: 1,
  life: 'life1',
  workflow: 'shop',
  version: 1,
  writeId: 'w-i',
  kind: 'recovery',
  step: 'a',
  stepVersion: 1,
  failure: { code: 'declined', message: 'no' },
  openedAt: 1_700_000_000_000,
  deadlineAt: 1_700_003_600_000,
  otherwise: 'undo-all',
  reminders: 0,
  ...changes,
});
const answered = (changes: Partial<Incident> = {}): Incident =>
  anIncident({
    version: 2,
    writeId: 'w-a',
    closedAt: 1_700_000_001_000,
    choice: 'skip',
    closedBy: 'answer',
    caller: { kind: 'local', name: 'ann' },
    ...changes,
  });

export function incidents(store: () => Store): void {
  beforeEach(async () => {
    await store().create(anExecution());
    await store().write({ executionId: 'e-1', step: aStep() });
  });
  const open = (incident = anIncident()) =>
    store().write({
      executionId: 'e-1',
      execution: anExecution({ version: 2, writeId: incident.writeId }),
      question: incident,
    });

  it('is read back as it was written, open and answered', async () => {
    expect(await open()).toBe('written');
    expect((await store().read('e-1'))?.questions).toStrictEqual({ 1: anIncident() });
    expect(await store().write({ executionId: 'e-1', question: answered({ reason: 'seen' }) })).toBe(
      'written',
    );
    expect((await store().read('e-1'))?.questions).toStrictEqual({ 1: answered({ reason: 'seen' }) });
  });

  it('is answered once: of two answers one is a conflict, and nothing of it is written', async () => {
    await open();
    const answer = (writeId: string, status: 'skipped' | 'failed') =>
      store().write({
        executionId: 'e-1',
        execution: anExecution({ version: 3, writeId }),
        step: aStep({ version: 2, writeId, status }),
        question: answered({ writeId }),
      });
    expect([await answer('w-1', 'skipped'), await answer('w-2', 'failed')]).toEqual(['written', 'conflict']);
    expect((await store().read('e-1'))?.steps['a']?.status).toBe('skipped');
    expect(await answer('w-1', 'skipped')).toBe('written');
  });

  it('is listed while it is open, the earliest deadline first, page by page', async () => {
    for (const number of [2, 1, 3]) {
      await store().write({
        executionId: 'e-1',
        question: anIncident({ number, deadlineAt: 1_700_000_000_000 - number }),
      });
    }
    await store().write({ executionId: 'e-1', question: answered({ number: 2 }) });
    const numbers: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await store().inbox(1, cursor);
      numbers.push(...page.items.map(({ question }) => Number(questionKey(question))));
      expect(page.items.every(({ executionId }) => executionId === 'e-1')).toBe(true);
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(numbers).toEqual([3, 1]);
  });

  it.each(['', 'nonsense', '-1'])(
    'is not listed by the cursor %j, which no list has returned',
    async (cursor) => {
      await expect(store().inbox(1, cursor)).rejects.toMatchObject({ code: 'bad-cursor' });
    },
  );

  it('is absent if it was never opened', async () => {
    expect(await store().inbox(10)).toEqual({ items: [] });
    expect(await store().read('e-1')).not.toHaveProperty('questions');
  });
}
