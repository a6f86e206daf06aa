/**
 * Measures the cost of a tag in a workflow's `tags`: the calls of the same five steps with and without it.
 *
 * Owns: the two runs, the limit. Does not own: the units (`meter.ts`).
 */

import { atMost, type Verdict } from './limits.ts';
import { run, warmUp } from './load.ts';
import { unitsOf } from './meter.ts';
import { PRICES, type Units } from './prices.ts';
import { setStage } from './stage.ts';

export interface TagPrice {
  /** Write units of an execution. */
  readonly writeUnits: number;
  /** Counts only what is billed per call. */
  readonly usdPerMillionExecutions: number;
  readonly limits: readonly Verdict[];
}

/** Billed per call; the rest is processor time, whose measurement depends on how quiet the machine is. */
const REQUESTS = ['writeUnits', 'readUnits', 'sqsRequests', 'lambdaRequests', 'events'] as const;

export async function tagPrice(executions: number): Promise<TagPrice> {
  const stage = await setStage({ batchSize: 1, processes: 1, schedules: false });
  const load = { kind: 'chain5', payloadBytes: 100, inFlight: 1 } as const;
  const unitsAs = async (as: string): Promise<Units> => {
    await run(stage, { ...load, as, executions: 3 });
    return unitsOf((await run(stage, { ...load, as, executions })).reading, 1);
  };
  try {
    await warmUp(stage, ['chain5'], 1);
    const plain = await unitsAs('chain5');
    const tagged = await unitsAs('tagged5');
    const more = (what: (typeof REQUESTS)[number]): number => (tagged[what] - plain[what]) / executions;
    const usd = REQUESTS.reduce((sum, what) => sum + more(what) * PRICES.usd[what], 0) * 1e6;
    return {
      writeUnits: more('writeUnits'),
      usdPerMillionExecutions: usd,
      limits: [atMost('a tag that a workflow names, requests alone', '$ per million executions', 0.65, usd)],
    };
  } finally {
    await stage.strike();
  }
}
