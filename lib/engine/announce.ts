/**
 * Announces news that no record remembers: once, and not again if the bus does not take it.
 *
 * Owns: that this delays no other work. Does not own: which news there is (`core/decisions/news.ts`), news
 * that is announced at least once (`commit.ts`).
 */

import type { Ports } from '../core/ports.ts';
import type { NoteOrigin } from '../core/decisions/decision.ts';
import type { PassingNews } from '../core/decisions/news.ts';
import type { Execution } from '../core/records/state.ts';
import { errorName } from '../core/values/errors.ts';

/** Announces news once. Never rejects. */
export async function announceOnce(
  { announcer, log }: Pick<Ports, 'announcer' | 'log'>,
  news: PassingNews,
): Promise<void> {
  try {
    await announcer.announce(news);
  } catch (error) {
    const detail = errorName(error);
    const about = 'agent' in news ? { agent: news.agent } : { executionId: news.executionId };
    log.note({ what: 'not-announced', ...about, detail });
  }
}

/** The origin of a note, for a meter that counts by workflow. */
export const originOf = (workflow: string, written: Execution | undefined): NoteOrigin =>
  written?.endedAt === undefined ? { workflow } : { workflow, lastedMs: written.endedAt - written.startedAt };
