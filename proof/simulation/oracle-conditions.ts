/**
 * Judges conditions on the input, by the input, and skipped steps for messages.
 *
 * Owns: S7 a step begins only if its condition holds, and is skipped only if it does not; a step for a
 * message that is skipped or tolerated has taken none. Does not own: conditions on other steps' ends
 * (`oracle-tolerate.ts`), the statuses after that (`oracle-moves.ts`).
 */

import type { Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import { asIncident } from '../../lib/core/records/question.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../lib/core/records/state.ts';
import { isLostFailure } from '../../lib/core/step/left-out.ts';
import { isJsonObject, type Json } from '../../lib/core/values/json.ts';
import type { KindCounts } from './kinds.ts';

const UNBEGUN: ReadonlySet<Step['status']> = new Set(['ready', 'answered']);
const BEGUN: ReadonlySet<Step['status']> = new Set(['running', 'done', 'failed']);

export function judgeConditions(
  problems: string[],
  plan: Plan,
  { execution, steps }: Snapshot,
  { step: after, taken, question }: Write,
  kinds: KindCounts,
): void {
  const planned = plan.steps.find(({ name }) => name === after?.name);
  if (after === undefined || planned === undefined) return;
  const was = steps[after.name]?.status ?? 'ready';
  const { name, status } = after;
  if (was === status) return;
  if (planned.kind === 'receive' && (status === 'skipped' || status === 'tolerated')) {
    kinds[status === 'skipped' ? 'receiveSkipped' : 'receiveTolerated'] += 1;
    if (taken !== undefined || after.received !== undefined || after.output !== undefined)
      problems.push(`M3 '${name}' is ${status}, and has taken a message`);
  }
  const holds = holdsIn(planned, execution);
  if (holds === undefined) return;
  if (status === 'skipped' && holds && asIncident(question)?.choice !== 'skip')
    problems.push(`S7 '${name}' is skipped, and its condition holds`);
  // A condition on a lost value is neither true nor false.
  if (!holds && UNBEGUN.has(was) && BEGUN.has(status) && !isLostFailure(after.failure))
    problems.push(`S7 '${name}' is ${status}, and its condition does not hold`);
}

/** Whether the step's condition on an input field holds; undefined if there is no such condition or field. */
function holdsIn({ when = null }: PlanStep, { input }: Execution): boolean | undefined {
  const pair = isJsonObject(when) ? when['$eq'] : undefined;
  if (!Array.isArray(pair)) return undefined;
  const [left, wanted] = pair as Json[];
  if (!isJsonObject(left) || left['$ref'] !== 'input' || !isJsonObject(input)) return undefined;
  const [field] = left['path'] as string[];
  const value = input[field ?? ''];
  return typeof value === 'boolean' ? value === wanted : undefined;
}
