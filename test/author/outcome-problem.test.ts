/** Which outcomes, failures and outputs an expression in a stored plan may read (S20). */

import { outcomeProblem, unguarded } from '../../lib/author/checks/check-outcomes.ts';
import { isOutcomeRead, isTolerated } from '../../lib/core/plan/outcomes.ts';
import type { PlanStep } from '../../lib/core/plan/plan.ts';
import type { Expr } from '../../lib/core/plan/refs.ts';
import { planOf } from '../core/one-step.ts';
import { agentStepOf, mapOf } from '../core/small-steps.ts';

const of = (source: string, ...path: string[]): Expr => ({ $ref: source, path });
const ended = (step: string, outcome: string): Expr => ({ $eq: [of(`outcome:${step}`), outcome] });
const isOk: Expr = { $eq: [of('input', 'ok'), true] };

const car = agentStepOf('car', { tolerate: true });
/** Runs only if the car failed. */
const bus = agentStepOf('bus', { after: ['car'], when: ended('car', 'failed'), tolerate: true });
/** Runs only if the bus failed, so not if it was skipped. */
const cab = agentStepOf('cab', { after: ['bus'], when: ended('bus', 'failed') });
const sure = agentStepOf('sure');
const gift = agentStepOf('gift', { when: isOk });
const all = mapOf('all', { tolerate: { items: 1 } });
const plan = planOf(car, bus, cab, sure, gift, all);

const found = (expr: Expr, when?: Expr) => {
  const reader = agentStepOf('reader', when === undefined ? {} : { when });
  return outcomeProblem(expr, plan, reader);
};
const output = (step: string): Expr => of(`step:${step}`, 'id');
const failureOf = (step: string): Expr => of(`failure:${step}`, 'code');

describe('without a condition', () => {
  it.each<[string, Expr]>([
    ['the input', of('input', 'car')],
    ['nothing', null],
    ['a text like a reference', 'failure:sure'],
    ['the output of what must succeed', output('sure')],
    ['the output of a list', output('all')],
    ['what does not exist, which others refuse', [output('no'), failureOf('no'), ended('no', 'failed')]],
    ['how a step ended that may fail', [ended('car', 'failed'), ended('car', 'succeeded')]],
    ['that a step succeeded or was skipped', [ended('sure', 'succeeded'), ended('gift', 'skipped')]],
    [
      'what only looks like one',
      { $literal: { $ref: 'failure:sure', path: [], x: [ended('sure', 'failed')] } },
    ],
    ['an outcome beside one that is computed', { $eq: [of('outcome:sure'), of('input', 'which')] }],
    ['one that is compared as a value', { $eq: ['failed', of('outcome:sure')] }],
    ['a literal that is compared', { $eq: [7, 'failed'] }],
    ['an input of an outcome’s name', { $eq: [of('input', 'outcome:sure'), 'failed'] }],
    ['an output with what holds instead', { $orElse: [output('car'), 'none'] }],
    ['whether an output is there', { $exists: output('car') }],
  ])('may be read: %s', (_, expr) => {
    expect(found(expr)).toBeUndefined();
  });

  it.each<[string, Expr, string, string]>([
    [
      'an output that may be missing',
      output('car'),
      'output-may-be-missing',
      "reads car.output.id, and 'car' may fail",
    ],
    ['one deep inside', { x: [1, { y: output('gift') }] }, 'output-may-be-missing', "'gift' may be skipped"],
    [
      'a failure',
      failureOf('car'),
      'output-may-be-missing',
      "reads car.failure.code, and 'car' need not fail",
    ],
    [
      'a failure deep inside',
      [{ x: failureOf('sure') }],
      'failure-not-tolerated',
      "'mayFail: true' on 'sure'",
    ],
    [
      'a question deep inside',
      { $and: [isOk, { $not: ended('sure', 'failed') }] },
      'failure-not-tolerated',
      "'sure'",
    ],
    ['the failure of a list', ended('all', 'failed'), 'failure-not-tolerated', 'read all.output.failed'],
    [
      'what holds instead',
      { $orElse: [output('sure'), output('car')] },
      'output-may-be-missing',
      'car.output.id',
    ],
    [
      'what is asked for inside of an expression',
      { $exists: [output('car')] },
      'output-may-be-missing',
      'car.output.id',
    ],
    [
      'what an expression with a value makes of it',
      { $orElse: [{ $concat: [output('car'), 'x'] }, 'none'] },
      'output-may-be-missing',
      'car.output.id',
    ],
  ])('is refused: %s', (_, expr, reason, says) => {
    expect(found(expr)).toMatchObject({ reason, message: expect.stringContaining(says) });
  });

  it('what to write instead names a condition where there is a step to have one', () => {
    const instead = 'write orElse(car.output.id, …)';
    expect(found(output('car'))?.message).toMatch(/or 'when: succeeded\(car\)' on the step that reads it$/);
    expect(found(failureOf('car'))?.message).toMatch(/or 'when: failed\(car\)' on the step that reads it$/);
    expect(outcomeProblem(output('car'), plan)?.message.endsWith(instead)).toBe(true);
  });
});

describe('a condition makes certain', () => {
  it.each<[string, Expr, Expr]>([
    ['that a step succeeded', output('car'), ended('car', 'succeeded')],
    [
      'both of two',
      [output('car'), output('gift')],
      { $and: [ended('car', 'succeeded'), ended('gift', 'succeeded')] },
    ],
    ['one of several', output('car'), { $and: [isOk, ended('car', 'succeeded'), isOk] }],
    ['within another', output('car'), { $and: [isOk, { $and: [ended('car', 'succeeded')] }] }],
    ['a failure', failureOf('car'), ended('car', 'failed')],
    ['what the condition of a step says that succeeded', failureOf('car'), ended('bus', 'succeeded')],
    ['what the condition of a step says that failed', failureOf('car'), ended('bus', 'failed')],
    [
      'what two conditions say, one after the other',
      [failureOf('car'), failureOf('bus')],
      ended('cab', 'succeeded'),
    ],
  ])('%s', (_, expr, when) => {
    expect(found(expr, when)).toBeUndefined();
  });

  it.each<[string, Expr, Expr]>([
    ['nothing of another step', output('car'), ended('gift', 'succeeded')],
    ['nothing of another outcome', output('car'), ended('car', 'failed')],
    ['no failure of what succeeded', failureOf('car'), ended('car', 'succeeded')],
    ['no output of what was skipped', output('car'), ended('car', 'skipped')],
    ['nothing by the condition of a step that was skipped', failureOf('car'), ended('bus', 'skipped')],
    ['nothing by one of two', output('car'), { $or: [ended('car', 'succeeded'), isOk] }],
    ['nothing by its contrary', output('car'), { $not: ended('car', 'failed') }],
    ['nothing of a step that does not exist', output('car'), ended('no', 'succeeded')],
    ['nothing by a text', output('car'), 'car'],
    ['nothing by a value', output('car'), { $and: true }],
    ['nothing by a failure that is compared', output('car'), { $eq: [failureOf('car'), 'succeeded'] }],
    [
      'nothing by an outcome that is computed',
      failureOf('car'),
      { $eq: [of('outcome:bus'), of('input', 'which')] },
    ],
  ])('%s', (_, expr, when) => {
    expect(found(expr, when)?.reason).toBe('output-may-be-missing');
  });

  it('nothing for ever, of steps whose conditions ask about each other', () => {
    const one = agentStepOf('one', { when: ended('two', 'failed'), tolerate: true });
    const two = agentStepOf('two', { when: ended('one', 'failed'), tolerate: true });
    const circle = planOf(one, two);
    const reader = agentStepOf('reader', { when: ended('one', 'failed') });
    expect(outcomeProblem([failureOf('one'), failureOf('two')], circle, reader)).toBeUndefined();
  });
});

it('an outcome is read where a condition asks for it, and nowhere else', () => {
  const read = ['car', 'bus', 'cab', 'sure', 'gift', 'all'].filter((name) => isOutcomeRead(plan, name));
  expect(read).toEqual(['car', 'bus']);
  // The second call uses the remembered result.
  expect(isOutcomeRead(plan, 'car')).toBe(true);
  expect(isOutcomeRead(planOf(agentStepOf('car')), 'car')).toBe(false);
  // The step's input is not a condition.
  expect(isOutcomeRead(planOf(car, agentStepOf('x', { input: ended('car', 'failed') })), 'car')).toBe(false);
});

it('the items of a list may fail, the list itself may not', () => {
  expect(isTolerated({ ...all, tolerate: true } as unknown as PlanStep)).toBe(false);
  expect([isTolerated(car), isTolerated(sure)]).toEqual([true, false]);
});

it('unguarded are the references that nothing stands for', () => {
  const sources = (expr: Expr) => unguarded(expr).map(({ source }) => source);
  expect(sources([of('a'), { x: of('b') }, { $orElse: [of('c'), of('d')] }, { $exists: of('e') }])).toEqual([
    'a',
    'b',
    'd',
  ]);
  expect(sources({ $orElse: [[of('a')], of('b'), of('c')] })).toEqual(['a', 'b', 'c']);
  expect(sources({ $literal: of('a') })).toEqual([]);
  expect(sources('a')).toEqual([]);
});
