/**
 * Starts executions for checks, and waits for their results.
 *
 * Owns: keys that are unique for each run, and the limits of all waits. Does not own: the expected results
 * (`checks/`).
 */

import type { ExecutionView } from '../../lib/api/answers.ts';
import { type Finding, finding } from './check.ts';
import type { Ports } from './ports.ts';

/** Starts an execution with a key of this run, so that a repeated call does not start another. */
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

/** Waits for the execution's end, for some minutes at most. @returns its state then */
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

/** Polls until there is a result. @returns undefined after two minutes without one */
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

/** How long to wait for an unwanted second delivery. */
const TWICE_WITHIN_MS = 10_000;
/** Polls again some time after the first result, to detect a second one. */
export async function again<Found>(
  ports: Ports,
  ask: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  if ((await until(ports, ask)) === undefined) return undefined;
  await ports.clock.sleep(TWICE_WITHIN_MS);
  return ask();
}
