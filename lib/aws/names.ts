/**
 * The seam between the infrastructure and the run time: names that both must spell alike.
 *
 * Owns: environment variables, table attributes, index names, event names. Does not own: anything physical; AWS
 * chooses the names of tables and queues, and the environment carries them.
 */

/** Environment variables that `infra` sets and `handlers.ts` reads. */
export const ENV = {
  /** Name of the state table. */
  table: 'STEADFAST_TABLE',
  /** JSON object: agent name → queue URL. */
  queues: 'STEADFAST_QUEUES',
  /** Name of the event bus that hears of ended executions. */
  bus: 'STEADFAST_BUS',
  /** Number of shards of the watch index. */
  watchShards: 'STEADFAST_WATCH_SHARDS',
} as const;

export const TABLE = {
  pk: 'pk',
  sk: 'sk',
  /** Sparse, KEYS_ONLY: open executions by the time at which someone must look. */
  watchIndex: { name: 'watch', pk: 'watchShard', sk: 'watchAt' },
  /** Sparse, KEYS_ONLY: executions by workflow and start. */
  listIndex: { name: 'list', pk: 'listKey', sk: 'startedAt' },
  ttl: 'expiresAt',
} as const;

/** Shards of the watch index; more are needed past about 500 index writes a second each. */
export const DEFAULT_WATCH_SHARDS = 4;

/** The event on the bus when an execution has ended. */
export const ENDED_EVENT = { source: 'steadfast', detailType: 'Steadfast Execution Ended' } as const;
