/**
 * People who resolve incidents: they choose at random among the offered choices, say that nothing happened
 * only after checking, and undo by hand what they say they have undone.
 */

import { choicesFor } from '../../lib/core/operators/incidents.ts';
import type { Plan } from '../../lib/core/plan/plan.ts';
import type { Incident } from '../../lib/core/records/question.ts';
import { openIncidents, type Snapshot, incidentsIn } from '../../lib/core/records/snapshot.ts';
import { cancel } from '../../lib/scheduler/commands.ts';
import { withConditions } from '../../lib/engine/large-values.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import { isJsonObject, type Json } from '../../lib/core/values/json.ts';
import { childrenOf, standsIn } from './families.ts';
import { keySeen, planSeen } from './on-failure.ts';
import { callerIn } from './cast.ts';
import { isRepeatedIn } from './oracle-rounds.ts';
import { type Host, planOf, processOutside, schedulerFor } from './process.ts';

/** People read the open incidents from time to time; sometimes two people at once. */
export function startPeople(host: Host): void {
  const { choice, events, faults, external } = host;
  const look = (): void => {
    for (const id of external.table.ids()) {
      if (external.table.read(id)?.execution.wakeAt === undefined) continue;
      if (id.includes('.') && choice.chance(0.2) && faults.injects('canceledChild')) void cancelOne(host, id);
      const operators = faults.injects('twoOperators') ? 2 : 1;
      for (let at = 0; at < operators; at += 1) void answerSomething(host, id);
    }
    if (!host.over()) events.plan(choice.between(20_000, 600_000), look);
  };
  events.plan(60_000, look);
}

/** An execution that belongs to another may be canceled like any other. */
async function cancelOne(host: Host, executionId: string): Promise<void> {
  await cancel(schedulerFor(host), executionId, callerIn(host)).catch(() => undefined);
}

/** Never rejects: a person whose answer is refused or lost answers again later. */
async function answerSomething(host: Host, executionId: string): Promise<void> {
  const { bulks, choice, faults, ledger, order } = host;
  const process = processOutside(host);
  const scheduler = schedulerFor(host, process);
  const { ports } = scheduler;
  try {
    const plan = planOf(host, executionId);
    const read = await ports.store.read(executionId);
    const state = read && plan && (await withConditions(ports, plan, read));
    const isLate = faults.injects('lateAnswer');
    const incident =
      state && choice.pick([...(isLate ? answeredIncidents(state) : openIncidents(state)), undefined]);
    if (state === undefined || incident === undefined || plan === undefined) return;
    if (isLate) return await answerLate(host, executionId, incident);
    const key = keyOf(plan, state, incident);
    const isLive = isLiveIn(host, plan, state, incident);
    const offered = choicesFor(plan, state, incident, ports.clock.now()).filter(
      (one) => one.needs === undefined || !isLive,
    );
    const isMistaken = incident.wrongAnswer !== undefined && ledger.isMistaken(key);
    const usual = offered.find((one) => one.choice === (isMistaken ? 'retry' : host.emphasis?.answer));
    const chosen = usual !== undefined && choice.chance(0.9) ? usual : choice.pick(offered);
    if (incident.kind === 'undo' && chosen.choice === 'skip' && incident.closedAt === undefined) {
      ledger.undoByHand(key);
      host.jobs.stoppedByHand(key);
      order.left(state.execution, incident.step ?? '');
    }
    bulks?.commands.answers(process, { executionId, incident: incident.number });
    await resolveIncident(scheduler, executionId, {
      incident: incident.number,
      choice: chosen.choice,
      // People say that nothing happened if a choice requires it, and sometimes if not, but only after
      // checking.
      ...(chosen.needs !== undefined || (!isLive && choice.chance(0.3)) ? { nothingHappened: true } : {}),
      ...(chosen.choice === 'retry-with-input' ? { input: inputFor(host, plan, state, incident) } : {}),
      ...(chosen.choice === 'give-output' ? { output: { given: true } } : {}),
      ...callerIn(host),
    });
  } catch {
    // If the choice is refused, or the answer lost, the person tries again later.
  }
}

/** A person's input: for a round, the old input with a word added, so that all its results are known. */
function inputFor({ external }: Host, plan: Plan, { execution }: Snapshot, { step: name }: Incident): Json {
  const step = plan.steps.find((one) => one.name === name);
  const read = (id: string): Snapshot | undefined => external.table.read(id);
  // Rounds of an earlier execution with its id may still exist.
  const isOfThisLife = (child: Snapshot): boolean => child.execution.parent?.since === execution.startedAt;
  const round = isRepeatedIn(step) ? childrenOf(execution, step, read).findLast(isOfThisLife) : undefined;
  const input = round?.execution.input;
  return isJsonObject(input) ? { ...input, given: true } : { given: true };
}

const keyOf = (plan: Plan, { execution }: Snapshot, { step = '' }: Incident): string =>
  keySeen(planSeen(plan, execution), execution, step);

/** Whether the subject of the question has an effect in place, as a person finds by checking. */
export function isLiveIn(host: Host, plan: Plan, state: Snapshot, incident: Incident): boolean {
  const { external, ledger } = host;
  const asked = plan.steps.find(({ name }) => name === incident.step);
  if (asked?.kind !== 'child') return ledger.isLive(keyOf(plan, state, incident));
  const others = {
    read: (id: string) => external.table.read(id),
    planOf: (id: string) => planOf(host, id),
  };
  return childrenOf(state.execution, asked, others.read).some(
    (one) => standsIn(one, others, ledger).length > 0,
  );
}

const answeredIncidents = (state: Snapshot): Incident[] =>
  incidentsIn(state).filter(({ closedAt }) => closedAt !== undefined);

/** A second resolution of an incident that a person or its default has resolved, as if it were still open. */
async function answerLate(host: Host, executionId: string, { number }: Incident): Promise<void> {
  const scheduler = schedulerFor(host);
  const choice = host.choice.pick(['retry', 'skip', 'undo-all', 'keep'] as const);
  const about = { incident: number, choice, nothingHappened: true };
  await resolveIncident(scheduler, executionId, { ...about, ...callerIn(host) });
}
