/** For tests of explanations: an incident, a pause, an explanation, and its lines of text. */

import type { Breakers } from '../../lib/explain/deferred.ts';
import { type Explanation, explain } from '../../lib/explain/why.ts';
import type { Plan } from '../../lib/core/plan/plan.ts';
import type { Next } from '../../lib/explain/words.ts';
import type { Incident } from '../../lib/core/records/question.ts';
import type { Pause } from '../../lib/core/records/pauses.ts';
import type { Execution, Step } from '../../lib/core/records/state.ts';
import { incidentOf as shortIncidentOf, planOf, stateOf, step } from './one-step.ts';
import { NOW } from './states.ts';

export const incidentOf = (more: Partial<Incident> = {}): Incident =>
  shortIncidentOf({ openedAt: NOW - 50, deadlineAt: NOW + 70_000, ...more });

export const plan = planOf(step);
export interface More {
  readonly plan?: Plan;
  readonly incidents?: readonly Incident[];
  readonly now?: number;
  readonly isDeployed?: (agent: string) => boolean;
  readonly breakers?: Breakers;
}
export const explained = (
  records: readonly Step[],
  execution: Partial<Execution> = {},
  more: More = {},
): Explanation =>
  explain(
    more.plan ?? plan,
    {
      ...stateOf(records, { wakeAt: NOW, ...execution }),
      questions: Object.fromEntries((more.incidents ?? []).map((one) => [one.number, one])),
    },
    more.now ?? NOW,
    more.isDeployed,
    more.breakers,
  );

/** The time in ms from `NOW`. */
const since = (at: number | undefined): string =>
  at === undefined ? '' : ` ${at < NOW ? '' : '+'}${at - NOW}`;
/** The step's name; left out if missing, but shown if undefined. */
const about = (one: { readonly step?: string }): string => (Object.hasOwn(one, 'step') ? ` ${one.step}` : '');
/** One line of what is next: who acts, on which step, when, and how. */
export const nextLine = (next: Next): string =>
  `${next.who ?? 'none'}${about(next)}${since(next.at)}: ${next.what}`;

/** The lines of an explanation without the evidence: what is next, each step, the warnings, the past. */
export function linesOf({ status, next, steps, warnings, past }: Explanation): string {
  const lines = [
    `${status} → ${nextLine(next)}`,
    ...steps.flatMap((one) => [
      `${one.name} ${one.status}: ${one.because}`,
      ...(one.next.who === undefined ? [] : [`  → ${nextLine(one.next)}`]),
    ]),
    ...warnings.map((text) => `! ${text}`),
    ...past.map((one) => `${since(one.at).trim()}${about(one)}: ${one.what}`),
  ];
  return lines
    .join('\n')
    .replaceAll(/\d{4}-\d\d-\d\d [\d:]+Z/g, (text) => `<${since(Date.parse(text)).trim()}>`);
}

export const compensating: Partial<Execution> = {
  status: 'compensating',
  cause: { kind: 'cancel', at: NOW, failure: { code: 'c', message: 'd' } },
};
export const pause: Pause = {
  number: 1,
  at: NOW - 9,
  reason: 'r',
  withinMs: 9_000,
};
export const paused: Partial<Execution> = { status: 'paused', pauses: [pause] };
