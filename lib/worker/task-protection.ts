/**
 * Keeps ECS from ending this task while it performs attempts: at scale-in, and at a deployment.
 *
 * Owns: when the task is protected, for how long, and the request to the container agent. Does not own: an
 * attempt (`worker.ts`). Outside ECS there is no agent to ask, and nothing is done.
 *
 * A refused protection is only logged: the attempt is performed all the same. If ECS then ends the task, the
 * lease expires.
 * @see https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-scale-in-protection.html
 */

import { errorName } from '../core/values/errors.ts';

/** ECS protects for 48 hours at most. */
const LONGEST_MINUTES = 2_880;
/** Added to an attempt's limit, for its start and its report. */
const RESERVE_MS = 300_000;
/** Added to each protection, so that not every attempt needs a new request. */
const SHARED_MS = 1_800_000;
const ANSWER_WITHIN_MS = 5_000;

export interface TaskProtection {
  /** Call when an attempt begins. Resolves when the task is protected, or cannot be. Never rejects. */
  readonly begin: () => Promise<void>;
  /** Call when an attempt is over; after the last one the task may be ended. Never rejects. */
  readonly end: () => Promise<void>;
}

export interface ProtectionSettings {
  /** The container agent's address, `ECS_AGENT_URI`; absent outside of ECS. */
  readonly agentUri: string | undefined;
  /** The longest that an attempt may take. */
  readonly timeoutMs: number;
  readonly now: () => number;
  readonly log: (what: string, fields?: Readonly<Record<string, unknown>>) => void;
  /** @default fetch */
  readonly request?: typeof fetch;
}

export function taskProtection({
  agentUri,
  timeoutMs,
  now,
  log,
  request = fetch,
}: ProtectionSettings): TaskProtection {
  if (agentUri === undefined || agentUri === '')
    return { begin: async () => undefined, end: async () => undefined };
  const minutes = Math.min(LONGEST_MINUTES, Math.ceil((timeoutMs + RESERVE_MS + SHARED_MS) / 60_000));
  let attempts = 0;
  let protectedUntilAt = 0;
  // One after the other: a release that overtook the next protection would leave work unprotected.
  let last: Promise<void> = Promise.resolve();
  const put = async (isProtected: boolean): Promise<void> => {
    // Outdated: another attempt has begun or ended since.
    if (isProtected !== attempts > 0) return;
    if (isProtected && protectedUntilAt >= now() + timeoutMs + RESERVE_MS) return;
    protectedUntilAt = 0;
    const untilAt = now() + minutes * 60_000;
    try {
      const body = isProtected
        ? { ProtectionEnabled: true, ExpiresInMinutes: minutes }
        : { ProtectionEnabled: false };
      const answer = await request(`${agentUri}/task-protection/v1/state`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      const reason = reasonIn(await answer.text());
      if (!answer.ok || reason !== undefined)
        log('protection-refused', {
          wanted: isProtected,
          status: answer.status,
          reason: reason ?? 'unknown',
        });
      else if (isProtected) protectedUntilAt = untilAt;
    } catch (error) {
      log('protection-failed', { wanted: isProtected, error: errorName(error) });
    }
  };
  const next = (isProtected: boolean): Promise<void> => (last = last.then(() => put(isProtected)));
  return {
    begin: () => {
      attempts += 1;
      return next(true);
    },
    end: () => {
      attempts -= 1;
      return attempts === 0 ? next(false) : last;
    },
  };
}

/** The container agent's reason for refusing, which may come with status 200 too. */
function reasonIn(text: string): string | undefined {
  try {
    const { failure, error } = JSON.parse(text) as {
      readonly failure?: { readonly Reason?: string };
      readonly error?: { readonly Code?: string };
    };
    return failure?.Reason ?? error?.Code;
  } catch {
    return 'the answer is not JSON';
  }
}
