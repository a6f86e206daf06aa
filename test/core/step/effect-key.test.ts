/** The effect key: by it, external services recognise a step's requests (S18). */

import { decide } from '../../../lib/core/decide.ts';
import { effectKeyOf, keyOfClaim, lifeOf } from '../../../lib/core/step/effect-key.ts';
import type { AgentStep } from '../../../lib/core/plan/plan.ts';
import type { Json } from '../../../lib/core/values/json.ts';
import type { Step } from '../../../lib/core/records/state.ts';
import { openWork } from '../../../lib/core/step/ready.ts';
import { otherStage, planOf, recordOf, inputs, stateOf, step } from '../one-step.ts';
import { NOW } from '../states.ts';

it.each([
  ['Q-Kd7wZ-_x9PbL0aVr3tYg', 'pbl0avr3tyg'.slice(-10)],
  ['7b0c1c7e-0000-4000-8000-12ab34cd56ef', 'ab34cd56ef'],
  ['id-1-2', 'id12'],
])('a life is the end of a fresh id, in letters and digits: %s', (id, life) => {
  expect(lifeOf(id)).toBe(life);
});

describe('the key of an attempt', () => {
  const recovery: AgentStep['recovery'] = [
    { kind: 'retry', attempts: 1, firstMs: 0, maxMs: 0 },
    { kind: 'withInput', input: { other: true }, attempts: 1, firstMs: 0, maxMs: 0 },
    { kind: 'retry', attempts: 1, firstMs: 0, maxMs: 0 },
    otherStage,
  ];
  const of: AgentStep = { ...step, recovery };
  const after = (more: Partial<Step>) => {
    const { key, keyVariant, keyInput, keySpent, givenInput } = keyOfClaim(
      of,
      recordOf('it', 'retrying', more),
    );
    expect([keySpent, givenInput]).toEqual([undefined, undefined]);
    return { key, keyVariant, ...(keyInput === undefined ? {} : { keyInput }) };
  };
  const is = (key: number, keyVariant: number, keyInput?: Json) => ({
    key,
    keyVariant,
    ...(keyInput === undefined ? {} : { keyInput }),
  });
  const second = { key: 2, keyVariant: 1 };
  const by = { attempt: 2, key: 2, keyInput: { a: 1 } };
  const other = { keyInput: { a: 1, b: 2 }, givenInput: { b: 2, a: 1 } };
  it.each<[string, Partial<Step>, object]>([
    ['is the first before any', {}, is(1, 0)],
    ['is the first, whatever a person gave before any', { givenInput: 5 }, is(1, 0, 5)],
    ['stays on a stage that changes nothing', { attempt: 1, stage: 1 }, is(1, 0)],
    ['is the next in another variant', { attempt: 2, stage: 2 }, is(2, 1)],
    ['stays there', { attempt: 3, stage: 3, ...second }, is(2, 1)],
    ['is the next with another agent', { attempt: 4, stage: 4, ...second }, is(3, 2)],
    ['is the next back in the first variant', { attempt: 5, stage: 0, key: 3, keyVariant: 2 }, is(4, 0)],
    ['is the next with what a person gave', { attempt: 1, givenInput: {} }, is(2, 0, {})],
    ['stays with what a person gave', by, is(2, 0, { a: 1 })],
    [
      'stays with the same given once more, in whichever order',
      { ...by, ...other },
      is(2, 0, { b: 2, a: 1 }),
    ],
    ['forgets what a person gave in another variant', { ...by, stage: 2 }, is(3, 1)],
    ['is the next after an undo was claimed', { attempt: 1, keySpent: true }, is(2, 0)],
    [
      'is the next after an undo, with what a person gave',
      { attempt: 1, keySpent: true, keyInput: 7 },
      is(2, 0, 7),
    ],
  ])('%s', (_, more, key) => {
    expect(after(more)).toEqual(key);
  });

  it('has a text of its own from the second on', () => {
    expect([1, 2, 12].map((number) => effectKeyOf({ id: 'e', life: 'l' }, 'it', number))).toEqual([
      'e.it.l',
      'e.it.l-2',
      'e.it.l-12',
    ]);
  });

  it('that acted late is the one that is undone, not the key of an input that a person gave meanwhile (S10)', () => {
    const plan = planOf({ ...of, recovery: [{ kind: 'askPerson', withinMs: 1, otherwise: 'undo' }] });
    const lost = recordOf('it', 'retrying', {
      attempt: 1,
      mode: 'execute',
      token: 't',
      givenInput: { by: 'hand' },
      changedAt: NOW - 9,
    });
    const report = { kind: 'done', codeReturned: true, output: {} } as const;
    const done = decide(plan, stateOf([lost]), {
      type: 'report',
      step: 'it',
      token: 't',
      report,
      onTime: false,
      ...inputs,
    }).write?.step as Step;
    expect(done).toMatchObject({ status: 'done', key: 1, keyVariant: 0 });
    expect(done).not.toHaveProperty('givenInput');
    expect(done).not.toHaveProperty('keyInput');
  });

  it('of another agent is undone by that agent, although the recovery has gone on since (S10)', () => {
    const record = recordOf('it', 'done', {
      attempt: 4,
      stage: 4,
      key: 2,
      keyVariant: 1,
      mayHaveActed: true,
    });
    const cause = { kind: 'cancel', at: NOW, failure: { code: 'x', message: '' } } as const;
    const [work] = openWork(planOf(of), stateOf([record], { status: 'compensating', cause }));
    expect(work?.step).toMatchObject({ agent: of.agent, input: { other: true } });
  });
});
