/**
 * Ends a run of `verify` after an interrupt: starts no further check, and removes the resources of the run.
 *
 * Owns: the signals, and where a run stops. Does not own: the removal (`throwaway.ts`).
 *
 * I1 an interrupted run stops before its next check, and writes no report.
 */

import { EXIT, type Io, messageOf } from '../io.ts';

export interface Interrupt {
  /** Resolves at once; after an interrupt, never. */
  readonly passed: () => Promise<void>;
  readonly off: () => void;
}

/** SIGHUP is sent when a terminal is closed or its connection breaks. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const NEVER = new Promise<never>(() => {});

/** Handles interrupts: removes all resources, or prints those that remain. */
export function onInterrupt(
  io: Pick<Io, 'err'>,
  stop: () => Promise<void>,
  on: Pick<NodeJS.Process, 'once' | 'off' | 'exit'> = process,
): Interrupt {
  let isOver = false;
  const onSignal = (): void => {
    isOver = true;
    io.err('Stopping …\n');
    void stop()
      .catch((error: unknown) => io.err(`${messageOf(error)}\n`))
      .finally(() => on.exit(EXIT.failed));
  };
  for (const signal of SIGNALS) on.once(signal, onSignal);
  return {
    passed: () => (isOver ? NEVER : Promise.resolve()),
    off: () => SIGNALS.forEach((signal) => on.off(signal, onSignal)),
  };
}
