/**
 * The order in which checks run, and what came of each.
 *
 * Owns: phases, the budget, that one check's error is no other's. Does not own: what a check does
 * (`checks/`), what is printed (`report.ts`).
 *
 * V2 a check whose cost would pass the budget is not run, nor any later one that costs something.
 */

import { messageOf } from '../io.ts';
import { type Check, type Entry, type Finding, isCheck, OPTIONS, type Phase, PHASES } from './check.ts';
import type { Ports } from './ports.ts';

export interface Result {
  readonly entry: Entry;
  readonly outcome: 'held' | 'failed' | 'not run';
  /** What was seen, or why it was not run. */
  readonly evidence: string;
  readonly tookMs: number;
  readonly dollars: number;
}

export interface RunOptions {
  readonly phases: ReadonlySet<Phase>;
  /** In US dollars. */
  readonly budget: number;
  readonly say: (line: string) => void;
  /** Asked before and after each check: once a run is interrupted, no other begins, and none is judged. */
  readonly passed?: () => Promise<void>;
}

/** Executions take turns waiting: their checks run side by side, the others one after the other. */
const SIDE_BY_SIDE: Partial<Readonly<Record<Phase, number>>> = { smoke: 6, 'game-day': 4 };

export async function run(
  entries: readonly Entry[],
  ports: Ports,
  { phases, budget, say, passed = async () => {} }: RunOptions,
): Promise<readonly Result[]> {
  const results = new Map<Entry, Result>();
  const notRun = (entry: Entry, evidence: string): void => {
    results.set(entry, { entry, outcome: 'not run', evidence, tookMs: 0, dollars: 0 });
  };
  let spent = 0;
  let isUsedUp = false;
  for (const entry of entries) if (!isCheck(entry)) notRun(entry, `by hand: ${entry.byHand}`);
  const checks = entries.filter(isCheck);
  for (const phase of PHASES) {
    const all = checks.filter((check) => check.phase === phase);
    if (!phases.has(phase)) {
      for (const check of all) notRun(check, `only with ${OPTIONS[phase] ?? phase}`);
      continue;
    }
    const due = all.filter((check) => {
      isUsedUp ||= reasonNot(check, ports) === undefined && spent + check.dollars > budget;
      const over = isUsedUp && check.dollars > 0 ? `the budget of $${budget} is used up` : undefined;
      const why = reasonNot(check, ports) ?? over;
      if (why === undefined) spent += check.dollars;
      else notRun(check, why);
      return why === undefined;
    });
    if (due.length > 0) say(`${phase}: ${due.length} checks`);
    const next = due.values();
    const runRest = async (): Promise<void> => {
      for (const check of next) {
        await passed();
        const result = await resultOf(check, ports);
        // A check that lost its deployment to an interrupt has not failed.
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
  const ended = (outcome: Result['outcome'], evidence: string): Result => ({
    entry: check,
    outcome,
    evidence,
    tookMs: ports.clock.now() - beganAt,
    dollars: outcome === 'not run' ? 0 : check.dollars,
  });
  try {
    const { ok, evidence }: Finding = await check.run(ports);
    return ended(ok ? 'held' : 'failed', evidence);
  } catch (error) {
    // A port of another module realm may have thrown it: the name decides.
    const { name } = Object(error) as { name?: string };
    if (name === 'CannotAnswer') return ended('not run', messageOf(error));
    return ended('failed', messageOf(error));
  }
}
