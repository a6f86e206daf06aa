/**
 * The rule about a step with rounds whose failure is tolerated: the answers of successful rounds are read
 * before the failure is final.
 *
 * Owns: when they are read. Does not own: what is written about them (`on-round.ts`), when the failure is
 * final (`step/tolerance.ts`), which waits for them.
 */

import { isRepeated } from '../plan/plan.ts';
import { nothing } from '../decisions/decision.ts';
import type { Rule } from '../step/rule.ts';
import { answersOwed } from '../step/turn.ts';
import { allRounds } from './on-round.ts';

export const readAnswers: Rule = {
  apply: (plan, state, { failing = [] }) => {
    for (const step of plan.steps) {
      const record = state.steps[step.name];
      if (record === undefined || !isRepeated(step) || failing.includes(step.name)) continue;
      const owed = answersOwed(step, record);
      if (owed > 0) return nothing(allRounds(step, record, state, owed));
    }
    return undefined;
  },
  dueAt: (plan, { steps }) =>
    plan.steps.flatMap((step) => {
      const record = steps[step.name];
      if (record === undefined || answersOwed(step, record) === 0) return [];
      const coming = () => ({ what: 'what its rounds answered is read', who: 'supervisor' as const });
      return [{ at: record.changedAt, step: step.name, coming }];
    }),
  says: { gather: 'what the rounds of a step answered is gathered' },
};
