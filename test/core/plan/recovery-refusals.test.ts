/** A bad agent, and a bad ladder, are refused by name. */

import { type AgentOptions, declareAgent } from '../../../lib/core/plan/agent.ts';
import { checkPlan } from '../../../lib/core/plan/check.ts';
import { human, retry, useAgent, withInput, workflow } from '../../../lib/core/plan/workflow.ts';
import { anAgent } from '../../engine/harness.ts';
import { base, planWith, refusalOf, rows } from '../refusals.ts';

describe('a ladder is refused', () => {
  it.each(
    rows([
      [
        'an unsafe effect that is tried again by itself',
        planWith({ effect: 'unsafe', ladder: [retry(1)] }),
        'unsafe-retry',
        'it',
      ],
      [
        'an unsafe effect without a person',
        planWith({ effect: 'unsafe', ladder: [] }),
        'unsafe-without-human',
        'it',
      ],
      [
        'a rung behind the person',
        planWith({ ladder: [human({ within: '1m' }), retry(1)] }),
        'unreachable-rung',
        'it',
      ],
      [
        'a person who has longer than the execution',
        planWith({ ladder: [human({ within: '61s' })] }),
        'longer-than-within',
        'it',
      ],
      [
        'a person who may take for ever',
        planWith({ ladder: [{ ...human(), withinMs: Number.POSITIVE_INFINITY }] }),
        'unbounded',
        'it',
      ],
      [
        'a person with an unknown default',
        planWith({ ladder: [{ ...human(), otherwise: 'hope' as never }] }),
        'bad-rung',
        'it',
      ],
      [
        'a rung without attempts',
        planWith({ ladder: [withInput({}, { attempts: 0 })] }),
        'endless-ladder',
        'it',
      ],
      [
        'a rung with a stranger as input',
        planWith({ ladder: [{ ...withInput({}), input: { $ref: 'step:nobody', path: [] } }] }),
        'not-a-predecessor',
        'it',
      ],
      [
        'another agent without a lease',
        planWith({ ladder: [{ ...useAgent(anAgent('b')), leaseMs: 0 }] }),
        'unbounded',
        'it',
      ],
      [
        'another agent without a legal name',
        planWith({ ladder: [{ ...useAgent(anAgent('b')), agent: 'B!' }] }),
        'bad-name',
        'it',
      ],
      ['a progress limit of nothing', planWith({ maxNoProgressMs: 0 }), 'unbounded', 'it'],
    ]),
  )('for %s', (_, plan, reason, step) => {
    const refusal = refusalOf(() => checkPlan(plan));
    expect([refusal.code, refusal.details]).toEqual([
      'workflow-refused',
      { workflow: 'flow', ...(step === null ? {} : { step }), reason },
    ]);
  });
});

describe('an agent is refused', () => {
  it.each<[string, Partial<AgentOptions<unknown, unknown>>, string]>([
    ['an unknown effect', { effect: 'maybe' as never }, 'bad-agent'],
    ['a progress limit too short for beats', { maxNoProgress: '999ms' }, 'bad-agent'],
    ['no effect', { effect: undefined as never }, 'bad-agent'],
    ['a timeout that no function has', { timeout: '15m' }, 'bad-agent'],
    ['a lease too short for beats', { lease: '999ms' }, 'bad-agent'],
    ['a pickup too short for a message', { pickup: '1ms' }, 'bad-agent'],
    ['an unknown undo', { undo: 'maybe' as never }, 'bad-agent'],
    ['a timeout that is no duration', { timeout: 'long' }, 'bad-duration'],
    ['a lease of nothing', { lease: '0s' }, 'bad-duration'],
    ['a pickup of a number', { pickup: 30 as never }, 'bad-duration'],
    ['an endless settle', { settle: '999d' }, 'bad-duration'],
  ])('for %s', (_, options, code) => {
    const refusal = refusalOf(() => declareAgent('worker', { ...base, ...options } as never));
    expect(refusal.code).toBe(code);
    expect(refusal.message).toContain("'worker'");
  });

  it.each(['', 'Worker', 'a#b', 'x'.repeat(49), 'constructor', undefined, 5])('for the name %j', (name) => {
    expect(refusalOf(() => declareAgent(name as string, base as never)).code).toBe('bad-name');
  });
});

const flowOf = (first: object, ladder: readonly unknown[]): (() => unknown) => {
  const agent = declareAgent('first', { ...base, ...first } as AgentOptions<unknown, unknown>);
  return () =>
    workflow('flow', { input: base.input, within: '1h' }, (w) => {
      w.step('it', agent, {}, { ladder: ladder as never });
    });
};
const second = (more: object = {}) =>
  useAgent(declareAgent('second', { ...base, ...more } as AgentOptions<unknown, unknown>));

describe('a stage that a crash would bar for ever, for nobody could say whether the one before it acted,', () => {
  const asked = { probe: 'required' } as const;
  it.each([
    ['other parameters', {}, [retry(1), withInput({})], 'withInput', 'first'],
    ['another agent', {}, [second()], 'useAgent', 'first'],
    ['another agent that cannot be asked', asked, [second(), retry(1), withInput({})], 'withInput', 'second'],
  ])('is refused: %s', (_, first, ladder, what, whom) => {
    const { message, details } = refusalOf(flowOf(first, ladder));
    expect(details).toEqual({ workflow: 'flow', step: 'it', reason: 'unreachable-rung' });
    expect(message).toBe(
      `workflow 'flow', step 'it': after a crash ${what} is never tried: it needs certainty that agent '${whom}' did nothing, and agent '${whom}' may be without a probe; declare it with probe: 'required' and write the probe, or with probe: 'none' if ${what} is meant for TransientError and PermanentError alone`,
    );
  });

  it.each<[string, object, unknown[]]>([
    ['an idempotent agent that has a probe', asked, [withInput({}), second()]],
    ['an agent whose author says that it has none', { probe: 'none' }, [withInput({})]],
    ['a probed agent', { effect: 'probed' }, [withInput({}), second(), retry(1)]],
    ['the same again', {}, [retry(3), human()]],
  ])('is not seen in what is behind %s', (_, first, ladder) => {
    expect(flowOf(first, ladder)).not.toThrow();
  });

  it('says of an agent what can be true', () => {
    const declare = (more: object) => () => declareAgent('a', { ...base, ...more } as never);
    expect(refusalOf(declare({ probe: 'some' })).message).toContain(
      "probe is \"some\"; allowed are 'required' and 'none'",
    );
    expect(refusalOf(declare({ effect: 'probed', probe: 'none' })).message).toContain(
      "effect 'probed' needs a probe",
    );
  });
});
