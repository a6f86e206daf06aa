/**
 * The event bus of a process that is alone: listeners in it.
 *
 * Owns: the events as listeners get them, with the fields of those on AWS's bus (docs/EVENTS.md). Does not
 * own: when there is one (`lib/engine/commit.ts`). At least once: what a listener refuses, or a process that
 * ends has not written as announced, is announced again.
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

/** One that rejects hears of the event again. */
export type Listener = (event: ServerEvent) => Promise<void> | void;

export const listenersAsBus = (listeners: ReadonlySet<Listener>): Announcer => ({
  announce: async ({ about, ...news }) => {
    const { version, ...of } = EVENTS[about];
    const at = 'at' in news ? news.at : news.endedAt;
    // A listener may do with its event as it likes.
    for (const listener of listeners)
      await listener({ ...of, at, detail: { version, ...copyOf(news as object as JsonObject) } });
  },
});
