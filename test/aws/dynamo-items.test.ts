/** Converting records to items and back. P10: a write of a healthy step takes one write unit. */

import * as fc from 'fast-check';
import {
  executionItem,
  executionOf,
  questionItem,
  questionOf,
  isExecutionItem,
  isStepItem,
  type Item,
  planItem,
  planOf,
  stepItem,
  stepOf,
} from '../../lib/aws/dynamo-items.ts';
import { shardOf } from '../../lib/aws/dynamo-indexes.ts';
import type { Incident } from '../../lib/core/records/question.ts';
import type { Execution, Step } from '../../lib/core/records/state.ts';
import { anExecution, aPlan, aStep, fullExecution, fullStep } from '../contract/records.ts';
import { check } from '../core/check.ts';
import { mixedCases as cases } from '../core/states.ts';

/** Counts as DynamoDB does: names and values in UTF-8, numbers by their digits. */
const bytesOf = (item: Item): number =>
  Object.entries(item).reduce((sum, [name, value]) => {
    const text = value.S ?? value.N ?? 'x';
    return (
      sum + Buffer.byteLength(name) + (value.N === undefined ? Buffer.byteLength(text) : text.length / 2 + 1)
    );
  }, 0);

describe('an item', () => {
  it.each([anExecution(), fullExecution()])('of an execution reads back as the record', (record) => {
    expect(executionOf(executionItem(record, 4))).toStrictEqual(record);
  });

  it.each([aStep(), fullStep()])('of a step reads back as the record', (record) => {
    expect(stepOf(stepItem('e-1', record))).toStrictEqual(record);
  });

  it('of any state reads back as that state', () => {
    check(
      fc.property(cases, ({ state }) => {
        expect(executionOf(executionItem(state.execution, 4))).toStrictEqual(state.execution);
        for (const step of Object.values(state.steps)) {
          expect(stepOf(stepItem('e-1', step))).toStrictEqual(step);
        }
      }),
      300,
    );
  });

  it('that names a value beside the table has no value, and reads back as the record', () => {
    const ref = { hash: 'h', id: 'w-1', bytes: 40_000 };
    const execution = anExecution({ input: null, inputAt: ref, outputAt: ref });
    const item = executionItem(execution, 4);
    expect(JSON.parse(item['json']?.S ?? '')).not.toHaveProperty('input');
    expect(executionOf(item)).toStrictEqual(execution);
    const step = aStep({ outputAt: ref });
    expect(stepOf(stepItem('e-1', step))).toStrictEqual(step);
  });

  it.each([
    'text',
    '',
    'half a \ud83d sign',
    0,
    -1,
    1.5,
    1e300,
    2 ** 60,
    true,
    false,
    null,
    [1],
    { a: { b: null } },
    { version: 9, writeId: 'x', pk: 'y' },
  ])('has any payload as it was: %j', (value) => {
    const execution = anExecution({ input: value, output: value });
    expect(executionOf(executionItem(execution, 4))).toStrictEqual(execution);
    const step = aStep({ output: value });
    expect(stepOf(stepItem('e-1', step))).toStrictEqual(step);
  });

  it('has a wake time with a fraction as its index wants it, and not in JSON', () => {
    const record = anExecution({ wakeAt: 1_700_000_000_000.255 });
    expect(executionItem(record, 4)['wakeAt']).toEqual({ N: '1700000000000.255' });
  });

  it('of a plan reads back as the plan', () => {
    expect(planOf(planItem('hash', aPlan))).toStrictEqual(aPlan);
  });

  it('of a paused, retried or deferred record reads back unchanged', () => {
    const pause = { number: 2, at: 1, reason: 'why', withinMs: 2, pausedAt: 3, deadlineAt: 5 };
    const retried = {
      at: 1,
      reason: 'why',
      cause: { kind: 'failure', at: 0, failure: { code: 'x', message: 'y' } },
    };
    const execution = {
      ...anExecution(),
      pauses: [pause],
      retries: [retried],
      replaces: 'e-0',
      epoch: 2,
    } as Execution;
    expect(executionOf(executionItem(execution, 4))).toStrictEqual(execution);
    const step = {
      ...aStep({ status: 'unknown', epoch: 2 }),
      restarted: true,
    } as Step;
    expect(stepOf(stepItem('e-1', step))).toStrictEqual(step);
    const asked: Incident = {
      number: 1,
      life: 'life1',
      workflow: 'shop',
      version: 2,
      writeId: 'w',
      kind: 'pause',
      stepVersion: 2,
      failure: { code: 'paused', message: 'why' },
      openedAt: 1,
      deadlineAt: 2,
      otherwise: 'undo-all',
      reminders: 0,
      movedFor: 1,
    };
    expect(questionOf(questionItem('e-1', asked))).toStrictEqual(asked);
  });

  it('is distinguished by its key', () => {
    const [execution, step] = [executionItem(anExecution(), 4), stepItem('e-1', aStep())];
    expect([isExecutionItem(execution), isStepItem(execution)]).toEqual([true, false]);
    expect([isExecutionItem(step), isStepItem(step)]).toEqual([false, true]);
  });

  it('is in the wake index only while somebody watches (C3)', () => {
    const { wakeAt: _, ...ended } = anExecution();
    expect(executionItem(anExecution(), 4)).toHaveProperty('wakeShard');
    expect(executionItem(ended, 4)).not.toHaveProperty('wakeShard');
    expect(executionItem(ended, 4)).not.toHaveProperty('wakeAt');
  });

  it('expires in the given time after the end, in seconds, and not before the end was announced', () => {
    const day = 86_400_000;
    const { wakeAt: _, ...told } = fullExecution();
    const ttlOf = (record: Execution, retentionMs?: number): Item[string] | undefined =>
      executionItem(record, 4, retentionMs)['expiresAt'];
    expect(ttlOf(told, 30 * day)).toEqual({ N: String(1_700_000_100 + 30 * 86_400) });
    expect(ttlOf({ ...told, endedAt: 1_700_000_100_001 }, day)).toEqual({ N: '1700086501' });
    expect(ttlOf(fullExecution(), day)).toBeUndefined();
    expect(ttlOf({ ...told, status: 'compensating' }, day)).toBeUndefined();
    expect(ttlOf(told)).toBeUndefined();
    expect(ttlOf({ ...told, parent: { executionId: 'e-0', step: 'a', index: 0 } }, day)).toBeUndefined();
    expect(executionOf(executionItem(told, 4, day))).toStrictEqual(told);
  });

  it('of a step that was done at once leaves out the history that follows from it; any other is kept', () => {
    const [claimedAt, changedAt] = [1_700_000_000_000, 1_700_000_000_500];
    const attempt = { number: 1, mode: 'execute', claimedAt, endedAt: changedAt, outcome: 'done' } as const;
    const done = aStep({
      status: 'done',
      mode: 'execute',
      token: 't',
      attempt: 1,
      claimedAt,
      changedAt,
      attempts: [attempt],
    });
    const histories = [
      [attempt],
      [],
      [
        { ...attempt, outcome: 'unknown' as const },
        { ...attempt, number: 2 },
      ],
    ];
    for (const attempts of histories) {
      const item = stepItem('e-1', { ...done, attempts });
      const others = JSON.parse(item['json']?.S ?? '{}') as object;
      expect([attempts.length, 'attempts' in others]).toEqual([attempts.length, attempts.length !== 1]);
      expect(stepOf(item)).toStrictEqual({ ...done, attempts });
    }
  });

  it('of a healthy step fits one write unit of 1 KB (P10)', () => {
    const id = '0193b7a2-0000-7000-8000-000000000000';
    const done = aStep({
      name: 'schedule-shipping',
      status: 'done',
      writeId: id,
      token: id,
      version: 3,
      heartbeat: 1,
      output: { trackingNumber: 'TRACK-123456789' },
      attempts: [
        {
          number: 1,
          mode: 'execute',
          claimedAt: 1_700_000_000_000,
          endedAt: 1_700_000_000_500,
          outcome: 'done',
        },
      ],
    });
    expect(bytesOf(stepItem(id, done))).toBeLessThan(1_024);
  });
});

describe('a shard', () => {
  it('is one of those there are, always the same, and none is left out', () => {
    check(
      fc.property(fc.stringMatching(/^[a-z0-9-]{1,64}$/), fc.integer({ min: 1, max: 64 }), (id, shards) => {
        const shard = shardOf(id, shards);
        expect(Number.isInteger(shard) && shard >= 0 && shard < shards).toBe(true);
        expect(shardOf(id, shards)).toBe(shard);
      }),
    );
    const counts = Array.from({ length: 4 }, () => 0);
    for (let at = 0; at < 4_000; at += 1) counts[shardOf(`e-${at}`, 4)]! += 1;
    for (const count of counts) expect(count).toBeGreaterThan(800);
  });
});
