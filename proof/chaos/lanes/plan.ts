/**
 * Draws from the seed what an execution of the lanes workflow meets.
 *
 * Owns: accounts, pages, declined parts, what its client does. Pure. Does not own: the workflow
 * (`workflow.ts`), whether everything ended as it must (`observed.ts`).
 */

import type { RuleInput } from '../../../examples/world/behaviour.ts';
import { drawsOf } from '../../../kit/cloud/random.ts';
import type { PlannedStart } from '../load.ts';
import { trouble, troubleWhileUndoing } from '../order-plan.ts';

const SERVICES = ['payment', 'carrier'] as const;
/** Few enough that their lanes are full. */
const ACCOUNTS = 5;
const MOST_PAGES = 5;

export interface PlannedLaned extends PlannedStart {
  /** One of its parts is declined for good, so that it is undone. */
  readonly isDeclined: boolean;
}

export function plannedLaned(seed: number, index: number): PlannedLaned {
  const draws = drawsOf(seed, 1_000 + index);
  const account = `acc${draws.between(1, ACCOUNTS)}`;
  const subject = `laned-${index}-${account}`;
  const pages = draws.between(1, MOST_PAGES);
  const parts = ['/pay', '/job', '/last', ...Array.from({ length: pages }, (_, at) => `/page-${at + 1}`)];
  const isDeclined = draws.chance(0.25);
  const declined = isDeclined ? draws.pick(['/last', '/last', '/job', `/page-${pages}`]) : undefined;
  const rules = parts.flatMap((part) => {
    const own: RuleInput[] = [
      ...(part === declined ? SERVICES.map((service) => ({ service, mode: 'decline' as const })) : []),
      ...(draws.chance(0.25) ? [trouble(draws, draws.pick(SERVICES))] : []),
      ...(draws.chance(0.15) ? [troubleWhileUndoing(draws)] : []),
      ...SERVICES.map((service) => ({ service, mode: 'slow-reply' as const, ms: draws.between(50, 400) })),
    ];
    return own.map((rule) => ({ ...rule, match: { ...rule.match, about: subject + part } }));
  });
  return {
    key: subject,
    workflow: 'laned',
    input: { subject, account, tenant: draws.chance(0.7) ? 'big' : `small-${index}`, pages },
    rules,
    isDeclined,
    ...(draws.chance(0.1) ? { repeatAfterMs: draws.between(1, 8_000) } : {}),
    ...(draws.chance(0.15) ? { cancelAfterMs: draws.between(0, 25_000) } : {}),
  };
}
