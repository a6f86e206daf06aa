/**
 * Turns a decision into writes and messages; no other file does.
 *
 * Owns: the order of effects: announce the news that an earlier write recorded; store large values outside
 * the table; write; send; announce a risk, best effort. Does not own: the decision, or the work after it
 * (`reconcile.ts`).
 *
 * If the process dies between the write and the messages, a supervisor sends them at the recorded wake time.
 * If no supervisor will be at work then, one is called now. If the process dies between the announcement
 * and the write, the announcement is repeated, which its receivers must expect (docs/EVENTS.md).
 */

import type { Ports, WriteResult } from '../core/ports.ts';
import type { Decision, Send } from '../core/decisions/decision.ts';
import { riskNews } from '../core/decisions/news.ts';
import type { Execution } from '../core/records/state.ts';
import { announceOnce, originOf } from './announce.ts';
import { writeApart } from './values-apart.ts';
import { callSupervisor } from './wake-up.ts';

/**
 * @param before the execution's record that the decision is based on
 * @returns 'conflict' if another write came first; nothing was sent then
 * @throws the error of a port; the write may or may not have taken place
 */
export async function commit(
  ports: Ports,
  decision: Decision,
  before: Pick<Execution, 'wakeAt' | 'workflow' | 'riskSince'>,
): Promise<WriteResult> {
  if (decision.announce !== undefined) await ports.announcer.announce(decision.announce);
  const { write } = decision;
  if (write !== undefined) {
    const stored = ports.largeValues === undefined ? write : await writeApart(ports.largeValues, write);
    const result = await ports.store.write(stored);
    if (result === 'conflict') return result;
  }
  const calling = callSupervisor(ports, write?.execution?.wakeAt, before.wakeAt);
  const sends = reachable(ports, decision.sends);
  if (sends.length > 0) await ports.queue.send(sends);
  await calling;
  const { executionId = '', execution } = write ?? {};
  const risk = riskNews(before, execution);
  if (risk !== undefined) await announceOnce(ports, risk);
  const origin = originOf(before.workflow, execution);
  const notes = risk === undefined ? decision.notes : [...decision.notes, { what: 'at-risk', executionId }];
  for (const note of notes) ports.log.note(note, origin);
  return 'written';
}

/** Keeps the messages to agents that this process can reach. A supervisor sends the others. */
function reachable({ queue, log }: Ports, sends: readonly Send[]): readonly Send[] {
  if (queue.reaches === undefined) return sends;
  const isReached = ({ agent }: Send): boolean => queue.reaches?.(agent) !== false;
  for (const { agent, message } of sends.filter((send) => !isReached(send))) {
    const detail = `no agent '${agent}' is known here; a supervisor sends it, or says that there is none`;
    const { execution: executionId, step, attempt } = message;
    log.note({ what: 'not-sent', executionId, step, attempt, agent, detail });
  }
  return sends.filter(isReached);
}
