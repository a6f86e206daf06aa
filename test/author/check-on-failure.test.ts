/** Refused on-failure steps, and the advice in each refusal (S21). */

import { checkPlan } from '../../lib/author/checks/check.ts';
import { agentsNamed } from '../../lib/core/plan/child-plans.ts';
import type { AgentStep, Plan } from '../../lib/core/plan/plan.ts';
import { onFailureSteps, performedStep, planInStatus, shownSteps } from '../../lib/core/plan/on-failure.ts';
import { concat, eq, failed, orElse } from '../../lib/author/references.ts';
import { askPerson, workflow } from '../../lib/author/builder/workflow.ts';
import { stateOf } from '../core/one-step.ts';
import { agent, any, planStep, planWith, refusalOf } from './refusals.ts';

const tell: AgentStep = { ...planStep, name: 'tell' };
const flow = (...onFailure: Partial<AgentStep>[]): Plan =>
  planWith({}, { onFailure: onFailure.map((step) => ({ ...tell, ...step })) });
const refused = (...onFailure: Partial<AgentStep>[]) => {
  const { message, details } = refusalOf(() => checkPlan(flow(...onFailure)));
  return [(details as { reason: string }).reason, message];
};
const of = (source: string, ...path: string[]) => ({ $ref: source, path });
const other = { ...planStep, kind: 'useAgent', attempts: 1, firstMs: 1, maxMs: 1 } as const;

describe('an on-failure step', () => {
  it.each<[string, Partial<AgentStep>, string, string]>([
    ['of another kind', { kind: 'wait' as 'agent' }, 'bad-kind', 'write w.onFailure(name, agent, input)'],
    ['with the name of a step', { name: 'it' }, 'duplicate-name', 'give one of them another'],
    ['with an illegal name', { name: 'No' }, 'bad-name', 'a lower-case letter'],
    [
      'with an undo',
      { undo: { kind: 'retry', attempts: 1, firstMs: 1, maxMs: 1 } },
      'bad-on-failure',
      "leave 'undo' out",
    ],
    [
      'with an undo on a later stage',
      { recovery: [{ ...other, undo: { kind: 'retry', attempts: 1, firstMs: 1, maxMs: 1 } }] },
      'bad-on-failure',
      "leave 'undo' out",
    ],
    [
      'past which nothing is undone',
      { pointOfNoReturn: true },
      'bad-on-failure',
      "leave 'pointOfNoReturn' out",
    ],
    ['with a time of its own', { withinMs: 60_000 }, 'bad-on-failure', "leave 'within' out"],
    ['that is tolerated', { tolerate: true }, 'bad-on-failure', "leave 'mayFail' out"],
    [
      'that ends as it is without an answer',
      { recovery: [{ kind: 'askPerson', withinMs: 5, otherwise: 'keep' }] },
      'bad-on-failure',
      "leave 'otherwise' out",
    ],
    ['after a step', { after: ['it'] }, 'bad-on-failure', "write 'when: exists(it.output)'"],
    ['after nothing', { after: ['no'] }, 'unknown-step', "'no', which does not exist"],
    ['after itself', { after: ['tell'] }, 'cycle', 'must be declared before it'],
    ['with no recovery to speak of', { timeoutMs: Number.NaN }, 'unbounded', 'timeoutMs'],
    [
      'that reads an output',
      { input: of('step:it', 'id') },
      'output-may-be-missing',
      "write orElse(it.output.id, …), or 'when: exists(it.output.id)'",
    ],
    [
      'that reads the step that failed',
      { input: of('failure', 'step') },
      'output-may-be-missing',
      'write orElse(failure.step, …)',
    ],
    [
      'that asks for an outcome',
      { when: { $eq: [of('outcome:it'), 'failed'] } },
      'bad-on-failure',
      "eq(w.failure.step, 'it')",
    ],
    [
      'that asks why a step failed',
      { input: of('failure:it', 'code') },
      'bad-on-failure',
      'exists(it.output)',
    ],
    ['that reads a token', { input: of('token:it') }, 'bad-expression', "'token:it'"],
    ['that reads of no step', { input: { $orElse: [of('step:no'), 1] } }, 'bad-expression', "'step:no'"],
    ['with an unknown operator', { input: { $no: 1 } }, 'bad-expression', '$no'],
  ])('%s is refused', (_, step, reason, instead) => {
    const [why, message] = refused(step);
    expect(why).toBe(reason);
    expect(message).toContain(instead);
    expect(message).toContain("workflow 'flow'");
  });

  it('reads another only after it', () => {
    const reads = { name: 'file', input: { $orElse: [of('step:tell'), 1] } };
    expect(refused({}, reads)[1]).toContain("reads the output of 'tell', which may not be over before it");
    expect(() => checkPlan(flow({}, { ...reads, after: ['tell'] }))).not.toThrow();
  });

  it('may wait for a person for longer than the workflow may take', () => {
    const patient = {
      recovery: [{ kind: 'askPerson', withinMs: 10 * 86_400_000, otherwise: 'undo' }] as const,
    };
    expect(() => checkPlan(flow(patient))).not.toThrow();
  });

  it('reads why, the input, and what there is', () => {
    const input = {
      code: of('failure', 'code'),
      all: of('failure'),
      order: of('input', 'order'),
      id: { $orElse: [of('step:it', 'id'), 'none'] },
    };
    expect(() => checkPlan(flow({ input }))).not.toThrow();
    const there = { $and: [{ $exists: of('step:it', 'id') }, true] };
    expect(() => checkPlan(flow({ when: there, input: of('step:it', 'name') }))).not.toThrow();
    expect(refused({ when: { $or: [{ $exists: of('step:it') }, true] }, input: of('step:it') })[0]).toBe(
      'output-may-be-missing',
    );
  });

  it('is one of a few', () => {
    expect(refused()[1]).toContain('allowed: 1 to 20');
    const many = Array.from({ length: 21 }, (_, at) => ({ name: `t${at}` }));
    expect(refused(...many)[1]).toContain('it has 21 on-failure steps; allowed: 1 to 20');
    expect(() => checkPlan(flow(...many.slice(1)))).not.toThrow();
  });

  it('is read by no step, and neither is why it ended', () => {
    const after = refusalOf(() => checkPlan({ ...flow({}), steps: [{ ...planStep, after: ['tell'] }] }));
    expect(after.message).toContain('use it in w.onFailure alone');
    const why = refusalOf(() =>
      checkPlan({ ...flow({}), steps: [{ ...planStep, input: of('failure', 'code') }] }),
    );
    expect(why.message).toContain('read it in w.onFailure');
    const output = refusalOf(() => checkPlan({ ...flow({}), output: of('failure') }));
    expect(output.message).toContain('read it in w.onFailure');
  });
});

describe('w.onFailure', () => {
  const made = workflow('made', { input: any, within: '1h' }, (w) => {
    const pay = w.step('pay', agent, {});
    const told = w.onFailure('tell', agent, {
      why: concat(w.failure.code, ': ', w.failure.message),
      step: orElse(w.failure.step, 'none'),
      payment: orElse(pay.output['id'], 'none'),
    });
    w.onFailure(
      'file',
      agent,
      { of: orElse(told.output, 'nothing') },
      { when: eq(w.failure.kind, 'failure') },
    );
  });

  it('makes a list of its own, in its order', () => {
    const { plan, agents } = made;
    expect(plan.steps.map(({ name }) => name)).toEqual(['pay']);
    expect(plan.onFailure?.map(({ name, after, undo }) => [name, after, undo])).toEqual([
      ['tell', [], 'none'],
      ['file', ['tell'], 'none'],
    ]);
    expect(agents).toHaveLength(1);
    expect([...agentsNamed(plan)]).toEqual(['worker']);
    expect(planInStatus(plan, { status: 'running' })).toBe(plan);
    const during = planInStatus(plan, { status: 'following-up' });
    expect(during).toMatchObject({
      onFailureOf: plan,
      steps: [{ name: 'tell', tolerate: true }, { name: 'file' }],
    });
    expect(planInStatus(during, { status: 'following-up' })).toBe(during);
    expect([performedStep(plan, 'pay')?.name, performedStep(during, 'tell')?.name]).toEqual(['pay', 'tell']);
    expect(onFailureSteps(during)).toBe(during.steps);
  });

  it('leaves a plan without any as it was', () => {
    const plain = workflow('plain', { input: any, within: '1h' }, (w) => void w.step('pay', agent, {}));
    expect(plain.plan).not.toHaveProperty('onFailure');
    expect(onFailureSteps(plain.plan)).toEqual([]);
  });

  it('is shown once it has begun', () => {
    const names = (status: 'running' | 'following-up' | 'failed') =>
      shownSteps(made.plan, stateOf([], { status })).map(({ name }) => name);
    expect(names('running')).toEqual(['pay']);
    expect(names('following-up')).toEqual(['pay', 'tell', 'file']);
    expect(names('failed')).toEqual(['pay']);
  });

  it('keeps the time of a person where none is said, and refuses what has no place', () => {
    const patient = workflow('patient', { input: any, within: '1h' }, (w) => {
      w.step('pay', agent, {});
      w.onFailure('tell', agent, {}, { recovery: [askPerson()] });
    });
    expect(patient.plan.onFailure?.[0]?.recovery).toEqual([
      { kind: 'askPerson', withinMs: 7 * 86_400_000, otherwise: 'undo' },
    ]);
    const spoiled = (options: object, asks = false) =>
      refusalOf(() =>
        workflow('spoiled', { input: any, within: '1h' }, (w) => {
          const pay = w.step('pay', agent, {}, { mayFail: true });
          w.onFailure('tell', agent, {} as never, { ...options, ...(asks ? { when: failed(pay) } : {}) });
        }),
      ).message;
    expect(spoiled({ undo: { kind: 'retry', attempts: 1, firstMs: 1, maxMs: 1 } })).toContain(
      "leave 'undo' out",
    );
    expect(spoiled({ mayFail: true })).toContain("leave 'mayFail' out");
    expect(spoiled({ pointOfNoReturn: true })).toContain("leave 'pointOfNoReturn' out");
    expect(spoiled({}, true)).toContain('exists(pay.output)');
  });
});
