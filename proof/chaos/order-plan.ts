/**
 * Draws an order of the load from the seed: how the outside world treats it, and what its client does.
 *
 * Owns: the shares of misbehaviour, of repeated starts and of cancels. Pure. Does
 * not own: sending it (`load.ts`).
 *
 * The outside world obeys what the agents' authors declared about it (`lateEffectWithin: '1s'`): no request
 * takes effect later than that after it was sent. Its answers may come much later, or never.
 */

import type { RuleInput } from '../../examples/world/behaviour.ts';
import type { PlannedStart } from './load.ts';
import { type Draws, drawsOf } from '../../kit/cloud/random.ts';

export type Service = RuleInput['service'];
export const SERVICES = ['payment', 'warehouse', 'carrier', 'mail'] as const;
/** The longest delay of an effect: below the agents' `lateEffectWithin`, with a margin for a busy machine. */
const MAX_LATE_EFFECT_MS = 600;

export function plannedOrder(seed: number, index: number): PlannedStart {
  const draws = drawsOf(seed, 1_000 + index);
  const orderId = `order-${index}`;
  const rules = [...misbehaviour(draws), ...usualTimes(draws)];
  return {
    key: orderId,
    workflow: 'order-fulfilment',
    input: {
      orderId,
      email: `${orderId}@customers.example`,
      address: '1 Harbour Street',
      items: [{ sku: 'lighthouse', quantity: 1 }],
      total: 4_200,
    },
    rules: rules.map((rule) => ({ ...rule, match: { ...rule.match, about: orderId } })),
    ...(draws.chance(0.1) ? { repeatAfterMs: draws.chance(0.3) ? 0 : draws.between(1, 8_000) } : {}),
    ...(draws.chance(0.06) ? { cancelAfterMs: draws.between(0, 3_000) } : {}),
  };
}

/** Most orders meet no misbehaviour. */
function misbehaviour(draws: Draws): RuleInput[] {
  const rules: RuleInput[] = [];
  if (draws.chance(0.35)) rules.push(trouble(draws, draws.pick<Service>(SERVICES)));
  if (draws.chance(0.06)) rules.push({ service: 'carrier', mode: 'decline' });
  if (draws.chance(0.02)) rules.push({ service: 'payment', mode: 'decline' });
  if (draws.chance(0.15)) rules.push(troubleWhileUndoing(draws));
  return rules;
}

/** A service that fails, and recovers after a few calls. */
export function trouble(draws: Draws, service: Service): RuleInput {
  const kind = draws.random();
  if (kind < 0.3) return { service, mode: 'unavailable', times: draws.between(1, 3) };
  if (kind < 0.55) return { service, mode: 'drop-reply', times: draws.between(1, 2) };
  if (kind < 0.7) return { service, mode: 'slow', ms: draws.between(100, MAX_LATE_EFFECT_MS), times: 2 };
  if (kind < 0.92) return { service, mode: 'slow-reply', ms: draws.between(500, 7_000), times: 1 };
  return { service, mode: 'hang', times: 1 };
}

/** Requests while an outcome is unknown or an order is undone fail as well. */
export function troubleWhileUndoing(draws: Draws): RuleInput {
  const [service, action] = draws.pick<readonly [Service, string]>([
    ['payment', 'refund'],
    ['payment', 'lookup'],
    ['carrier', 'cancel'],
    ['carrier', 'lookup'],
    ['warehouse', 'release'],
  ]);
  const mode = draws.pick(['unavailable', 'drop-reply', 'slow-reply', 'hang'] as const);
  return { service, mode, match: { action }, times: 1, ...(mode === 'slow-reply' ? { ms: 1_500 } : {}) };
}

/** The usual delays of the services: a process cannot be killed during a call that is answered at once. */
export const usualTimes = (draws: Draws): RuleInput[] =>
  SERVICES.map((service) => ({ service, mode: 'slow-reply', ms: draws.between(50, 500) }));
