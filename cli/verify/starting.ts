/**
 * How checks start executions, and wait for the results.
 *
 * Owns: that each run has keys of its own, and that every wait ends. Does not own: the expected results
 * (`checks/`).
 */

import type { ExecutionView } from '../../lib/api/answers.ts';
import { type Finding, finding } from './check.ts';
import type { Ports } from './ports.ts';

/** Starts an execution under a key of this run, so that a repeated call starts nothing twice. */
export async function begin(
  { api, begun, runId }: Ports,
  workflow: string,
  input: unknown,
  key: string,
): Promise<string> {
  const started = await api.start(workflow, {
    input: input as never,
    idempotencyKey: `${runId}-${key}`,
  });
  begun.set(started.executionId, workflow);
  return started.executionId;
}

export async function ended(
  ports: Ports,
  ...begun: readonly [workflow: string, input: unknown, key: string]
): Promise<ExecutionView> {
  return endOf(ports, await begin(ports, ...begun));
}

export const expects = (view: ExecutionView, status: string, more: readonly string[] = []): Finding =>
  finding(
    [...(view.status === status ? [] : [`${view.executionId} is ${view.status}, not ${status}`]), ...more],
    `${view.executionId} ${view.status}`,
  );

export const is = (what: string, seen: unknown, wanted: unknown): string[] =>
  seen === wanted ? [] : [`${what}: ${String(seen)}, not ${String(wanted)}`];

/** The execution at its end, or as it is after some minutes, because a check must not wait for ever. */
export async function endOf(ports: Ports, id: string): Promise<ExecutionView> {
  const viewAtEnd = async (): Promise<ExecutionView | undefined> => {
    const view = await ports.api.get(id, { wait: `${ANSWER_WITHIN_MS}ms` });
    return view.endedAt === undefined ? undefined : view;
  };
  return (await until(ports, viewAtEnd, END_WITHIN_MS)) ?? ports.api.get(id);
}
const END_WITHIN_MS = 5 * 60_000;
const ANSWER_WITHIN_MS = 20_000;

const PATIENCE_MS = 120_000;
const POLL_EVERY_MS = 1_000;

/** Asks until there is an answer. @returns undefined after two minutes without one */
export async function until<Found>(
  { clock }: Ports,
  ask: () => Promise<Found | undefined>,
  patienceMs: number = PATIENCE_MS,
): Promise<Found | undefined> {
  const lastAt = clock.now() + patienceMs;
  for (;;) {
    const found = await ask();
    if (found !== undefined || clock.now() >= lastAt) return found;
    await clock.sleep(POLL_EVERY_MS);
  }
}

/** The time within which a second delivery would come. */
const TWICE_WITHIN_MS = 10_000;
/** Asks again some time after the first answer, because what must happen once may happen again. */
export async function again<Found>(
  ports: Ports,
  ask: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  if ((await until(ports, ask)) === undefined) return undefined;
  await ports.clock.sleep(TWICE_WITHIN_MS);
  return ask();
}
