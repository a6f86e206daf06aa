/** An invalid agent or recovery is refused, and the refusal names it. */

import { type AgentOptions, declareAgent } from '../../lib/core/plan/agent.ts';
import { askPerson, retry, useAgent, withInput, workflow } from '../../lib/author/builder/workflow.ts';
import { base, refusalOf } from './refusals.ts';

const flowOf = (first: object, recovery: readonly unknown[]): (() => unknown) => {
  const agent = declareAgent('first', { ...base, ...first } as AgentOptions<unknown, unknown>);
  return () =>
    workflow('flow', { input: base.input, within: '1h' }, (w) => {
      w.step('it', agent, {}, { recovery: recovery as never });
    });
};
const second = (more: object = {}) =>
  useAgent(declareAgent('second', { ...base, ...more } as AgentOptions<unknown, unknown>));

describe('a variant that a crash would bar for ever, for nobody could say whether the one before it acted,', () => {
  const asked = { probe: 'required' } as const;
  const kept = { undo: 'none' } as const;
  it.each([
    ['other parameters', kept, [retry(1), withInput({})], 'withInput', 'first'],
    ['another agent', kept, [second()], 'useAgent', 'first'],
    [
      'another agent that cannot be asked',
      asked,
      [second(kept), retry(1), withInput({})],
      'withInput',
      'second',
    ],
  ])('is refused: %s', (_, first, recovery, what, whom) => {
    const { message, details } = refusalOf(flowOf(first, recovery));
    expect(details).toEqual({ workflow: 'flow', step: 'it', reason: 'unreachable-stage' });
    expect(message).toBe(
      `workflow 'flow', step 'it': after a crash ${what} is never tried by itself: it needs certainty that nothing of agent '${whom}' is left, and that has no undo and may be without a probe; declare it with effect: 'none' if leaving what it did is harmless, with an undo, with probe: 'required', or with probe: 'none' if ${what} is meant for TransientError and PermanentError alone, and after a crash a person is to be asked`,
    );
  });

  it.each<[string, object, unknown[]]>([
    ['an idempotent agent that has a probe', asked, [withInput({}), second()]],
    ['an agent whose author says that it has none', { probe: 'none' }, [withInput({})]],
    ['a probed agent', { effect: 'probed' }, [withInput({}), second(), retry(1)]],
    ['an agent that is undone first', {}, [withInput({}), second()]],
    ['an agent without a lasting effect', { effect: 'none' }, [withInput({}), second()]],
    ['the same again', {}, [retry(3), askPerson()]],
  ])('is not seen in what is behind %s', (_, first, recovery) => {
    expect(flowOf(first, recovery)).not.toThrow();
  });

  it('says of an agent what can be true', () => {
    const declare = (more: object) => () => declareAgent('a', { ...base, ...more } as never);
    expect(refusalOf(declare({ probe: 'some' })).message).toContain(
      "probe is \"some\"; allowed: 'required' and 'none'",
    );
    expect(refusalOf(declare({ effect: 'probed', probe: 'none' })).message).toContain(
      "effect 'probed' needs a probe",
    );
    // Nothing is left to probe, so the probe would never be called.
    for (const probe of ['required', 'none'])
      expect(refusalOf(declare({ effect: 'unsafe', probe })).message).toContain(
        "leave probe out, or write effect: 'probed'",
      );
    for (const more of [{ undo: 'required' }, { probe: 'none' }])
      expect(refusalOf(declare({ effect: 'none', ...more })).message).toContain(
        'leave undo and probe out, or write effect',
      );
  });
});

describe('a step whose agent has no lasting effect', () => {
  const idle = { effect: 'none' } as const;
  const agent = declareAgent('first', { ...base, ...idle } as AgentOptions<unknown, unknown>);
  const withOptions = (options: object) => () =>
    workflow('flow', { input: base.input, within: '1h' }, (w) => {
      w.step('it', agent, {}, options);
    });

  it('has nothing to undo, and the refusal says so', () => {
    expect(agent.spec.undo).toBe('none');
    const { message } = refusalOf(withOptions({ retryUndo: retry(3) }));
    expect(message).toContain("leave 'undo' out, or declare the agent with effect: 'idempotent'");
  });

  it('cannot be a point of no return', () => {
    const { message } = refusalOf(withOptions({ pointOfNoReturn: true }));
    expect(message).toContain("leave 'pointOfNoReturn' out, or declare the agent with its effect");
  });
});
