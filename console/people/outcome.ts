/** Sends an answer. If another person was faster, reports who that was and what they chose. */

import type { ExecutionView } from '../../lib/api/answers.ts';
import { callerText } from '../../lib/api/answers.ts';
import { ApiError } from '../../lib/api/client.ts';
import { api } from '../api.ts';
import { resolvedText } from './words.ts';

const TOO_LATE: ReadonlySet<string> = new Set(['already-resolved', 'already-closed']);

/** @throws ApiError with the answer of another person, if that came first */
export async function answering(
  executionId: string,
  send: () => Promise<unknown>,
  step?: string,
): Promise<void> {
  try {
    await send();
  } catch (error) {
    if (!(error instanceof ApiError) || !TOO_LATE.has(error.code)) throw error;
    const view = await api.get(executionId).catch(() => undefined);
    const first = view === undefined ? '' : firstIn(view, step);
    throw new ApiError(
      error.code,
      `somebody else answered first${first}. Your answer was not used (${error.message})`,
    );
  }
}

function firstIn(view: ExecutionView, name: string | undefined): string {
  const step = view.steps.find((one) => one.name === name);
  if (step !== undefined) {
    const who = step.by === undefined ? 'another person' : callerText(step.by);
    return `: ${who}; '${step.name}' is ${step.status}`;
  }
  const latest = view.incidents
    .filter(({ closedAt }) => closedAt !== undefined)
    .toSorted((one, other) => (other.closedAt ?? 0) - (one.closedAt ?? 0))[0];
  return latest === undefined ? '' : `: ${resolvedText(latest)}`;
}
