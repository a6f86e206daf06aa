/** What the tests of explanations share: a question to a person, a pause, an instant as it is written, the explanation. */

import { explain, type Explanation } from '../../lib/core/explain/why.ts';
import type { Plan } from '../../lib/core/plan/plan.ts';
import type { Incident } from '../../lib/core/records/incident.ts';
import type { Execution, Pause, Step } from '../../lib/core/records/state.ts';
import { planOf, stateOf, step } from './one-step.ts';
import { NOW } from './states.ts';

export const isoOf = (at: number): string => new Date(at).toISOString();

export const incidentOf = (more: Partial<Incident> = {}): Incident => ({
  number: 1,
  life: 'life1',
  version: 1,
  writeId: 'w-i',
  kind: 'ladder',
  step: 'it',
  stepVersion: 1,
  failure: { code: 'x', message: 'y' },
  openedAt: NOW - 50,
  deadlineAt: NOW + 70_000,
  otherwise: 'fail',
  ...more,
});

export const plan = planOf(step);
export interface More {
  readonly plan?: Plan;
  readonly incidents?: readonly Incident[];
  readonly now?: number;
  readonly isDeployed?: (agent: string) => boolean;
}
export const explained = (
  records: readonly Step[],
  execution: Partial<Execution> = {},
  more: More = {},
): Explanation =>
  explain(
    more.plan ?? plan,
    {
      ...stateOf(records, { watchAt: NOW, ...execution }),
      incidents: Object.fromEntries((more.incidents ?? []).map((one) => [one.number, one])),
    },
    more.now ?? NOW,
    more.isDeployed,
  );
export const undoing: Partial<Execution> = {
  status: 'undoing',
  cause: { kind: 'cancel', at: NOW, failure: { code: 'c', message: 'd' } },
};
export const pause: Pause = {
  number: 1,
  at: NOW - 9,
  reason: 'r',
  withinMs: 9_000,
  pausedAt: NOW - 5,
  deadlineAt: NOW + 9_000,
};
export const paused: Partial<Execution> = { status: 'paused', pauses: [pause] };
