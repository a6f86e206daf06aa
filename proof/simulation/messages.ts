/**
 * Simulates the queues: messages are lost, duplicated, delayed and forged; unhandled ones are redelivered.
 *
 * Owns: deliveries, each as an invocation of the agent's function. Does not own: what the function does.
 */

import { ProcessBreaker } from '../../lib/agent/breaker.ts';
import { ProcessRate } from '../../lib/agent/process-rate.ts';
import type { Worker } from '../../lib/agent/author-code.ts';
import { handleAndCarryOn } from '../../lib/agent/carry-on.ts';
import type { HostedAgent, Neighbours } from '../../lib/agent/kept-message.ts';
import { SingleFlight } from '../../lib/agent/single-flight.ts';
import type { Send } from '../../lib/core/decisions/decision.ts';
import { BULK } from '../../lib/core/plan/built-in.ts';
import type { Message } from '../../lib/core/decisions/message.ts';
import { deferredByPause } from '../../lib/scheduler/bulk-workflow.ts';
import { freezeSome } from './erasers.ts';
import { containerOf } from './containers.ts';
import { PROCESS_MS } from './emphasis.ts';
import type { Carried } from './carried.ts';
import { pausedAtClaims } from './late-claims.ts';
import { type Host, newProcess, planOf, portsOf, type Process, type Warm } from './process.ts';
import { AGENT_NAMES, agentOf, noted, service } from './service.ts';

const VISIBILITY_MS = 120_000;
const MAX_RECEIVES = 5;
/** The number of warm processes of an agent. */
const WARM_PROCESSES = 4;
const MAX_BATCH = 10;
const GATHER_MS = 200;

/** A message in delivery, and its receive count. */
export interface Delivery {
  readonly send: Send;
  readonly receives: number;
}

/** @param longestDelayMs the longest delay; for faults to be masked (C2), below every pickup time */
export function sendMessage(host: Host, send: Send, longestDelayMs: number): void {
  const { choice, events, faults } = host;
  if (faults.injects('lostMessage')) return;
  const copies = faults.injects('duplicatedMessage') ? 2 : 1;
  for (let copy = 0; copy < copies; copy += 1) {
    const lateMs = faults.injects('delayedMessage') ? choice.between(100, longestDelayMs) : 0;
    const dueMs = send.delayMs + lateMs + choice.between(5, 50);
    events.plan(Math.max(dueMs, host.outages.queueDelayMs(events.now)), () => deliver(host, send, 1));
  }
  if (faults.injects('forgedMessage')) forge(host, send);
}

/**
 * Sends a random hint at a random time to a random queue; half of them are real messages in a wrong queue.
 */
function forge(host: Host, send: Send): void {
  const { choice, events } = host;
  const copied = choice.chance(0.5);
  const steps = planOf(host, send.message.execution)?.steps.map(({ name }) => name) ?? [];
  const step = choice.pick(['nothing', ...steps]);
  const mode = choice.pick(['execute', 'probe', 'undo'] as const);
  const invented = { ...send.message, step, mode, attempt: choice.between(0, 3), seq: 0 };
  const agent = choice.pick(AGENT_NAMES);
  const forged = { agent, message: copied ? send.message : invented, delayMs: 0 };
  events.plan(copied ? 1 : choice.between(1, 60_000), () => deliver(host, forged, 1));
}

/** Picks one of the agent's warm processes for a message, or starts another. */
function warmProcess({ choice, rates, warm }: Host, agent: string): Warm {
  const known = warm.get(agent) ?? [];
  if (known.length > 0 && choice.chance(0.9)) return choice.pick(known);
  // The built-in agent calls no service, so it has no rate.
  const perSecond = agent === BULK.name ? undefined : rates.perSecond;
  const cold = {
    breaker: new ProcessBreaker(agent),
    ...(perSecond === undefined ? {} : { rate: new ProcessRate(agent, perSecond) }),
  };
  warm.set(agent, [...known, cold].slice(-WARM_PROCESSES));
  return cold;
}

/** Adds the plan to a message, as in messages of a long execution. */
function hinted(host: Host, { message }: Send): Message {
  const plan = host.readsInPart ? host.external.table.read(message.execution)?.execution.plan : undefined;
  return plan === undefined ? message : { ...message, plan };
}

/** Delivers a message; in a crowded world, together with other messages of the agent that come soon. */
function deliver(host: Host, send: Send, receives: number): void {
  const { batches, choice, crowded, events } = host;
  const { agent } = send;
  if (!crowded) return invoke(host, agent, [{ send, receives }]);
  const waiting = batches.get(agent);
  if (waiting !== undefined && waiting.length < MAX_BATCH) {
    waiting.push({ send, receives });
    return;
  }
  const batch = [{ send, receives }];
  batches.set(agent, batch);
  events.plan(choice.between(0, GATHER_MS), () => {
    if (batches.get(agent) === batch) batches.delete(agent);
    invoke(host, agent, batch);
  });
}

/** Invokes the agent's function. A message not acknowledged within the visibility time is redelivered. */
function invoke(host: Host, agent: string, batch: readonly Delivery[]): void {
  const process = newProcess(host, host.choice.pick(host.emphasis?.processMs ?? PROCESS_MS));
  freezeSome(host, process);
  if (batch.length === 1) process.message = batch[0]?.send.message;
  // Containers take one message at a time.
  const container = batch.length === 1 ? containerOf(host, process) : undefined;
  const inPart = host.readsInPart ? { recordsARead: 0 } : {};
  const singleFlight = host.crowded ? { singleFlight: new SingleFlight() } : {};
  const listener = container === undefined ? {} : { listener: container.listener };
  const shared = { ...inPart, ...singleFlight, ...listener };
  const hosted = (name: string): HostedAgent => {
    const worker = { ...workerOf(host, process, name), ...shared };
    return { ports: pausedAtClaims(host, process, portsOf(host, process)), worker };
  };
  const { carried } = host;
  const carries = carried !== undefined && batch.length === 1 && container === undefined;
  const neighbours = carries ? neighboursIn(carried, process, hosted) : ALONE;
  const deadline = (): number => process.processDeadlineAt + process.skewMs + (process.wrong?.ms ?? 0);
  if (carries) carried.began(process);
  let left = batch.length;
  for (const { send, receives } of batch) {
    let handled = false;
    handleAndCarryOn(hosted(agent), host.plans, hinted(host, send), deadline, neighbours)
      .then(
        (result) => {
          handled = result === 'handled';
          if (handled && batch.length === 1) host.jobs.handled(host, process);
          container?.over();
          if (carries) carried.over(process);
        },
        () => undefined,
      )
      .finally(() => {
        left -= 1;
        // The platform keeps the process warm, even after an error, so code that has not returned continues
        // during the next message.
        if (left === 0) process.processDeadlineAt = Number.POSITIVE_INFINITY;
      });
    if (receives < MAX_RECEIVES)
      host.events.plan(VISIBILITY_MS, () => {
        if (!handled) deliver(host, send, receives + 1);
      });
  }
}

function workerOf(host: Host, process: Process, agent: string): Worker {
  const real = noted(host, agent, service(host, process, agent));
  const implementation = host.containers === undefined ? real : host.running.watched(process, real);
  const deferredBy = agent === BULK.name ? { deferredBy: deferredByPause } : {};
  return { agent: agentOf(agent), implementation, ...warmProcess(host, agent), ...deferredBy };
}

const ALONE: Neighbours = { has: () => false, of: () => Promise.reject(new Error('no other agent is here')) };

/** Makes the neighbours of a host; a kept message has the same content as one from a queue. */
const neighboursIn = (
  carried: Carried,
  process: Process,
  hosted: (agent: string) => HostedAgent,
): Neighbours => ({
  has: carried.has,
  of: async (send) => {
    carried.handed(process, send);
    process.message = send.message;
    return hosted(send.agent);
  },
});
