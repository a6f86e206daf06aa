/**
 * Follows an execution and prints its changes, for `show --watch` and all commands that wait.
 *
 * Owns: how often it is read, printing each change once, and the text while the API does not answer. Does not
 * own: the layout (`print.ts`).
 */

import type { ExecutionView } from '../lib/api/answers.ts';
import { type ApiError, type Client, isTransient } from '../lib/api/client.ts';
import { type Cli, CliError, type Clock, EXIT, messageOf } from './io.ts';

/** The first interval. Later ones are longer while nothing changes, because each read costs money. */
export const FIRST_PAUSE_MS = 1_000;
export const LAST_PAUSE_MS = 10_000;
const SLOWER = 1.5;

interface Printing {
  readonly api: Pick<Client, 'get'>;
  readonly id: string;
  readonly print: (view: ExecutionView) => void;
  readonly clock: Clock;
}

/** @returns the final status; every execution ends, because a workflow has a time limit */
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
 * A `get` for commands that wait. The first call fails if there is no answer; later ones wait, with a
 * message, while the server restarts.
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
