/**
 * The rules for undoing an execution and for announcing its end, as whole decisions in small states (S1, S10,
 * S12).
 */

import type { Plan } from '../../../lib/core/plan/plan.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Cause, Execution, Step } from '../../../lib/core/records/state.ts';
import { changesOf, heldAs, incidentOf, planOf, recordOf, see, stateOf } from '../one-step.ts';
import { agentStepOf, childOf, childrenOf, undoableOf } from '../small-steps.ts';
import { NOW } from '../states.ts';

const failure = { code: 'x', message: 'y' };
const cause: Cause = { kind: 'failure', at: NOW - 5, failure };
const compensating = (records: Step[], more: Partial<Execution> = {}): Snapshot =>
  stateOf(records, { status: 'compensating', cause, wakeAt: NOW + 5, ...more });
const all = { kind: 'evaluate', fresh: true, affected: 'all' } as const;

describe('the fence', () => {
  const plan = planOf(undoableOf('it'));
  it('fences what could still begin, in the step’s record alone', () => {
    const { write, ...rest } = see(plan, compensating([], { epoch: 3 }));
    expect(write).toStrictEqual({
      executionId: 'e-1',
      step: expect.objectContaining({ name: 'it', status: 'fenced', version: 1, epoch: 3, changedAt: NOW }),
    });
    const notes = [{ what: 'step-fenced', executionId: 'e-1', step: 'it' }];
    expect(rest).toStrictEqual({ sends: [], next: all, notes });
  });
});

describe('the end of an undo', () => {
  const [a, b] = [undoableOf('a'), undoableOf('b', { after: ['a'] })];
  const plan = planOf(a, b);
  const ended = (state: Snapshot, of: Plan = plan) => {
    const { write } = see(of, state);
    return write?.execution?.endedAt === undefined ? undefined : write.execution.status;
  };

  it('is written to the execution alone, and then announced; the wake time stays', () => {
    const state = compensating([recordOf('a', 'compensated'), recordOf('b', 'fenced')]);
    const { write, ...rest } = see(plan, state);
    expect(write?.step).toBeUndefined();
    expect(write?.executionId).toBe('e-1');
    expect(changesOf(state.execution, write?.execution)).toStrictEqual({
      status: 'compensated',
      version: 2,
      writeId: 'w-new',
      endedAt: NOW,
    });
    expect(rest).toStrictEqual({
      sends: [],
      next: { kind: 'evaluate', fresh: false, affected: ['x'] },
      notes: [{ what: 'compensated', executionId: 'e-1', failure: { code: 'x', message: 'y' } }],
    });
  });

  const left = { ...cause, undo: false } as const;
  const by = (kind: Cause['kind']): Cause => ({ ...cause, kind });
  const both = (...[first, second]: [Step['status'], Step['status']]) => [
    recordOf('a', first),
    recordOf('b', second),
  ];
  it.each<[string, Cause | undefined, Step[], Execution['status'] | undefined]>([
    ['a failure of which nothing acted', cause, [recordOf('a', 'failed')], 'failed'],
    ['a failure of which something is undone', cause, both('compensated', 'failed'), 'compensated'],
    ['a deadline', by('deadline'), both('compensated', 'fenced'), 'compensated'],
    ['a cancel', by('cancel'), both('compensated', 'fenced'), 'canceled'],
    ['a parent', by('parent'), [recordOf('a', 'fenced')], 'canceled'],
    ['a failure that leaves all as it is', left, both('done', 'failed'), 'failed'],
    ['one that leaves what is undone', left, both('compensated', 'failed'), 'failed'],
    ['a cancel with an undo that failed', by('cancel'), both('compensation-failed', 'fenced'), 'failed'],
    ['what is not undone yet', cause, both('done', 'fenced'), undefined],
    ['what is being undone', cause, [heldAs('undo', { name: 'a' }), recordOf('b', 'fenced')], undefined],
    ['what nobody has said why', undefined, [recordOf('a', 'failed')], 'failed'],
  ])('after %s', (_, given, records, status) => {
    const { cause: __, ...execution } = compensating(records).execution;
    const asked = { 1: incidentOf({ kind: 'undo', step: 'a', closedAt: NOW }) };
    const state = { ...compensating(records), execution: { ...execution, ...(given && { cause: given }) } };
    expect(ended({ ...state, questions: asked })).toBe(status);
  });

  it('names what could not be undone, and leaves what lies before that', () => {
    const asked = {
      1: incidentOf({ kind: 'undo', step: 'b', closedAt: NOW }),
      2: incidentOf({ kind: 'undo', step: 'c', number: 2, closedAt: NOW }),
    };
    const stuck = [
      recordOf('a', 'done'),
      recordOf('b', 'compensation-failed'),
      recordOf('c', 'compensation-failed'),
    ];
    const wide = planOf(a, b, undoableOf('c'));
    const { write, notes } = see(wide, { ...compensating(stuck), questions: asked });
    expect(write?.execution).toMatchObject({ status: 'failed', endedAt: NOW });
    expect(write?.execution?.cause).toStrictEqual({
      ...cause,
      failure: {
        code: 'compensation-failed',
        message: 'the effects of these steps could not be undone: b, c',
      },
    });
    const message = 'the effects of these steps could not be undone: b, c';
    const why = { code: 'compensation-failed', message };
    expect(notes).toStrictEqual([{ what: 'failed', executionId: 'e-1', failure: why }]);
    // Steps that do not come before the failed undo are undone first.
    const beside = planOf(a, undoableOf('b'), undoableOf('c'));
    expect(ended({ ...compensating(stuck), questions: asked }, beside)).toBeUndefined();
    // Nor does it end while an attempt on one of the remaining steps is under way.
    const busy = [heldAs('undo', { name: 'a' }), ...stuck.slice(1)];
    expect(ended({ ...compensating(busy), questions: asked }, wide)).toBeUndefined();
    const { cause: _, ...execution } = compensating(stuck).execution;
    const blank = see(wide, { ...compensating(stuck), execution, questions: asked });
    expect(blank.write?.execution).not.toHaveProperty('cause');
    expect(blank.write?.execution?.status).toBe('failed');
  });

  it('waits for the answer to a question', () => {
    const records = [recordOf('a', 'compensation-failed'), recordOf('b', 'fenced')];
    const open = { 1: incidentOf({ kind: 'undo', step: 'a' }) };
    expect(ended({ ...compensating(records), questions: open })).toBeUndefined();
    expect(see(plan, compensating(records)).write?.question).toMatchObject({ kind: 'undo', step: 'a' });
  });

  const childThat = (status: 'compensated' | 'canceled') => ({
    children: childrenOf({ 0: { status, version: 1, clean: true } }),
  });
  it.each<[string, 'required' | 'none', Step['status'], object, Execution['status']]>([
    ['compensated', 'required', 'compensated', childThat('compensated'), 'compensated'],
    ['left', 'none', 'failed', childThat('compensated'), 'compensated'],
    ['canceled', 'none', 'failed', childThat('canceled'), 'failed'],
    ['without any', 'required', 'failed', {}, 'failed'],
  ])('counts what an execution of its own has undone itself: %s', (_, undo, status, more, end) => {
    expect(ended(compensating([recordOf('it', status, more)]), planOf(childOf('it', { undo })))).toBe(end);
  });
});

describe('an end', () => {
  const plan = planOf(agentStepOf('it'));
  const of = (more: Partial<Execution> = {}) =>
    stateOf([recordOf('it', 'done')], {
      status: 'succeeded',
      startedAt: NOW - 99,
      endedAt: NOW - 9,
      wakeAt: NOW,
      dispatches: { k: { count: 1, lastAt: 1 } },
      ...more,
    });
  const announcement = {
    about: 'end',
    executionId: 'e-1',
    workflow: 'flow',
    status: 'succeeded',
    startedAt: NOW - 99,
    endedAt: NOW - 9,
  };
  const none = { sends: [], next: { kind: 'idle' }, notes: [] };

  it('is announced, and with the write that says so nobody watches any more', () => {
    const state = of();
    const { write, ...rest } = see(plan, state);
    expect(rest).toStrictEqual({ ...none, announce: announcement });
    expect(write).toStrictEqual({ executionId: 'e-1', execution: expect.anything() });
    expect(changesOf(state.execution, write?.execution)).toStrictEqual({
      version: 2,
      writeId: 'w-new',
      wakeAt: null,
      dispatches: {},
    });
  });

  it('is announced to the parent, and that of a part of a list only to it', () => {
    const parent = { executionId: 'p', step: 's', index: 0 };
    const end = { status: 'succeeded', version: 1, clean: false };
    expect(see(plan, of({ parent }))).toMatchObject({
      announce: announcement,
      notifyParent: { parent, end },
    });
    const part = see(plan, of({ parent: { ...parent, part: true } }));
    expect(part).not.toHaveProperty('announce');
    expect(part.notifyParent).toStrictEqual({ parent: { ...parent, part: true }, end });
  });

  it('is announced once, by its writer or by a supervisor', () => {
    const { wakeAt: _, ...over } = of().execution;
    expect(see(plan, { ...of(), execution: over })).toStrictEqual(none);
    expect(see(plan, of(), { by: 'agent', lostRace: true })).toStrictEqual(none);
    expect(see(plan, of(), { by: 'agent' }).announce).toStrictEqual(announcement);
    expect(see(plan, of(), { lostRace: true }).announce).toStrictEqual(announcement);
  });
});
