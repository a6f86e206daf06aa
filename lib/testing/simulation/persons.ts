/**
 * People who answer the questions of incidents: they choose at random among what is offered, say that nothing happened
 * only when they have looked and it is so, and undo by hand what they say they have undone.
 */

import { choicesFor } from '../../core/incidents.ts';
import type { Plan } from '../../core/plan.ts';
import { type Incident, openIncidents } from '../../core/state.ts';
import { answerIncident } from '../../roles/operators.ts';
import { createScheduler } from '../../roles/scheduler.ts';
import type { Ledger } from './ledger.ts';
import { type Host, portsOf, type Process } from './process.ts';

/** Never rejects: a person whose answer is refused or lost looks again later. */
export async function answerSomething(
  host: Host,
  process: Process,
  plan: Plan,
  ledger: Ledger,
  executionId: string,
): Promise<void> {
  const ports = portsOf(host, process);
  try {
    const state = await ports.store.read(executionId);
    const incident = state && host.choice.pick([...openIncidents(state), undefined]);
    if (state === undefined || incident === undefined) return;
    const key = `${executionId}.${incident.step}`;
    const offered = choicesFor(plan, state, incident, ports.clock.now()).filter(
      (one) => one.needs === undefined || !ledger.isLive(key),
    );
    const { choice, needs } = host.choice.pick(offered);
    if (incident.kind === 'undo' && choice === 'skip') undoAllByHand(ledger, key, incident);
    const scheduler = createScheduler(ports, [], { hash: (text) => text, newId: () => '' });
    await answerIncident(scheduler, executionId, {
      incident: incident.number,
      choice,
      // Said where it is asked for, and now and then where it is not, but only by somebody who has looked.
      ...(needs !== undefined || (!ledger.isLive(key) && host.choice.chance(0.3))
        ? { nothingHappened: true }
        : {}),
      ...(choice === 'retry-with-input' ? { input: { given: true } } : {}),
      ...(choice === 'give-output' ? { output: { given: true } } : {}),
    });
  } catch {
    // Refused, or the answer was lost: there is another time.
  }
}

function undoAllByHand(ledger: Ledger, key: string, incident: Incident): void {
  if (incident.resolvedAt === undefined) ledger.undoByHand(key);
}
