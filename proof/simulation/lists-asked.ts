/**
 * Workflows with a list whose items' agent answers wrongly now and then: a plan as it is in a world that has
 * wrong answers.
 *
 * Owns: the share of such workflows, how a process reaches the places of those that announce. Does not own:
 * which worlds have the trait (`traits.ts`), what is judged (`oracle-lists-asked.ts`). Worlds without the
 * trait stay as they were.
 */

import type { MapStep, Plan } from '../../lib/core/plan/plan.ts';
import type { AnnouncedLists } from '../../lib/core/ports.ts';
import { type Choice, itemOf } from './plans.ts';

const SHARE = 0.3;

export function withAskingList(plan: Plan, choice: Choice): Plan {
  if (!choice.chance(SHARE)) return plan;
  const last = plan.steps.at(-1);
  // Nothing follows it, for what a list answers has no key.
  if (last?.kind !== 'agent' || last.pointOfNoReturn === true) return plan;
  const list: MapStep = {
    kind: 'map',
    name: last.name,
    after: last.after,
    over: { $ref: 'input', path: ['items'] },
    each: itemOf(last),
    tolerate: choice.pick([{ items: 0 }, { items: 5 }]),
  };
  return { ...plan, steps: [...plan.steps.slice(0, -1), list] };
}

/** @param reach a call to the store, which takes time and may fail */
export const announcedListsOf = (
  { read, write }: AnnouncedLists,
  reach: <Answer>(execute: () => Promise<Answer>) => Promise<Answer>,
): AnnouncedLists => ({
  read: (list) => reach(() => read(list)),
  write: (record) => reach(() => write(record)),
});
