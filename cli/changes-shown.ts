/**
 * An execution as it goes on, for `show --watch` and each other wait.
 *
 * Owns: how often it is read, that each change is printed once, what a wait says while nothing answers. Does
 * not own: its layout (`print.ts`).
 */

import type { ExecutionView } from '../lib/api/answers.ts';
import { type ApiError, type Client, isTransient } from '../lib/api/client.ts';
import { type Cli, CliError, type Clock, EXIT, messageOf } from './io.ts';

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
    const view = await api.get(id).catch((error: unknown) => {
      if (!isTransient(error)) throw error;
    });
    const now = JSON.stringify(view);
    if (view !== undefined && now !== printed) {
      print(view);
      printed = now;
      pauseMs = FIRST_PAUSE_MS;
    }
    if (view?.endedAt !== undefined) return view;
    await clock.sleep(pauseMs);
  }
}

/**
 * A call for a wait. A first one that nothing answers ends it at once, as any single command; once there was
 * an answer, a restart is outlasted, and said.
 */
export function patient(cli: Cli, api: Client): Client['get'] {
  let state: 'new' | 'there' | 'away' = 'new';
  return async (...asked) => {
    try {
      const view = await api.get(...asked);
      state = 'there';
      return view;
    } catch (error) {
      if (!isTransient(error)) throw error;
      if (state === 'new' && (error as ApiError).code === 'no-answer')
        throw new CliError('no-answer', messageOf(error), EXIT.noAnswer);
      if (state === 'there') cli.io.err(`No answer; the wait goes on: ${messageOf(error)}\n`);
      state = 'away';
      throw error;
    }
  };
}
