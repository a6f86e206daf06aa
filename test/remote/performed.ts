/** Makes a call of a remote agent. Returns its report, and what its context received. */

import * as z from 'zod/mini';
import { agent, remoteAgent, type RemoteTarget } from '../../lib/index.ts';
import { perform } from '../../lib/agent/author-code.ts';
import type { AgentOptions, AttemptContext } from '../../lib/core/plan/agent.ts';
import type { Report } from '../../lib/core/decisions/events.ts';

export type CallKind = 'execute' | 'probe' | 'undo';

export const TIME_LEFT_MS = 20_000;

export const declared = (options: Partial<AgentOptions<unknown, unknown>> = {}) =>
  agent('book-parcel', {
    input: z.object({ size: z.string() }),
    output: z.object({ code: z.string() }),
    effect: 'probed',
    ...options,
  } as never) as never;

export interface Performing {
  readonly call?: CallKind;
  readonly signal?: AbortSignal;
  readonly progress?: (token: string | number) => void;
  readonly output?: unknown;
  readonly acceptedWithin?: string;
  readonly accepted?: AttemptContext['accepted'];
}

/** One call of a remote agent at this target. */
export async function performed(
  target: RemoteTarget,
  {
    call = 'execute',
    signal = new AbortController().signal,
    progress = () => undefined,
    output,
    acceptedWithin,
    accepted,
  }: Performing = {},
): Promise<Report> {
  const { worker } = remoteAgent(
    declared({ runsIn: 'container', ...(acceptedWithin === undefined ? {} : { acceptedWithin }) }),
    target,
  );
  const quiet = (): void => undefined;
  return await perform(worker, {
    mode: call,
    ctx: {
      executionId: 'e',
      step: 'book',
      attempt: 2,
      idempotencyKey: 'e.book.abc',
      timeLeftMs: () => TIME_LEFT_MS + 0.5,
      signal,
      progress,
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      ...(accepted === undefined ? {} : { accepted }),
    },
    input: { size: 'S' },
    output: output as never,
  });
}
