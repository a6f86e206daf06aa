/**
 * What checks that break something share: a fault for as long as it is needed, and the parts that have one.
 *
 * Owns: that two checks never break one part at a time. Does not own: that a fault ends by itself (the
 * port), what is checked (`checks/`).
 */

import type { Check } from './check.ts';
import type { Fault, MappingFacts, Ports } from './ports.ts';

type Rest = Pick<Check, 'id' | 'row' | 'expected'> & Partial<Pick<Check, 'needs' | 'area' | 'stops'>>;
export const game = (rest: Rest, run: Check['run']): Check => ({
  phase: 'game-day',
  area: 'Supervision',
  needs: ['probes'],
  dollars: 0.01,
  ...rest,
  run,
});

/** By the ports of a run, and by what is broken: when it is whole again. */
const broken = new WeakMap<Ports, Map<string, Promise<unknown>>>();

/**
 * Makes a fault, does what it is for, and ends it; where this process dies, the fault ends by itself. Two
 * checks that break the same part take turns: the second would write down the state that the first has made.
 */
export async function during<Result>(
  ports: Ports,
  fault: Fault,
  act: () => Promise<Result>,
): Promise<Result> {
  const parts = broken.get(ports) ?? new Map<string, Promise<unknown>>();
  broken.set(ports, parts);
  const key = `${fault.kind} ${fault.id}`;
  const before = parts.get(key) ?? Promise.resolve();
  const turn = before.catch(() => undefined).then(() => broke(ports, fault, act));
  parts.set(key, turn);
  return turn;
}

async function broke<Result>(ports: Ports, fault: Fault, act: () => Promise<Result>): Promise<Result> {
  await ports.faults.make(fault);
  try {
    return await act();
  } finally {
    await ports.faults.end(fault);
  }
}

/** The rule that starts supervisors. */
export const tickOf = async ({ settings }: Ports): Promise<string | undefined> =>
  (await settings()).rules.find(({ expression }) => expression === 'rate(1 minute)')?.id;

/** The mapping by which an agent gets its messages. */
export const mappingOf = async ({ settings }: Ports, agent: string): Promise<MappingFacts | undefined> =>
  (await settings()).mappings.find(({ queue }) => queue.endsWith(`_${agent}`));
