/**
 * Simulates operators who pause an execution during a slow claim of one of its steps.
 *
 * Owns: the duration of the claim. Does not own: what may begin in a pause (`oracle-times.ts`).
 */

import type { Ports, Store } from '../../lib/core/ports.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import { isForward } from '../../lib/core/records/state.ts';
import { pause } from '../../lib/scheduler/commands.ts';
import { give, LONGEST_PAUSE_MS } from './operators.ts';
import type { Choice } from './plans.ts';
import type { Host, Process } from './process.ts';

/** The share of a claim's reads and writes during which an operator pauses the execution. */
const PAUSED_AT_CLAIM = 0.05;
const READ_MS = [0, 20_000] as const;
const WRITE_MS = [0, 12_000] as const;
/** Later writes can only come from a process that was frozen. */
const LATEST_TRY_MS = 6_000;

/** Wraps the ports of a process so that an operator pauses during its claims. */
export function pausedAtClaims<Own extends Pick<Ports, 'store'>>(
  host: Host,
  process: Process,
  ports: Own & Pick<Ports, 'clock'>,
): Own & Pick<Ports, 'clock'> {
  const { pausing: choice, external } = host;
  if (choice === undefined) return ports;
  const { store, clock } = ports;
  const met = async (id: string, spanMs: readonly [number, number]): Promise<void> => {
    const ms = pausesNow(host, choice, id) ? choice.between(...spanMs) : 0;
    if (ms === 0) return;
    await clock.sleep(ms);
    if (ms > LATEST_TRY_MS) process.frozenUntil = Math.max(process.frozenUntil, host.events.now);
  };
  const slow: Pick<Store, 'read' | 'write'> = {
    read: async (id) => {
      const state = await store.read(id);
      await met(id, READ_MS);
      return state;
    },
    write: async (write) => {
      if (isClaim(write, external.table.read(write.executionId)?.steps[write.step?.name ?? '']?.token))
        await met(write.executionId, WRITE_MS);
      return await store.write(write);
    },
  };
  const seen = new Proxy(store, {
    get: (of, key: keyof Store) => {
      const value = key === 'read' || key === 'write' ? slow[key] : of[key];
      return typeof value === 'function' ? value.bind(of) : value;
    },
  });
  Object.defineProperty(ports, 'store', { value: seen });
  return ports;
}

const isClaim = ({ step }: Write, token: string | undefined): boolean =>
  step?.leaseUntil !== undefined && step.heartbeat === 0 && step.token !== token;

/** Perhaps pauses the execution. @returns whether it did */
function pausesNow(host: Host, choice: Choice, id: string): boolean {
  const execution = host.external.table.read(id)?.execution;
  if (execution === undefined || host.faults.healed() || !choice.chance(PAUSED_AT_CLAIM)) return false;
  if (!isForward(execution.status) || execution.parent?.part === true) return false;
  const number = (execution.pauses?.at(-1)?.number ?? 0) + 1;
  const withinMs = choice.pick([20_000, LONGEST_PAUSE_MS]);
  give(host, id, `pause-${number}`, (to, asked) => pause(to, id, { ...asked, withinMs }));
  return true;
}
