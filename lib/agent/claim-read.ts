/**
 * The read before a claim: the whole execution, or, of a long one, the records that decide the claim.
 *
 * Owns: which records those are, and when they are not enough. Does not own: the decision. A part of an
 * execution is enough for a claim only; any other decision reads the whole execution.
 *
 * Each record that is read costs, so otherwise a step would cost more, the longer its chain. The records of
 * the step and its predecessors are read first, the execution's last. S10 if the execution is running, no
 * record read before it is newer than a cancel, and the fence of a later cancel sees the claim.
 */

import { expressionsOf, graphOf, type Plan } from '../core/plan/plan.ts';
import { stepsIn } from '../core/plan/refs-in.ts';
import type { Ports } from '../core/ports.ts';
import type { Message } from '../core/decisions/message.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import type { PlanCache } from '../engine/plans.ts';

/** The records of steps that one request reads for the price of one. */
const RECORDS_A_READ = 12;
/**
 * The most records that are read with one request each, all at once. For more, a single request for all is
 * cheaper for agent and table.
 */
const MAX_NAMES = 4;

/**
 * @param mayBePart allows a part, if that is enough
 * @param recordsARead as in `Worker`
 */
export async function readForClaim(
  ports: Ports,
  plans: PlanCache,
  message: Message,
  mayBePart: boolean,
  recordsARead: number = RECORDS_A_READ,
): Promise<Snapshot | undefined> {
  const part = mayBePart ? await readPart(ports, plans, message, recordsARead) : undefined;
  return part ?? ports.store.read(message.execution);
}

async function readPart(
  { store }: Ports,
  plans: PlanCache,
  message: Message,
  recordsARead: number,
): Promise<Snapshot | undefined> {
  // The message of a long execution names its plan, only as a hint: the record decides.
  const plan = message.plan === undefined ? undefined : plans.get(message.plan);
  const names = plan === undefined ? [] : recordsFor(plan, message, recordsARead);
  if (names.length === 0 || store.readSteps === undefined) return undefined;
  const state = await store.readSteps(message.execution, names);
  if (state === undefined) return undefined;
  const { status, epoch, pauses, plan: own } = state.execution;
  const isPlain = status === 'running' && epoch === 1 && pauses === undefined;
  return isPlain && own === message.plan ? state : undefined;
}

/**
 * The step and its predecessors if reading them is cheaper than reading all steps. Empty if other records
 * matter as well, or if there are too many.
 */
function recordsFor(plan: Plan, { step: name, mode }: Message, recordsARead: number): readonly string[] {
  const step = graphOf(plan).step.get(name);
  if (step?.kind !== 'agent' || mode !== 'execute') return [];
  // A failure elsewhere stops a step that leads past a point of no return.
  if (plan.steps.some(({ pointOfNoReturn }) => pointOfNoReturn === true)) return [];
  const names = [...new Set([name, ...step.after, ...stepsIn(expressionsOf(step))])];
  const before = plan.steps.indexOf(step);
  const isCheaper = before > recordsARead * (names.length + 1);
  // Leaves out at least one earlier step, so that no end is written from a part, which has neither incidents
  // nor entries.
  const isPart = before >= names.length;
  return isCheaper && isPart && names.length <= MAX_NAMES ? names : [];
}
