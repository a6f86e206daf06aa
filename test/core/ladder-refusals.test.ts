/** A bad agent, and a bad ladder, are refused by name. */

import { type AgentOptions, declareAgent } from '../../lib/core/agent.ts';
import { checkPlan } from '../../lib/core/check-plan.ts';
import { human, retry, useAgent, withInput } from '../../lib/core/workflow.ts';
import { anAgent } from '../roles/harness.ts';
import { base, planWith, refusalOf, rows } from './refusals.ts';

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
      ['a rung behind the person', planWith({ ladder: [human(), retry(1)] }), 'unreachable-rung', 'it'],
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
