/**
 * How checks start executions of their own, and wait for what follows.
 *
 * Owns: that each run has keys of its own, and that no wait is without an end. Does not own: what must come
 * of it (`checks/`).
 */

import type { ExecutionView } from '../../lib/api/answers.ts';
import { type Finding, finding } from './check.ts';
import type { Ports } from './ports.ts';

/** Begun with a key of this run, so that a repeated call starts nothing twice. */
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

/** The execution as it has ended, or as it is after some minutes: a check must not wait for ever. */
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

/** Asks again until there is an answer. @returns nothing after two minutes without one */
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

/** A second delivery comes within seconds. */
const TWICE_WITHIN_MS = 10_000;
/** The answer a while after the first one: what must happen once may happen again. */
export async function again<Found>(
  ports: Ports,
  ask: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  if ((await until(ports, ask)) === undefined) return undefined;
  await ports.clock.sleep(TWICE_WITHIN_MS);
  return ask();
}
