/**
 * Measures the decision core alone: a chain of five steps from its start to its end, decided and applied,
 * with nothing around it.
 */

import { decide } from '../../lib/core/decide.ts';
import { newExecution } from '../../lib/core/execution/start.ts';
import type { Decision } from '../../lib/core/decisions/decision.ts';
import type { Event } from '../../lib/core/decisions/events.ts';
import type { Message } from '../../lib/core/decisions/message.ts';
import { type Snapshot, withWrite } from '../../lib/core/records/snapshot.ts';
import { chain5 } from '../workflows/load/workflow.ts';

export interface CoreFigures {
  readonly decisions: number;
  readonly decisionsPerSecond: number;
  readonly nsEach: number;
  readonly decisionsPerExecution: number;
}

const { plan } = chain5;
const STAMP = { now: 1_000, random: 0, writeId: 'w', readAt: 1_000 };
const HARD_END_AT = 100_000;

/** @returns the number of decisions */
function oneExecution(): number {
  const given = { id: 'one', life: 'l', plan: 'plan', input: { data: 'x' }, inputHash: '', writeId: 'w' };
  let state: Snapshot = { execution: newExecution(plan, given, STAMP.now), steps: {} };
  let decisions = 0;
  const take = (event: object): Decision => {
    const decision = decide(plan, state, { ...STAMP, ...event } as Event);
    state = withWrite(state, decision.write);
    decisions += 1;
    return decision;
  };
  const lookOn = (first: Decision): Message | undefined => {
    let decision = first;
    while (decision.next.kind === 'evaluate') {
      const { affected, fresh } = decision.next;
      decision = take({ type: 'evaluate', by: 'agent', affected, fresh });
      if (decision.sends[0] !== undefined) return decision.sends[0].message;
    }
    return undefined;
  };
  let message = take({ type: 'evaluate', by: 'agent', affected: 'all', fresh: true }).sends[0]?.message;
  while (message !== undefined) {
    const { step } = message;
    const agent = plan.steps.find(({ name }) => name === step);
    const token = `token-${step}`;
    take({
      type: 'deliver',
      agent: agent?.kind === 'agent' ? agent.agent : '',
      message,
      token,
      processDeadlineAt: HARD_END_AT,
    });
    const report = { kind: 'done', settled: true, output: { data: 'x' } };
    message = lookOn(take({ type: 'report', step, token, report, onTime: true }));
  }
  if (state.execution.status !== 'succeeded') throw new Error(`the execution is ${state.execution.status}`);
  return decisions;
}

const WARM = 5_000;
const NS_A_MICROSECOND = 1_000;

export function measureCore(executions = 40_000): CoreFigures {
  for (let at = 0; at < WARM; at += 1) oneExecution();
  const before = process.cpuUsage();
  let decisions = 0;
  for (let at = 0; at < executions; at += 1) decisions += oneExecution();
  const { user, system } = process.cpuUsage(before);
  const nsEach = ((user + system) * NS_A_MICROSECOND) / decisions;
  return {
    decisions,
    decisionsPerSecond: Math.round(1e9 / nsEach),
    nsEach: Math.round(nsEach),
    decisionsPerExecution: decisions / executions,
  };
}
