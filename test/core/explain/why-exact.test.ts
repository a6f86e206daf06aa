/** The words of an explanation: what each step's state rests on, whatever that is. */

import { explain } from '../../../lib/core/explain/why.ts';
import type { AgentStep, Plan, PlanStep } from '../../../lib/core/plan/plan.ts';
import type { Incident } from '../../../lib/core/records/incident.ts';
import type { Execution, Parked, Step } from '../../../lib/core/records/state.ts';
import type { StepStatus } from '../../../lib/core/transitions.ts';
import { heldAs, planOf, recordOf, stateOf, step } from '../one-step.ts';
import { planStep } from '../refusals.ts';
import { NOW } from '../states.ts';
import { incidentOf, isoOf } from '../words.ts';

const failure = { code: 'x', message: 'y' };
const plan = planOf(step);
const of = (
  records: readonly Step[],
  execution: Partial<Execution> = {},
  more: { plan?: Plan; incidents?: readonly Incident[]; name?: string } = {},
) => {
  const state = {
    ...stateOf(records, execution),
    incidents: Object.fromEntries((more.incidents ?? []).map((one) => [one.number, one])),
  };
  return explain(more.plan ?? plan, state, NOW).steps.find(({ name }) => name === (more.name ?? 'it'));
};
const because = (...given: Parameters<typeof of>): string | undefined => of(...given)?.because;
const record = (status: StepStatus, more: Partial<Step> = {}): Step =>
  recordOf('it', status, { attempt: 2, undoAttempt: 3, ...more });
const acted = '; an attempt of unknown outcome may have acted';
const undoing = { status: 'undoing' } as const;

describe('a step that somebody holds', () => {
  it.each<[Parameters<typeof heldAs>[0], string]>([
    ['execute', 'an agent holds it (attempt 2), beat 3'],
    ['probe', 'an agent holds it (probe of attempt 2), beat 3'],
    ['undo', 'an agent holds it (undo 5), beat 3'],
  ])('to %s', (mode, words) => {
    expect(because([heldAs(mode, { attempt: 2, undoAttempt: 5 })])).toBe(words);
    const heard = heldAs(mode, { attempt: 2, undoAttempt: 5, heartbeatAt: NOW });
    expect(because([heard])).toBe(`${words} at ${new Date(NOW).toISOString()}`);
  });
});

describe('a step that nobody holds', () => {
  it.each<[string, Step, Partial<Execution>, string]>([
    [
      'is retrying',
      record('retrying', { failure }),
      {},
      'attempt 2 failed (x: y), and its ladder allows another',
    ],
    [
      'is retrying after an unknown outcome',
      record('retrying', { mayHaveActed: true }),
      {},
      `attempt 2 failed, and its ladder allows another${acted}`,
    ],
    [
      'waits',
      record('waiting', { failure }),
      {},
      'attempt 2 failed (x: y), and a person is asked what to do',
    ],
    [
      'waits after an unknown outcome',
      record('waiting', { mayHaveActed: true }),
      {},
      `attempt 2 failed, and a person is asked what to do${acted}`,
    ],
    [
      'is unknown',
      record('unknown', { failure }),
      {},
      'the outcome of attempt 2 is not known (x: y): nothing is repeated before it is settled',
    ],
    [
      'failed',
      record('failed', { failure, mayHaveActed: true }),
      undoing,
      `attempt 2 failed (x: y), and nothing is left on its ladder${acted}`,
    ],
    [
      'failed in a pause',
      record('failed'),
      { status: 'pausing' },
      'attempt 2 failed, and nothing is left on its ladder; what follows is decided after the pause',
    ],
    ['failed with no other', record('failed'), {}, 'attempt 2 failed, and nothing is left on its ladder'],
    ['was skipped', record('skipped'), {}, 'its condition does not hold'],
    ['is done', record('done'), {}, 'it is done'],
    ['is undone', record('undone'), undoing, 'it is undone'],
    ['is to be undone', record('done'), undoing, 'it is done and is to be undone'],
    [
      'was sealed before it began',
      record('sealed', { attempt: 0, mayHaveActed: true }),
      undoing,
      'the execution is being undone, so it will never start',
    ],
    [
      'was sealed after it began',
      record('sealed', { mayHaveActed: true }),
      undoing,
      `attempt 2 is the last, because the execution is being undone${acted}`,
    ],
    [
      'could not be undone yet',
      record('undoing', { failure }),
      undoing,
      'undo 3 did not succeed (x: y) and is tried again',
    ],
    [
      'could not be undone',
      record('undo-failed', { failure }),
      undoing,
      'undo 3 failed (x: y), and no further one is allowed: its effect may still be in place',
    ],
    [
      'could not be undone without a reason',
      record('undo-failed'),
      undoing,
      'undo 3 failed, and no further one is allowed: its effect may still be in place',
    ],
    [
      'could not be undone for a day',
      record('undo-failed', { failure: { code: 'undo-held-up', message: 'for a day' } }),
      undoing,
      'for a day; a person is asked, and its effect may still be in place',
    ],
  ])('%s', (_, given, execution, words) => {
    expect(because([given], execution)).toBe(words);
  });

  it.each([
    ['ready', 'it was ready to begin'],
    ['retrying', 'its next attempt was due'],
    ['unknown', 'its outcome was to be asked for'],
    [undefined, 'it was ready to begin'],
  ] as const)('is held from %s', (heldFrom, words) => {
    const held = (more: Partial<Step> = {}) =>
      because([record('held', { ...(heldFrom === undefined ? {} : { heldFrom }), ...more })], {
        status: 'paused',
      });
    expect(held()).toBe(`${words}, and the execution is paused`);
    expect(held({ failure, mayHaveActed: true })).toBe(
      `${words} (x: y), and the execution is paused${acted}`,
    );
  });

  it('was skipped by a person', () => {
    const skipped = (step_: string, choice: Incident['choice']) =>
      because(
        [record('skipped')],
        {},
        { incidents: [incidentOf({ step: step_, ...(choice && { choice }) })] },
      );
    expect(skipped('it', 'skip')).toBe('a person had it skipped');
    expect(skipped('other', 'skip')).toBe('its condition does not hold');
    expect(skipped('it', 'retry')).toBe('its condition does not hold');
  });

  it('failed beside a point of no return whose outcome is open', () => {
    const point: AgentStep = { ...planStep, name: 'point', pointOfNoReturn: true };
    const both = planOf(step, point);
    const unknown = recordOf('point', 'unknown', { mayHaveActed: true });
    const words = 'attempt 2 failed, and nothing is left on its ladder';
    const waits = `${words}; what follows is decided when the outcome of 'point', a point of no return, is known`;
    expect(because([record('failed'), unknown], {}, { plan: both })).toBe(waits);
    expect(because([record('failed'), unknown], undoing, { plan: both })).toBe(words);
    expect(because([record('failed'), recordOf('point', 'done')], {}, { plan: both })).toBe(words);
  });

  it('is undone after those that depend on it', () => {
    const undo = { kind: 'retry', attempts: 1, firstMs: 1, maxMs: 1 } as const;
    const chain = planOf(
      { ...step, undo },
      { ...planStep, name: 'b', after: ['it'], undo },
      { ...planStep, name: 'c', after: ['it'], undo },
      { ...planStep, name: 'd', after: ['it'] },
    );
    const done = ['b', 'c', 'd'].map((name) => recordOf(name, 'done'));
    expect(because([record('done'), ...done], undoing, { plan: chain })).toBe("it is undone after 'b', 'c'");
    expect(because([record('done'), ...done], {}, { plan: chain })).toBe('it is done');
  });
});

describe('a step that is held back', () => {
  const parked = (why: Parked['why'], more: Partial<Step> = {}, since?: number): string | undefined =>
    because([
      record('retrying', {
        retryAt: NOW + 9,
        parked: { mode: 'execute', why, at: NOW, ...(since === undefined ? {} : { since }) },
        ...more,
      }),
    ]);
  it.each<[string, string | undefined, string]>([
    [
      'by a breaker',
      parked('breaker', {}, NOW - 5),
      `the breaker of agent 'worker' is open since ${isoOf(NOW - 5)}, so it is held back and no attempt is charged`,
    ],
    [
      'by a breaker since it was held back',
      parked('breaker', { failure, mayHaveActed: true }),
      `the breaker of agent 'worker' is open since ${isoOf(NOW)}, so it is held back and no attempt is charged; its last attempt ended with x${acted}`,
    ],
    [
      'because nobody takes it',
      parked('unclaimed'),
      "no agent 'worker' has taken its message yet, so it is sent again at growing gaps",
    ],
    [
      'because nobody takes it after a failure',
      parked('unclaimed', { failure }),
      "no agent 'worker' has taken its message yet, so it is sent again at growing gaps; its last attempt ended with x",
    ],
    [
      'because its agent is not deployed',
      parked('not-deployed', { failure }),
      `no agent 'worker' was deployed, from ${isoOf(NOW)} to ${isoOf(NOW)} at least, so it is held back and no attempt is charged; its last attempt ended with x`,
    ],
    [
      'by its budget',
      parked('budget', { failure }),
      'its execution has used up its dispatches, so it is sent once an hour; its last attempt ended with x',
    ],
  ])('%s', (_, words, expected) => {
    expect(words).toBe(expected);
  });
});

describe('a step that has not begun', () => {
  const wait: PlanStep = {
    kind: 'map',
    name: 'm',
    after: ['it'],
    over: [],
    each: planStep,
    tolerate: { items: 0 },
  };
  const two = planOf(step, { ...planStep, name: 'b' }, { ...planStep, name: 'c', after: ['it', 'b'] }, wait);
  const told = (name: string, records: readonly Step[] = [], execution: Partial<Execution> = {}) => {
    const found = of(records, execution, { plan: two, name });
    return [found?.status, found?.because];
  };
  it('waits for those before it, for an agent, or is to begin', () => {
    expect(told('it')).toEqual(['ready', 'it waits for an agent to take it']);
    expect(told('it', [recordOf('it', 'ready')])).toEqual(['ready', 'it waits for an agent to take it']);
    expect(told('c')).toEqual(['pending', "it waits for 'it', 'b'"]);
    expect(told('c', [recordOf('it', 'done')])).toEqual(['pending', "it waits for 'b'"]);
    expect(told('m', [recordOf('it', 'done')])).toEqual(['ready', 'it is to begin']);
    expect(told('it', [recordOf('it', 'done')])[0]).toBe('done');
  });
  it('does not begin in a pause, and was never started in what has ended', () => {
    expect(told('it', [], { status: 'paused' })).toEqual([
      'ready',
      'it has not begun, and the execution is paused',
    ]);
    expect(told('c', [], { status: 'pausing' })).toEqual([
      'pending',
      'it has not begun, and the execution is paused',
    ]);
    expect(told('c', [], { status: 'failed' })).toEqual(['pending', 'it was never started']);
    expect(told('it', [], undoing)).toEqual(['ready', 'it was never started']);
  });
});
