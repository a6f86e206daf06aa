/**
 * An execution as it goes on, for `show --watch`.
 *
 * Owns: how often it is read, and that each change is printed once. Does not own: its layout (`print.ts`).
 */

import type { ExecutionView } from '../lib/api/answers.ts';
import type { Client } from '../lib/api/client.ts';
import type { Clock } from './io.ts';

/** Each read costs: what does not change is read ever more seldom. */
export const FIRST_PAUSE_MS = 1_000;
export const LAST_PAUSE_MS = 10_000;
const SLOWER = 1.5;

interface Printing {
  readonly api: Pick<Client, 'get'>;
  readonly id: string;
  readonly print: (view: ExecutionView) => void;
  readonly clock: Clock;
}

/** @returns how it ended. It will: its workflow says within what time */
export async function printChanges({ api, id, print, clock }: Printing): Promise<ExecutionView> {
  let printed = '';
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * SLOWER, LAST_PAUSE_MS)) {
    const view = await api.get(id);
    const now = JSON.stringify(view);
    if (now !== printed) {
      print(view);
      printed = now;
      pauseMs = FIRST_PAUSE_MS;
    }
    if (view.endedAt !== undefined) return view;
    await clock.sleep(pauseMs);
  }
}
