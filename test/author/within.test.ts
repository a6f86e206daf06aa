/** `within` of a step: refused values and the advice in each refusal; a plan without it is unchanged. */

import { workflow } from '../../lib/author/builder/workflow.ts';
import { checkPlan } from '../../lib/author/checks/check.ts';
import { agent, any, planWith, refusalOf } from './refusals.ts';

const flow = (build: Parameters<typeof workflow>[2]) =>
  workflow('flow', { input: any as never, within: '1h' }, build);
const list = { $ref: 'input', path: [] } as never;

describe('a step with a time of its own', () => {
  it.each([
    ['an agent step', (w: never) => (w as never as W).step('it', agent, {}, { within: '2h' })],
    ['a child', (w: never) => (w as never as W).child('it', inner, {}, { within: '2h' })],
    ['a list', (w: never) => (w as never as W).map('it', agent, list, () => ({}), { within: '2h' })],
    ['a wait', (w: never) => (w as never as W).wait('it', { until: 2e12, within: '2h' } as never)],
  ])('that is longer than the workflow’s is refused: %s', (_, build) => {
    const { message, details } = refusalOf(() => flow((w) => void build(w as never)));
    expect(message).toContain("write within: '1h' or less, or leave it out");
    expect(details).toMatchObject({ step: 'it', reason: 'longer-than-within' });
  });

  it('in which no attempt could end is refused', () => {
    const { message, details } = refusalOf(() =>
      flow((w) => void w.step('it', agent, {}, { within: '30s' })),
    );
    expect(message).toContain("write timeout: '30s' or less on the step, or a longer 'within'");
    expect(details).toMatchObject({ reason: 'within-too-short' });
    expect(() => flow((w) => void w.step('it', agent, {}, { within: '30s', timeout: '30s' }))).not.toThrow();
    const listed = refusalOf(() => flow((w) => void w.map('it', agent, list, () => ({}), { within: '30s' })));
    expect(listed.details).toMatchObject({ step: 'it', reason: 'within-too-short' });
  });

  it('that a wait is sure to miss is refused', () => {
    const { message } = refusalOf(() => flow((w) => void w.wait('it', { for: '5m', within: '5m' })));
    expect(message).toContain("write a longer 'within', or leave it out");
    expect(() => flow((w) => void w.wait('it', { for: '5m', within: '6m' }))).not.toThrow();
  });

  it('that is not a valid time is refused', () => {
    expect(refusalOf(() => checkPlan(planWith({ withinMs: 0 }))).message).toContain(
      'leave it out or give a time',
    );
    expect(
      refusalOf(() => flow((w) => void w.step('it', agent, {}, { within: 'soon' as never }))).message,
    ).toContain("within of step 'it'");
  });

  it('has it in the plan; of a list it is the whole list’s, and a step without one is what it was', () => {
    const { plan } = flow((w) => {
      w.step('plain', agent, {});
      w.step('timed', agent, {}, { within: '10m' });
      w.map('many', agent, list, () => ({}), { within: '20m' });
    });
    const [plain, timed, many] = plan.steps;
    expect(plain).not.toHaveProperty('withinMs');
    expect(timed?.withinMs).toBe(600_000);
    expect(many?.withinMs).toBe(1_200_000);
    expect(many?.kind === 'map' && many.each).not.toHaveProperty('withinMs');
  });
});

type W = Parameters<Parameters<typeof workflow>[2]>[0];
const inner = flow((w) => void w.step('x', agent, {}));
