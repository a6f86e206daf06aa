/**
 * An execution that is following up, in small states (S21): what ends it, the decision then, the notice to
 * its parent.
 */

import { decide } from '../../../lib/core/decide.ts';
import { RULES } from '../../../lib/core/rules.ts';
import { explain } from '../../../lib/explain/why.ts';
import { commandProblem } from '../../../lib/core/operators/obey.ts';
import type { AgentStep, Plan } from '../../../lib/core/plan/plan.ts';
import type { Event } from '../../../lib/core/decisions/events.ts';
import type { Parent } from '../../../lib/core/records/children.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import { keyEpoch, effectKeyOf } from '../../../lib/core/step/effect-key.ts';
import { openWork } from '../../../lib/core/step/ready.ts';
import { planInStatus } from '../../../lib/core/plan/on-failure.ts';
import { endOf } from '../../../lib/core/waiting/child-end.ts';
import { stateAfterRetry } from '../../../lib/core/execution/after-retry.ts';
import { nextWakeAt } from '../../../lib/core/supervision/wake-time.ts';
import { inputs, recordOf, see, stateOf } from '../one-step.ts';
import { planStep, planWith } from '../../author/refusals.ts';
import { NOW } from '../states.ts';

const DAY = 86_400_000;
const tell: AgentStep = { ...planStep, name: 'tell', recovery: [] };
const plan: Plan = planWith({}, { onFailure: [tell, { ...tell, name: 'file', after: ['tell'] }] });
const plain: Plan = planWith({});
const failure = { code: 'x', message: 'y' };
const cause = { kind: 'failure', at: NOW - 5, step: 'it', failure } as const;
const end = { status: 'failed', at: NOW - 2, version: 4 } as const;
const parent: Parent = { executionId: 'p-1', step: 'sub', index: 0 };
const failed = recordOf('it', 'failed', { failure });
const ending: Partial<Execution> = { status: 'compensating', cause, wakeAt: NOW, version: 3 };
const following: Partial<Execution> = { status: 'following-up', cause, end, wakeAt: NOW, version: 7 };
const during = planInStatus(plan, { status: 'following-up' });
const tellDone = (more: Partial<Step> = {}): Step => recordOf('tell', 'done', more);
const filed = (status: Step['status'], more: Partial<Step> = {}): Step => recordOf('file', status, more);
const at = (records: Step[], more: Partial<Execution> = {}) => stateOf(records, { ...following, ...more });

describe('the end', () => {
  it('is made by one write, with what it will be, and its version', () => {
    const { write, next } = see(plan, stateOf([failed], ending));
    expect(write?.step).toBeUndefined();
    expect(write?.execution).toMatchObject({
      status: 'following-up',
      version: 4,
      end: { status: 'failed', at: NOW, version: 4 },
      cause,
      dispatches: {},
    });
    expect(write?.execution).not.toHaveProperty('endedAt');
    expect(next).toEqual({ kind: 'evaluate', fresh: true, affected: 'all' });
  });

  it.each<[string, Plan, Partial<Execution>]>([
    ['of a workflow without on-failure steps', plain, {}],
    ['that the parent made', plan, { cause: { ...cause, kind: 'parent' } }],
  ])('%s is the last status at once', (_, of, more) => {
    const { write, next } = see(of, stateOf([failed], { ...ending, ...more }));
    expect(write?.execution).toMatchObject({ endedAt: NOW, version: 4 });
    expect(write?.execution?.status).not.toBe('following-up');
    expect(write?.execution).not.toHaveProperty('end');
    expect(next).toMatchObject({ fresh: false });
  });

  it.each(['failed', 'canceled', 'compensated'] as const)('is %s once all that follows is over', (status) => {
    const over = at([failed, tellDone(), filed('skipped')], { end: { ...end, status } });
    expect(see(plan, over).write?.execution).toMatchObject({ status, endedAt: NOW, end: { status } });
  });

  it('waits for every on-failure step of this epoch', () => {
    const open = at([failed, tellDone(), filed('retrying', { retryAt: NOW + 5 })]);
    expect(see(plan, open).write?.execution?.status ?? 'following-up').toBe('following-up');
    const stale = at([failed, tellDone(), filed('done')], { epoch: 2 });
    expect(see(plan, stale).write?.execution?.status ?? 'following-up').toBe('following-up');
  });
});

describe('while it follows up', () => {
  const report = (step: string): Event => ({
    type: 'report',
    step,
    token: 't',
    report: { kind: 'done', codeReturned: true, output: {} },
    onTime: false,
    ...inputs,
  });

  it('its own steps alone are work, in their order', () => {
    expect(openWork(during, at([failed])).map(({ step }) => step.name)).toEqual(['tell']);
    expect(openWork(during, at([failed, tellDone()])).map(({ step }) => step.name)).toEqual(['file']);
    expect(openWork(plan, stateOf([failed], { status: 'running' }))).toEqual([]);
  });

  it('takes no late word of a step, and none of an on-failure step before or after', () => {
    const late = { token: 't', mode: 'execute' } as const;
    const unknown = recordOf('it', 'retrying', late);
    expect(decide(plan, at([unknown]), report('it')).write).toBeUndefined();
    const retrying = recordOf('tell', 'retrying', late);
    expect(decide(plan, at([failed, retrying]), report('tell')).write?.step?.status).toBe('done');
    for (const status of ['running', 'compensating', 'failed'] as const)
      expect(decide(plan, at([failed, retrying], { status }), report('tell')).write).toBeUndefined();
  });

  it('a stop by the parent, the deadline and a command change nothing', () => {
    const state = at([failed], { parent, deadlineAt: NOW - 1, end: { ...end, parentKnows: true } });
    expect(decide(plan, state, { type: 'stop', undo: true, ...inputs }).write).toBeUndefined();
    expect(see(plan, state).write?.execution?.status ?? 'following-up').toBe('following-up');
    const command = { commandId: 'c', reason: 'r' };
    for (const type of ['cancel', 'pause', 'resume', 'retry'] as const) {
      expect(commandProblem(plan, state, { type, ...command }, NOW)).toContain(
        'on-failure steps are under way',
      );
      expect(decide(plan, state, { type, ...command, ...inputs }).write).toBeUndefined();
    }
  });

  it('has no wake time in the past for a deadline that is over', () => {
    const busy = recordOf('tell', 'retrying', { retryAt: NOW + 60_000, changedAt: NOW });
    const state = at([failed, busy], { deadlineAt: NOW - DAY });
    expect(nextWakeAt(RULES[state.execution.status], during, state, {}, NOW)).toBeGreaterThan(NOW);
  });

  it('asks a person about what nobody could perform for a day', () => {
    const deferred = { mode: 'execute', why: 'not-deployed', at: NOW - 5 } as const;
    const waits = (sinceMs: number) =>
      at([
        failed,
        recordOf('tell', 'retrying', { deferred, retryAt: NOW + 5, undoDeferredAt: NOW - sinceMs }),
      ]);
    expect(see(plan, waits(DAY)).write?.step).toMatchObject({
      status: 'waiting',
      failure: { code: 'on-failure-overdue' },
    });
    expect(see(plan, waits(DAY - 1)).write?.step).toBeUndefined();
    expect(nextWakeAt(RULES['following-up'], during, waits(DAY - 1), {}, NOW)).toBeLessThanOrEqual(NOW + 1);
  });

  it('is explained', () => {
    const { steps, past, next } = explain(
      plan,
      at([failed, filed('tolerated', { mayHaveActed: true, failure })]),
      NOW,
    );
    expect(steps.map(({ name, status, because }) => [name, status, because])).toEqual([
      ['it', 'failed', expect.stringContaining('its recovery has no attempt left')],
      ['tell', 'ready', 'it waits for an agent to take it'],
      [
        'file',
        'tolerated',
        'it failed (x: y), which does not change how the execution ended: it may have acted all the same',
      ],
    ]);
    expect(past.map(({ what }) => what)).toContain(
      'nothing is left to undo: it will end as failed, and its on-failure steps begin',
    );
    expect(next.who).toBe('agent');
  });
});

describe('an on-failure step of an earlier end', () => {
  it('begins as if it had no record, under a key of this one', () => {
    const attempts = [{ number: 3, mode: 'execute', claimedAt: 1, endedAt: 2, outcome: 'done' }] as const;
    const before = tellDone({ attempt: 3, key: 2, keyVariant: 1, output: {}, attempts, token: 't' });
    const { steps, execution } = stateAfterRetry(plan, at([failed, before], { epoch: 2 }));
    const anew = steps['tell'] as Step;
    expect(anew).toMatchObject({
      status: 'ready',
      version: before.version,
      epoch: 2,
      attempt: 3,
      key: 1,
      keyVariant: 0,
      mayHaveActed: false,
      attempts: [{ ...attempts[0], epoch: 1 }],
    });
    expect([anew.output, anew.token]).toEqual([undefined, undefined]);
    expect(effectKeyOf(execution, 'tell', 1, keyEpoch(plan, anew))).toBe('e-1.on-failure-2.tell.life1');
    expect(effectKeyOf(execution, 'it', 2, keyEpoch(plan, failed))).toBe('e-1.it.life1-2');
    const running = stateAfterRetry(plan, at([failed, before], { epoch: 2, status: 'running' }));
    expect(running.steps['tell']).toBe(before);
  });
});

describe('a parent', () => {
  const child = { parent, epoch: 1 } as const;

  it('is notified once, with the version of the end, before anything is announced', () => {
    const first = see(plan, at([failed], child));
    expect(first.notifyParent).toEqual({
      parent,
      end: { status: 'failed', version: 4, clean: true, why: "step 'it' failed (x)" },
    });
    expect(first.write?.execution?.end).toEqual({ ...end, parentKnows: true });
    const known = { ...child, end: { ...end, parentKnows: true as const } };
    expect(see(plan, at([failed], known)).notifyParent).toBeUndefined();
    const over = at([failed, tellDone(), filed('tolerated', { mayHaveActed: true })], {
      ...known,
      status: 'failed',
    });
    expect(endOf(plan, over)).toEqual(first.notifyParent?.end);
    const last = see(plan, over);
    const onFailureFailed = [{ step: 'file', code: 'failed', mayStand: true }];
    expect(last.announce).toMatchObject({ about: 'end', onFailureFailed });
    expect(last.notifyParent).toBeUndefined();
    expect(last.write?.execution).not.toHaveProperty('wakeAt');
  });

  it('that is tried again has it go on once it is over, by the write that says that its end was announced', () => {
    const restart = { type: 'restart', endVersion: 4, ...inputs } as const;
    const asked = decide(plan, at([failed], child), restart);
    expect(asked.write?.execution).toMatchObject({
      status: 'following-up',
      version: 8,
      end: { again: true },
    });
    const again = { ...child, end: { ...end, parentKnows: true as const, again: true as const } };
    expect(decide(plan, at([failed], again), restart).write).toBeUndefined();
    expect(decide(plan, at([failed], child), { ...restart, endVersion: 7 }).write).toBeUndefined();
    const over = see(
      plan,
      at([failed, tellDone(), filed('done')], { ...again, status: 'failed', endedAt: NOW }),
    );
    expect(over.announce).toMatchObject({ status: 'failed' });
    expect(over.write?.execution).toMatchObject({ status: 'running', epoch: 2 });
    expect(over.write?.execution).not.toHaveProperty('end');
    expect(over.next).toMatchObject({ kind: 'evaluate' });
    // A restart also finds an end that was written and not yet announced: it is announced first.
    const written = at([failed, tellDone(), filed('done')], { ...child, status: 'failed', endedAt: NOW });
    expect(decide(plan, written, restart).write?.execution).toMatchObject({
      status: 'failed',
      end: { again: true },
    });
    const { wakeAt: _, ...announced } = written.execution;
    expect(decide(plan, { ...written, execution: announced }, restart).write?.execution).toMatchObject({
      status: 'running',
      epoch: 2,
    });
  });

  it('that stops it after that makes it another end, which nobody can have go on', () => {
    const again = { ...child, end: { ...end, again: true as const } };
    const stopped = decide(plan, at([failed], again), { type: 'stop', undo: true, endVersion: 4, ...inputs });
    expect(stopped.write?.execution?.end).toEqual({ ...end, version: 8 });
    const state = { ...at([failed]), execution: stopped.write?.execution as Execution };
    expect(decide(plan, state, { type: 'restart', endVersion: 4, ...inputs }).write).toBeUndefined();
    expect(endOf(plan, state)).toMatchObject({ version: 8 });
  });

  it('cannot have it go on where an operator canceled it and left things as they are', () => {
    const canceled = { ...child, cause: { ...cause, kind: 'cancel', undo: false } as const };
    expect(
      decide(plan, at([failed], canceled), { type: 'restart', endVersion: 4, ...inputs }).write,
    ).toBeUndefined();
  });
});
