/**
 * Finds workflows in a process of its own, for `workflows.ts`. Arguments:
 * `DiscoverProps` as JSON; prints `Discovered`.
 */

import { discoverWorkflows } from './discover.ts';
import { type DiscoverProps } from './discovery.ts';
import { DiscoveryError } from './discovery.ts';
import type { Discovered } from './workflows.ts';

const print = (answer: Discovered): boolean => process.stdout.write(`\n${JSON.stringify(answer)}\n`);

try {
  print({ found: await discoverWorkflows(JSON.parse(process.argv[2] ?? '') as DiscoverProps) });
} catch (error) {
  if (!(error instanceof DiscoveryError)) throw error;
  print({ problem: error.message });
}
