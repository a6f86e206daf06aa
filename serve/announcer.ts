/**
 * The event bus of a single-process server: listeners in the process.
 *
 * Owns: the form of the events, which have the same fields as on AWS's bus (docs/EVENTS.md). Does not own:
 * when an event occurs (`lib/engine/commit.ts`). At least once: an event is announced again if a listener
 * rejects it, or if the process ended before it recorded the announcement.
 */

import { EVENTS } from '../lib/aws/names.ts';
import { copyOf, type JsonObject } from '../lib/core/values/json.ts';
import type { Announcer } from '../lib/core/ports.ts';

export interface ServerEvent {
  readonly source: string;
  readonly detailType: string;
  /** Epoch ms. */
  readonly at: number;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** A listener that rejects gets the event again. */
export type Listener = (event: ServerEvent) => Promise<void> | void;

export const listenersAsBus = (listeners: ReadonlySet<Listener>): Announcer => ({
  announce: async ({ about, ...news }) => {
    const { version, ...of } = EVENTS[about];
    const at = 'at' in news ? news.at : news.endedAt;
    // Each listener gets a copy, because it may change its event.
    for (const listener of listeners)
      await listener({ ...of, at, detail: { version, ...copyOf(news as object as JsonObject) } });
  },
});
