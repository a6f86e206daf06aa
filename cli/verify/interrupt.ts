/**
 * What an interrupt does to a run of `verify`: nothing more is begun, and what was made is removed.
 *
 * Owns: the signals, and where a run stops. Does not own: how something is removed (`throwaway.ts`).
 *
 * I1 a run that was interrupted goes no further than its next wait or its next check, and writes no report:
 *    what it began while all is removed would be left behind.
 */

import { EXIT, type Io, messageOf } from '../io.ts';
import type { Ports } from './ports.ts';

export interface Interrupt {
  /** Returns at once; after an interrupt never. */
  readonly passed: () => Promise<void>;
  readonly off: () => void;
}

/** Also where a terminal is closed, or a connection to it breaks. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const NEVER = new Promise<never>(() => {});

/** An interrupt leaves nothing behind, or says what it leaves. */
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

/** The ports as checks have them: at a wait a run that was interrupted stops. */
export const interruptible = (ports: Ports, { passed }: Pick<Interrupt, 'passed'>): Ports => ({
  ...ports,
  clock: {
    now: () => ports.clock.now(),
    sleep: async (ms) => {
      await ports.clock.sleep(ms);
      await passed();
    },
  },
});
