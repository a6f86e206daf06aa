/**
 * The shape of a rule: one reason for an evaluation to write something.
 *
 * Owns: the shape. Does not own: the rules and their order (`execution/rules.ts`).
 */

import type { Decision } from '../records/decision.ts';
import type { Evaluation } from '../records/events.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { Plan } from './plan.ts';

export type Rule = (plan: Plan, state: Snapshot, event: Evaluation) => Decision | undefined;
