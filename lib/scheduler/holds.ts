/**
 * The commands that pause a workflow or an agent, and those that end the pause.
 *
 * Owns: which agents there are, repeated commands, conflicts with other operators and failing calls. Does not
 * own: how a hold begins and ends (`core/records/hold.ts`), its effects (`core/holds/workflow-pause.ts`,
 * `core/step/breaker.ts`), when processes read it (`paused-starts.ts`, `agent/breaker.ts`,
 * `supervisor/admission.ts`).
 */

import type { DecisionInputs } from '../core/decisions/change.ts';
import type { BreakerNews } from '../core/decisions/news.ts';
import { neverPaused, type PausedStarts, type WorkflowPause } from '../core/holds/workflow-pause.ts';
import { withHold, withoutHold } from '../core/records/hold.ts';
import { type Breaker, newBreaker } from '../core/step/breaker.ts';
import type { Caller } from '../core/values/caller.ts';
import { refuse } from '../core/values/errors.ts';
import { defined } from '../core/values/defined.ts';
import { cut } from '../core/values/text.ts';
import { announceOnce } from '../engine/announce.ts';
import { changeRecord } from '../engine/change-record.ts';
import { decisionInputsOf } from '../engine/decision-inputs.ts';
import { type Scheduler, workflowOf } from './start.ts';

const REASON = 'paused by an operator';

type Paused = Pick<WorkflowPause, 'pause' | 'lastPause'>;

/** The pause of a workflow as it is stored now. */
export async function showPause({ ports }: Scheduler, workflow: string): Promise<Paused> {
  return pausedIn(await ports.workflowPauses?.read(workflow));
}

/**
 * Makes new executions of the workflow start paused. A workflow that is already paused stays as it is.
 * @throws SteadfastError `unknown-workflow`
 */
export const pauseWorkflow = (
  scheduler: Scheduler,
  workflow: string,
  asked: Omit<PausedStarts, 'at' | 'reason'> & { readonly reason?: string },
): Promise<Paused> =>
  changeWorkflow(scheduler, workflow, (before, inputs) =>
    withHold(before ?? neverPaused(workflow), { reason: REASON, ...asked }, inputs),
  );

/**
 * Makes new executions of the workflow start running again. Those that started paused stay paused until each
 * is resumed.
 * @throws SteadfastError `unknown-workflow`
 */
export const resumeWorkflow = (
  scheduler: Scheduler,
  workflow: string,
  { by }: { readonly by?: Caller },
): Promise<Paused> =>
  changeWorkflow(scheduler, workflow, (before, inputs) => withoutHold(before, by, inputs));

async function changeWorkflow(
  scheduler: Scheduler,
  workflow: string,
  change: (before: WorkflowPause | undefined, inputs: DecisionInputs) => WorkflowPause | undefined,
): Promise<Paused> {
  const { ports, pauses } = scheduler;
  workflowOf(scheduler, workflow);
  const records = ports.workflowPauses;
  if (records === undefined) throw new Error('this process has no place for pauses of workflows');
  const { before, written } = await changeRecord(records, [workflow], (record) =>
    change(record, decisionInputsOf(ports)),
  );
  if (written !== undefined)
    pauses.set(workflow, { readAt: ports.clock.now(), record: Promise.resolve(written) });
  return pausedIn(written ?? before);
}

const pausedIn = (record: WorkflowPause | undefined): Paused =>
  defined({ pause: record?.pause, lastPause: record?.lastPause });

/**
 * Stops sending to the agent; work under way continues to its end. An agent that is already paused stays as
 * it is.
 * @throws SteadfastError `unknown-agent`
 */
export const pauseAgent = (
  scheduler: Scheduler,
  agent: string,
  { reason = REASON, by }: { readonly reason?: string; readonly by?: Caller },
): Promise<Breaker | undefined> =>
  changeAgent(scheduler, agent, (before, inputs) =>
    withHold(before ?? newBreaker(agent), { reason, ...defined({ by }) }, inputs),
  );

/** @throws SteadfastError `unknown-agent` */
export const resumeAgent = (
  scheduler: Scheduler,
  agent: string,
  { by }: { readonly by?: Caller },
): Promise<Breaker | undefined> =>
  changeAgent(scheduler, agent, (before, inputs) => withoutHold(before, by, inputs));

async function changeAgent(
  scheduler: Scheduler,
  agent: string,
  change: (before: Breaker | undefined, inputs: DecisionInputs) => Breaker | undefined,
): Promise<Breaker | undefined> {
  refuseUnknownAgent(scheduler, agent);
  const { breakers, log, clock } = scheduler.ports;
  if (breakers === undefined) throw new Error('this process has no place for breakers');
  const { before, written } = await changeRecord(breakers, [agent], (record) =>
    change(record, decisionInputsOf(scheduler.ports)),
  );
  if (written === undefined) return before;
  log.note({ what: written.pause === undefined ? 'agent-resumed' : 'agent-paused', agent });
  await announceOnce(scheduler.ports, newsOf(written, clock.now()));
  return written;
}

function newsOf({ agent, pause, lastPause }: Breaker, at: number): BreakerNews {
  const common = { about: 'breaker', agent, at, view: '/agents' } as const;
  return pause === undefined
    ? { ...common, change: 'resumed', ...defined({ since: lastPause?.at, by: lastPause?.endedBy }) }
    : { ...common, change: 'paused', ...defined({ by: pause.by }) };
}

/** The agents that the workflows of this process name. */
const agentNames = ({ workflows }: Scheduler): readonly string[] =>
  [
    ...new Set(
      [...workflows.values()].flatMap(({ workflow }) => workflow.agents.map(({ spec }) => spec.name)),
    ),
  ].sort();

/** @throws SteadfastError `unknown-agent` */
export function refuseUnknownAgent(scheduler: Scheduler, agent: string): void {
  const names = agentNames(scheduler);
  if (names.includes(agent)) return;
  const known = names.join(', ') || 'none';
  throw refuse('unknown-agent', `there is no agent '${cut(agent, 60)}'; there are: ${known}`);
}
