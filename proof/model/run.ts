/** Runs one configuration, with the real rules or without one of them. */

import type { ModelConfig } from './config.ts';
import { explore, type Explored } from './explore.ts';
import { FamilyMachine } from './family.ts';
import { Machine } from './machine.ts';
import { REAL_RULES, type Rules } from './rules.ts';

export interface RunResult extends Explored {
  readonly name: string;
  readonly seconds: number;
}

export const NO_BOUND = 16_000_000;

export function runConfig(
  config: ModelConfig,
  { rules = REAL_RULES, maxStates = NO_BOUND }: { rules?: Rules; maxStates?: number } = {},
): RunResult {
  const startedAt = Date.now();
  const limits = { maxStates, firstOnly: rules !== REAL_RULES };
  const { child } = config;
  const explored =
    child === undefined
      ? explore(new Machine(config, rules), limits)
      : explore(new FamilyMachine({ ...config, child }, rules), limits);
  return { name: config.name, ...explored, seconds: (Date.now() - startedAt) / 1_000 };
}
