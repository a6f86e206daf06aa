/**
 * The alternative to Steadfast here: one function behind a queue. It sends the same two requests, one after
 * the other, under the message's id.
 *
 * Owns: that work. Does not own: retries: the queue retries until the message expires, then moves it to its
 * dead-letter queue. Nothing is undone: a token that was never sent expires by itself.
 */

import * as z from 'zod/mini';
import { issue, mail } from './services.ts';
import type { Reset } from './workflow.ts';

const Records = z.object({ Records: z.array(z.object({ messageId: z.string(), body: z.string() })) });
const TIMEOUT_MS = 10_000;

/** A message whose work failed is delivered again; the others of its batch are not. */
export async function handler(event: unknown): Promise<{ batchItemFailures: { itemIdentifier: string }[] }> {
  const { Records: records } = z.parse(Records, event);
  const ends = await Promise.allSettled(records.map(({ messageId, body }) => reset(messageId, body)));
  const failed = records.filter((_, at) => ends[at]?.status === 'rejected');
  return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
}

async function reset(key: string, body: string): Promise<void> {
  const { account } = JSON.parse(body) as Reset;
  const ctx = { signal: AbortSignal.timeout(TIMEOUT_MS) };
  await mail(ctx, key, account, await issue(ctx, key, account));
}
