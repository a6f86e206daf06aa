/** The note about an execution at risk names every agent for which its steps wait. */

import type { Decision } from '../../../lib/core/decisions/decision.ts';
import type { Step } from '../../../lib/core/records/state.ts';
import { noticeRisk } from '../../../lib/core/supervision/notice-risk.ts';
import { planOf, recordOf, stateOf, step as tried } from '../one-step.ts';
import { NOW } from '../states.ts';

const retrying = (name: string, more: Partial<Step> = {}): Step =>
  recordOf(name, 'retrying', { attempt: 1, changedAt: NOW - 10, ...more });

it('with the other agents that steps wait for, so that of none it is said that nothing waits', () => {
  const three = planOf(
    { ...tried, name: 'a' },
    { ...tried, name: 'b', agent: 'second' },
    { ...tried, name: 'c', agent: 'second' },
  );
  const deferred = (name: string) =>
    retrying(name, { deferred: { mode: 'execute', why: 'breaker', at: NOW - 5 } });
  const state = stateOf(['a', 'b', 'c'].map(deferred));
  const write = { executionId: 'e-1', execution: { ...state.execution, version: 2 } };
  const decision: Decision = { write, sends: [], next: { kind: 'idle' }, notes: [] };
  const risk = noticeRisk(three, state, NOW, decision).write?.execution?.risk;
  expect(risk).toEqual({ why: 'breaker', step: 'a', agent: tried.agent, agents: ['second'] });
  const less = { ...state, steps: { ...state.steps, b: retrying('b'), c: retrying('c') } };
  const next = {
    ...decision,
    write: { ...write, execution: { ...write.execution, risk, riskSince: NOW } },
  };
  expect(noticeRisk(three, less, NOW, next as Decision).write?.execution?.risk).not.toHaveProperty('agents');
});
