/**
 * The seam between the infrastructure and the run time: names that both must spell alike.
 *
 * Owns: environment variables, table attributes, index names, event names, metric names. Does not own:
 * anything physical; the environment carries the names of tables and queues.
 */

/** A template says under it, of the scheduler's function, which workflow has which lane. */
export const LANES_KEY = 'steadfast:lanes';

/** Environment variables that `infra` sets; `ports.ts`, the handlers and the worker read them. */
export const ENV = {
  /** Name of the state table. */
  table: 'STEADFAST_TABLE',
  /** Name of the bucket of large values. Absent: there is none, and values are as large as records. */
  values: 'STEADFAST_VALUES',
  /** What the addresses of all agents' queues begin with; an agent's name makes it that agent's. */
  queues: 'STEADFAST_QUEUES',
  /** Names of the agents that this function may send to, with commas between them. */
  agents: 'STEADFAST_AGENTS',
  /** Name of the event bus that hears of ended executions. */
  bus: 'STEADFAST_BUS',
  /** Name of the event bus on which a supervisor is called. */
  wakeBus: 'STEADFAST_WAKE_BUS',
  /** Some workflow says whose its executions are: messages of all others are one group. */
  fair: 'STEADFAST_FAIR',
  /** A host's, as JSON: what its agents do not share (`HostSettings`). Absent: it is one agent's function. */
  hosted: 'STEADFAST_HOSTED',
  /** An agent's: how many attempts may begin, such as `50/s`. Absent: as many as come. */
  rate: 'STEADFAST_RATE',
  /** Between two sweeps of a supervisor, in ms. */
  sweepEveryMs: 'STEADFAST_SWEEP_EVERY_MS',
  /** Number of shards of the wake index. */
  wakeShards: 'STEADFAST_WAKE_SHARDS',
  /** How long an ended execution is kept, in ms; absent: for ever. */
  retentionMs: 'STEADFAST_RETENTION_MS',
  /** The audit's shortest time from the beginning of a pass to the next, in ms. */
  auditEveryMs: 'STEADFAST_AUDIT_EVERY_MS',
  /** Pages of the table that one run of the audit reads at most, 1 MB each. */
  auditPages: 'STEADFAST_AUDIT_PAGES',
  /** The dimension that tells this deployment's metrics from another's. */
  deployment: 'STEADFAST_DEPLOYMENT',
  /**
   * Whether workflows or agents have metrics one by one, with commas between them: `workflow`, `agent`.
   * Absent: neither.
   */
  metricsBy: 'STEADFAST_METRICS_BY',
  /** Attempts that a worker performs at the same time. */
  workerConcurrency: 'STEADFAST_WORKER_CONCURRENCY',
  /** How long a worker that is asked to stop lets attempts go on, in ms. */
  stopWithinMs: 'STEADFAST_STOP_WITHIN_MS',
  /** How calls reach AWS: one of `TRANSPORTS`. */
  transport: 'STEADFAST_TRANSPORT',
  /** The API's: names of the IAM roles whose sessions are named after persons, with spaces between them. */
  personalRoles: 'STEADFAST_PERSONAL_ROLES',
  /** The API's, set: who calls its function writes the event, so no caller in it is believed. */
  direct: 'STEADFAST_DIRECT',
  /** Set: the API refuses what writes. */
  atRest: 'STEADFAST_AT_REST',
  /**
   * The API's: how many callers may wait for an end at the same time. Absent: as many as
   * beside all else on a new account.
   */
  openWaits: 'STEADFAST_OPEN_WAITS',
  /** A relay's: ARN of the Lambda function that does the agent's work. */
  remoteFunction: 'STEADFAST_REMOTE_FUNCTION',
  /** On this machine alone: when the code that runs began to, in epoch ms. */
  startedAt: 'STEADFAST_STARTED_AT',
  /** A trigger's: URL of the queue for messages that start nothing. */
  deadLetters: 'STEADFAST_DEAD_LETTERS',
} as const;

/** What agents of one function do not share, and synthesis says in its environment. */
export interface HostSettings {
  /** The agents to which the function hands messages itself. */
  readonly carries: readonly string[];
  /** For how long, in ms. @default as `kept-message.ts` */
  readonly longestMs?: number;
  /** By agent, such as '50/s'. */
  readonly rates: Readonly<Record<string, string>>;
}

/** Without the AWS SDK's middleware, at a third of its processor time; or with it. */
export const TRANSPORTS = ['direct', 'sdk'] as const;
export type Transport = (typeof TRANSPORTS)[number];
export const DEFAULT_TRANSPORT: Transport = 'direct';

/**
 * Beside a trigger's code: what it starts, with which input. An environment would be
 * too small for a large mapping.
 */
export const TRIGGER_FILE = 'trigger.json';
/** Beside the scheduler's code: what `GET /openapi.json` answers. A cold start does not read it. */
export const OPENAPI_FILE = 'openapi.json';
/** Likewise: by workflow, the forms that `GET /workflows/{name}` answers with it. */
export const FORMS_FILE = 'forms.json';

/**
 * In a cloud assembly: a folder for each deployment, by its name, with what its
 * functions and images are made of.
 */
export const BUNDLES = 'bundles';

export const TABLE = {
  pk: 'pk',
  sk: 'sk',
  /** Sparse: open executions by their wake time. */
  wakeIndex: { name: 'wake', pk: 'wakeShard', sk: 'wakeAt' },
  /** Sparse: executions by workflow and start; open questions by their deadline. */
  listIndex: { name: 'list', pk: 'listKey', sk: 'startedAt' },
  /** Sparse: executions that ended other than well, by status and end. */
  endedIndex: { name: 'ended', pk: 'endedKey', sk: 'endedAt' },
  /** Sparse: the same, and open incidents, by the code of their failure and the time. */
  codeIndex: { name: 'code', pk: 'codeKey', sk: 'codeAt' },
  ttl: 'expiresAt',
} as const;

export interface TableIndex {
  readonly name: string;
  readonly pk: string;
  readonly sk: string;
  /**
   * What it has beside the keys. DynamoDB writes an index again when any of it changes: for an execution that
   * ends well none does but where the key moves anyway.
   */
  readonly projected: readonly string[];
}

/** Sparse: executions by a tag that their workflow names in `search`, and start. */
export const TAG_INDEXES: readonly TableIndex[] = ['tag1', 'tag2', 'tag3'].map((name) => ({
  name,
  pk: name,
  sk: 'startedAt',
  projected: [],
}));

export const INDEXES: readonly TableIndex[] = [
  {
    ...TABLE.wakeIndex,
    projected: ['openStatus', 'workflow', 'startedAt', 'plan', 'riskAt', 'riskSince', 'isPart', 'fairGroup'],
  },
  { ...TABLE.listIndex, projected: ['kind', 'openedAt'] },
  { ...TABLE.endedIndex, projected: ['workflow', 'startedAt', 'plan', TABLE.codeIndex.pk] },
  { ...TABLE.codeIndex, projected: [] },
  ...TAG_INDEXES,
];

/**
 * Sparse, and written by nobody yet: CloudFormation makes one index in an update, so a release that needs
 * another way to find things takes one of these. An empty index costs nothing.
 */
export const SPARE_INDEXES: readonly TableIndex[] = ['spare1', 'spare2'].map((name) => ({
  name,
  pk: name,
  sk: `${name}At`,
  projected: ['kind', 'workflow', 'startedAt', 'plan'],
}));

/** What commands find the API and the log groups by; the log of the API's accesses has no tag. */
export const TAGS = {
  stack: 'steadfast:stack',
  part: 'steadfast:part',
  /** The agent that causes the costs, if it is one alone. */
  agent: 'steadfast:agent',
  /** The API's with a domain of its own: its address. */
  url: 'steadfast:url',
} as const;

/** How long an ended execution is kept at least: its idempotency key is remembered for so long. */
export const MIN_RETENTION_HOURS = 24;

/** Shards of the wake index; more are needed past about 500 index writes a second each. */
export const DEFAULT_WAKE_SHARDS = 4;

/** Between two sweeps of a supervisor that has found something due. */
export const DEFAULT_SWEEP_EVERY_MS = 2_000;

/** Supervisors that a tick starts. */
export const DEFAULT_SUPERVISORS = 2;

/**
 * The events on the bus, by what they are about. The version of the detail is raised when a field changes its
 * meaning or goes, not when one is added.
 */
export const EVENTS = {
  end: { source: 'steadfast', detailType: 'Steadfast Execution Ended', version: '1' },
  question: { source: 'steadfast', detailType: 'Steadfast Question', version: '1' },
  breaker: { source: 'steadfast', detailType: 'Steadfast Breaker', version: '1' },
  missing: { source: 'steadfast', detailType: 'Steadfast Agent Missing', version: '1' },
  risk: { source: 'steadfast', detailType: 'Steadfast Execution At Risk', version: '1' },
} as const;

/** The event that calls a supervisor, on a bus of its own. */
export const WAKE_EVENT = { source: 'steadfast', detailType: 'Steadfast Supervisor Called' } as const;

/**
 * Every metric has this one dimension, whose value is the deployment; `service` is what Powertools calls it.
 */
export const METRICS_NAMESPACE = 'Steadfast';
export const METRICS_DIMENSION = 'service';

/**
 * The metrics' names in CloudWatch, each with its unit: what the roles emit and
 * what dashboard and alarms read.
 */
export const METRICS = {
  /** Executions by what became of them. */
  Started: 'Count',
  Succeeded: 'Count',
  Failed: 'Count',
  Compensated: 'Count',
  Canceled: 'Count',
  /** Canaries that succeeded. */
  CanaryEnded: 'Count',
  /** Claims: to perform a step, of these not the first, to ask for an outcome, to undo. */
  Attempts: 'Count',
  Retries: 'Count',
  Probes: 'Count',
  Undos: 'Count',
  /** Attempts whose message was in no queue, because their process had the step before. */
  CarriedOn: 'Count',
  /** Attempts whose outcome was unknown; successes that came after that and counted. */
  Unknowns: 'Count',
  Adoptions: 'Count',
  StepsDone: 'Count',
  StepsFailed: 'Count',
  /** Messages sent; of these the supervisor's own, for steps that were not claimed. */
  Messages: 'Count',
  Dispatches: 'Count',
  /** From when a piece of work was due until it was claimed. */
  TimeToClaim: 'Milliseconds',
  LeasesLost: 'Count',
  /** From the end of a lost lease until the supervisor saw it. */
  TimeToDetect: 'Milliseconds',
  /** From the first try of a step that was not done until it was. */
  TimeToRecover: 'Milliseconds',
  /** Breakers by what became of them; pieces of work deferred instead of sent. */
  BreakersOpened: 'Count',
  BreakersClosed: 'Count',
  Deferred: 'Count',
  /** By sweep: agents that are not deployed and that executions under way need. */
  AgentsMissing: 'Count',
  /** Executions that may not end well or in time without help, each time that one gets there. */
  AtRisk: 'Count',
  IncidentsOpened: 'Count',
  IncidentsClosed: 'Count',
  /** How many are open right now, counted once a tick: incidents, approvals and callbacks, breakers. */
  OpenIncidents: 'Count',
  OpenEntries: 'Count',
  OpenBreakers: 'Count',
  /** The supervisor's sweeps: how many, how late the latest item was, how many could not be evaluated. */
  Sweeps: 'Count',
  OldestOverdue: 'Milliseconds',
  EvaluationsFailed: 'Count',
  /** Processes whose clock was further from the store's than is allowed, each once a quarter of an hour. */
  ClocksSkewed: 'Count',
  /** The audit's runs, and the records that it could not read or put in order. */
  Audits: 'Count',
  RecordsUnaudited: 'Count',
  /**
   * What the audit put in order: open executions that no sweep would have found,
   * records that were left behind.
   */
  WakeTimesHealed: 'Count',
  LeftoversRemoved: 'Count',
  /** How long ago the audit's last pass through the whole table ended. */
  AuditAge: 'Milliseconds',
} as const;
export type MetricName = keyof typeof METRICS;

/**
 * Metrics that a deployment may have by workflow and by agent as well (`metricsBy`), under the same names,
 * with one more dimension. A name that is only here is of no use for all together.
 */
export const DETAILED_METRICS = {
  workflow: {
    Started: 'Count',
    Succeeded: 'Count',
    Failed: 'Count',
    Compensated: 'Count',
    Canceled: 'Count',
    Retries: 'Count',
    /** From the start of an execution to its end. */
    Duration: 'Milliseconds',
    TimeToDetect: 'Milliseconds',
    TimeToRecover: 'Milliseconds',
  },
  agent: {
    Attempts: 'Count',
    Retries: 'Count',
    StepsDone: 'Count',
    StepsFailed: 'Count',
    TimeToClaim: 'Milliseconds',
    TimeToDetect: 'Milliseconds',
    TimeToRecover: 'Milliseconds',
  },
} as const;
export type DetailBy = keyof typeof DETAILED_METRICS;

/** Metrics of which each value is the whole truth of its moment: they are never added up. */
export const GAUGES: ReadonlySet<MetricName> = new Set([
  'OldestOverdue',
  'OpenIncidents',
  'OpenEntries',
  'OpenBreakers',
  'AuditAge',
]);
