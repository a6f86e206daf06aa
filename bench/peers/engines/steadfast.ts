/**
 * Our system on the local cloud, as in the other sections of the benchmark: with `batched`, an agent's
 * invocation takes up to ten messages; without it, one, which is the default.
 */

import { setStage } from '../../parts/stage.ts';
import { PAYLOAD, type Start } from '../contract.ts';

const COMMON = { processes: 2, schedules: false, capacity: false } as const;

export const start: Start = async (_, variant) => {
  const stage = await setStage(
    variant === 'batched' ? { ...COMMON, batchSize: 10, agentProcesses: 1 } : { ...COMMON, batchSize: 1 },
  );
  return {
    server: 'local cloud: dynoxide 1.2.1, queues, a process per function',
    durableBy:
      'DynamoDB of the local cloud: SQLite, fsync at each write; its queues: a journal without fsync',
    runOne: async () => {
      const askedAt = Date.now();
      return (await stage.ended(await stage.start('chain5', PAYLOAD))) - askedAt;
    },
    quiet: stage.quiet,
    stop: stage.strike,
  };
};
