/**
 * Runs the checks in order, and collects the results.
 *
 * Owns: the phases, and isolating each check's errors. Does not own: the checks (`checks/`), the report
 * (`report.ts`).
 */

import { messageOf } from '../io.ts';
import { type Check, type Entry, isCheck, type Phase, PHASES } from './check.ts';
import type { Ports } from './ports.ts';

export interface Result {
  readonly entry: Entry;
  readonly outcome: 'held' | 'failed' | 'not run';
  /** The evidence, or why the check did not run. */
  readonly evidence: string;
  readonly tookMs: number;
}

export interface RunOptions {
  readonly say: (line: string) => void;
  /**
   * Awaited before and after each check. After an interrupt it never resolves, so that no check begins or is
   * judged.
   */
  readonly passed?: () => Promise<void>;
}

/**
 * How many checks of a phase run at once. Executions mostly wait, but a new account has only ten concurrent
 * executions.
 */
const SIDE_BY_SIDE: Partial<Readonly<Record<Phase, number>>> = { executions: 4, faults: 2 };

export async function run(
  entries: readonly Entry[],
  ports: Ports,
  { say, passed = async () => {} }: RunOptions,
): Promise<readonly Result[]> {
  const results = new Map<Entry, Result>();
  const due: Check[] = [];
  for (const entry of entries) {
    const why = isCheck(entry) ? reasonNot(entry, ports) : `by hand: ${entry.byHand}`;
    if (why !== undefined) results.set(entry, { entry, outcome: 'not run', evidence: why, tookMs: 0 });
    else if (isCheck(entry)) due.push(entry);
  }
  for (const phase of PHASES) {
    const own = due.filter((check) => check.phase === phase);
    if (own.length > 0) say(`${phase}: ${own.length} checks`);
    const next = own.values();
    const runRest = async (): Promise<void> => {
      for (const check of next) {
        await passed();
        const result = await resultOf(check, ports);
        // After an interrupt, a check that failed for lack of its deployment is not judged.
        await passed();
        results.set(check, result);
        say(lineOf(result));
      }
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE[phase] ?? 1 }, runRest));
  }
  return entries.flatMap((entry) => results.get(entry) ?? []);
}

export const lineOf = ({ entry, outcome, evidence }: Result): string =>
  `${outcome.padEnd(8)} ${entry.id}: ${evidence}`;

function reasonNot({ needs }: Check, { lacks }: Ports): string | undefined {
  return needs.map((need) => lacks[need]).find((why) => why !== undefined);
}

async function resultOf(check: Check, ports: Ports): Promise<Result> {
  const beganAt = ports.clock.now();
  const { ok, evidence } = await check
    .run(ports)
    .catch((error: unknown) => ({ ok: false, evidence: messageOf(error) }));
  const tookMs = ports.clock.now() - beganAt;
  return { entry: check, outcome: ok ? 'held' : 'failed', evidence, tookMs };
}
