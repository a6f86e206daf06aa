/** Changing a record, the first record, and an execution's output, field by field. */

import { storedOutput, outputOf } from '../../../lib/core/execution/output.ts';
import { callbackKeysOf, newExecution, placeHolder } from '../../../lib/core/execution/start.ts';
import type { Execution } from '../../../lib/core/records/state.ts';
import { blankStep, stepAfter, stepAs } from '../../../lib/core/decisions/change.ts';
import { changesOf, planOf, recordOf, inputs, stateOf } from '../one-step.ts';
import { agentStepOf, callbackOf } from '../small-steps.ts';
import { NOW } from '../states.ts';

describe('a step’s next record (S2, S3)', () => {
  const before = recordOf('it', 'retrying', { retryAt: 5, token: 't' });
  it('forgets that it failed for good once it goes on, whatever makes it go on', () => {
    const failed = recordOf('it', 'waiting', { isPermanent: true, mayHaveActed: true });
    const goesOn = [
      ['choose-retry', 'retrying'],
      ['accept', 'accepted'],
      ['done', 'done'],
    ] as const;
    for (const [event, status] of goesOn)
      expect(stepAfter(failed, event, inputs, { status })).not.toHaveProperty('isPermanent');
    const ends = [
      ['choose-end', 'failed'],
      ['choose-retry', 'unknown'],
      ['start-undo', 'compensating'],
    ] as const;
    for (const [event, status] of ends)
      expect(stepAfter(failed, event, inputs, { status })).toHaveProperty('isPermanent', true);
  });

  it('that is not written yet has the version of the stored one', () => {
    expect(changesOf(before, stepAs(before, 'claim', { attempt: 3 }))).toStrictEqual({
      status: 'running',
      attempt: 3,
    });
  });

  it('begins as nothing', () => {
    const { writeId, changedAt, ...rest } = recordOf('it', 'ready', { version: 0, epoch: 4 });
    expect(blankStep('it', { life: 'life1', epoch: 4 })).toStrictEqual({
      ...rest,
      writeId: '',
      changedAt: 0,
    });
    expect([writeId, changedAt]).toStrictEqual(['w', NOW]);
  });
});

describe('the first record of an execution (S11, S12)', () => {
  const plan = planOf(agentStepOf('it'), callbackOf('c'));
  const given = { id: 'e-1', life: 'life1', plan: 'p', input: { n: 1 }, inputHash: 'h', writeId: 'w' };
  const first: Execution = {
    id: 'e-1',
    life: 'life1',
    workflow: 'flow',
    plan: 'p',
    status: 'running',
    version: 1,
    writeId: 'w',
    epoch: 1,
    input: { n: 1 },
    inputHash: 'h',
    startedAt: NOW,
    deadlineAt: NOW + 60_000,
    wakeAt: NOW + 30_000,
    commands: [],
    dispatches: {},
  };
  it('is born with its wake time', () => {
    expect(newExecution(plan, given, NOW)).toStrictEqual(first);
    expect(newExecution({ ...plan, withinMs: 9 }, given, NOW)).toMatchObject({
      deadlineAt: NOW + 9,
      wakeAt: NOW + 9,
    });
  });

  it('says what was given, and no more', () => {
    const more = {
      tags: { a: 'b' },
      replaces: 'e-0',
      parent: { executionId: 'p', step: 's', index: 0 },
      callbackKeys: { c: 'k' },
    };
    expect(newExecution(plan, { ...given, ...more }, NOW)).toStrictEqual({ ...first, ...more });
  });

  it('has a key for each of its callbacks', () => {
    let made = 0;
    const fresh = () => `key-${(made += 1)}`;
    expect(
      callbackKeysOf(
        planOf(callbackOf('a'), agentStepOf('it'), callbackOf('b', { kind: 'approval' })),
        fresh,
      ),
    ).toStrictEqual({ callbackKeys: { a: 'key-1', b: 'key-2' } });
    expect(callbackKeysOf(planOf(agentStepOf('it')), fresh)).toStrictEqual({});
  });

  it('may be a placeholder that counts as final: it has ended and was announced', () => {
    const parent = { executionId: 'p', step: 's', index: 0 };
    const { wakeAt: _, ...rest } = first;
    const fresh = { life: 'life1', writeId: 'w' };
    const place = placeHolder(plan, { id: 'e-1', planId: 'p', input: 1, parent }, fresh, NOW);
    expect(place).toStrictEqual({
      ...rest,
      input: null,
      inputHash: '',
      parent,
      status: 'canceled',
      endedAt: NOW,
      deadlineAt: NOW,
    });
    expect(place).not.toHaveProperty('wakeAt');
  });
});

describe('what an execution answers', () => {
  const parent = { executionId: 'p', step: 's', index: 0 };
  const sized = (bytes: number) => ({
    ...planOf(),
    output: { $ref: 'input', path: [] },
    input: 'x'.repeat(bytes - 2),
  });
  const kept = (bytes: number, more: Partial<Execution> = {}) => {
    const { input, ...plan } = sized(bytes);
    return Object.keys(storedOutput(plan, stateOf([], { input, ...more })));
  };
  it('stays in the record if it is small; with a parent, up to 100 KB', () => {
    expect([kept(200), kept(201), kept(100_000, { parent }), kept(100_001, { parent })]).toStrictEqual([
      ['output'],
      ['outputBytes'],
      ['output'],
      ['outputBytes'],
    ]);
    expect(
      storedOutput(
        { ...planOf(), output: { $ref: 'input', path: [] } },
        stateOf([], { input: 'x'.repeat(300) }),
      ),
    ).toStrictEqual({ outputBytes: 302 });
    expect(storedOutput({ ...planOf(), output: { $ref: 'step:b', path: [] } }, stateOf([]))).toStrictEqual({
      output: null,
    });
  });

  it('is shown as it is kept, or made anew up to 100 KB', () => {
    const plan = { ...planOf(), output: { $ref: 'input', path: [] } };
    const of = (more: Partial<Execution>) => outputOf(plan, stateOf([], { input: 7, ...more }));
    expect([
      of({ output: 5 }),
      of({}),
      of({ outputBytes: 100_000 }),
      of({ outputBytes: 100_001 }),
    ]).toStrictEqual([{ output: 5 }, {}, { output: 7 }, { outputBytes: 100_001 }]);
  });
});
