/**
 * The shape of a rule: one reason for a look to write something.
 *
 * Owns: the shape. Does not own: the rules and their order (`execution/rules.ts`).
 */

import type { Decision } from '../records/decision.ts';
import type { Look } from '../records/events.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { Plan } from './plan.ts';

export type Rule = (plan: Plan, state: Snapshot, event: Look) => Decision | undefined;
