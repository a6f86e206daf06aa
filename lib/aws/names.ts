/**
 * Names that the infrastructure and the run time must spell alike.
 *
 * Owns: environment variables, table attributes, index names, event names, metric names. Does not own: the
 * names of tables and queues, which are in the environment.
 */

/** The metadata of the scheduler's function under which a template lists each workflow's lanes. */
export const LANES_KEY = 'steadfast:lanes';

/** Environment variables that `infra` sets; `ports.ts`, the handlers and the worker read them. */
export const ENV = {
  /** Name of the state table. */
  table: 'STEADFAST_TABLE',
  /**
   * Name of the bucket of large values. Absent: there is none, and values are at most as large as records.
   */
  values: 'STEADFAST_VALUES',
  /** The common start of the addresses of all agents' queues; an agent's name completes it. */
  queues: 'STEADFAST_QUEUES',
  /** Names of the agents that this function may send to, with commas between them. */
  agents: 'STEADFAST_AGENTS',
  /** Name of the event bus to which ended executions are announced. */
  bus: 'STEADFAST_BUS',
  /** Name of the event bus on which a supervisor is called. */
  wakeBus: 'STEADFAST_WAKE_BUS',
  /** Set: some workflow names a group for its executions; the messages of all others are one group. */
  fair: 'STEADFAST_FAIR',
  /** The settings that the agents of a host do not share (`HostSettings`), as JSON. Absent: one agent. */
  hosted: 'STEADFAST_HOSTED',
  /** An agent's rate: how many attempts may begin, such as `50/s`. Absent: as many as come. */
  rate: 'STEADFAST_RATE',
  /** The time between two sweeps of a supervisor, in ms. */
  sweepEveryMs: 'STEADFAST_SWEEP_EVERY_MS',
  /** Number of shards of the wake index. */
  wakeShards: 'STEADFAST_WAKE_SHARDS',
  /** How long an ended execution is kept, in ms; absent: for ever. */
  retentionMs: 'STEADFAST_RETENTION_MS',
  /** The audit's shortest time from the beginning of a pass to the next, in ms. */
  auditEveryMs: 'STEADFAST_AUDIT_EVERY_MS',
  /** The most pages of the table that one run of the audit reads, 1 MB each. */
  auditPages: 'STEADFAST_AUDIT_PAGES',
  /** The dimension that tells this deployment's metrics from another's. */
  deployment: 'STEADFAST_DEPLOYMENT',
  /** The kinds with metrics of their own: `workflow`, `agent`, with a comma between them. Absent: neither. */
  metricsBy: 'STEADFAST_METRICS_BY',
  /** How many attempts a worker performs at the same time. */
  workerConcurrency: 'STEADFAST_WORKER_CONCURRENCY',
  /** How long a worker that is asked to stop lets its attempts continue, in ms. */
  stopWithinMs: 'STEADFAST_STOP_WITHIN_MS',
  /** How calls reach AWS: one of `TRANSPORTS`. */
  transport: 'STEADFAST_TRANSPORT',
  /** The API's IAM roles whose sessions are named after persons: their names, with spaces between them. */
  personalRoles: 'STEADFAST_PERSONAL_ROLES',
  /** Set for an API whose callers invoke its function, and write the event: no caller in it is believed. */
  direct: 'STEADFAST_DIRECT',
  /** Set: the API refuses all writes. */
  atRest: 'STEADFAST_AT_REST',
  /**
   * How many callers of the API may wait for an end at the same time. Absent: as many as a new account allows
   * besides all else.
   */
  openWaits: 'STEADFAST_OPEN_WAITS',
  /** A relay's target: ARN of the Lambda function that does the agent's work. */
  remoteFunction: 'STEADFAST_REMOTE_FUNCTION',
  /** For the supervisors: a hash of all code of the deployment. */
  release: 'STEADFAST_RELEASE',
  /** A trigger's queue for messages that start nothing: its URL. */
  deadLetters: 'STEADFAST_DEAD_LETTERS',
  /** The queues of webhooks, for the function that takes requests: `name=url`, with spaces between. */
  webhookQueues: 'STEADFAST_WEBHOOK_QUEUES',
  /** The settings of the function that sends notifications. Set: starts may give an address for them. */
  notifications: 'STEADFAST_NOTIFICATIONS',
  /** The queue of notifications, for the function that sends them: its URL. */
  notificationQueue: 'STEADFAST_NOTIFICATION_QUEUE',
} as const;

/** Settings that the agents of one function do not share; synthesis writes them into its environment. */
export interface HostSettings {
  /** The agents to which the function hands messages itself, without a queue. */
  readonly carries: readonly string[];
  /** For how long it hands messages on itself, in ms. @default the limit in `kept-message.ts` */
  readonly longestMs?: number;
  /** Rates by agent, such as '50/s'. */
  readonly rates: Readonly<Record<string, string>>;
}

/** 'direct': without the AWS SDK's middleware, at a third of its processor time; 'sdk': with it. */
export const TRANSPORTS = ['direct', 'sdk'] as const;
export type Transport = (typeof TRANSPORTS)[number];
export const DEFAULT_TRANSPORT: Transport = 'direct';

/**
 * A file beside a trigger's code, with the workflow that it starts and the input; beside the webhooks' code:
 * how senders sign. A large mapping would not fit into the environment.
 */
export const TRIGGER_FILE = 'trigger.json';
/** A file beside the scheduler's code: the answer to `GET /openapi.json`. A cold start does not read it. */
export const OPENAPI_FILE = 'openapi.json';
/** Another one: by workflow, the forms that `GET /workflows/{name}` includes. */
export const FORMS_FILE = 'forms.json';

/** The folder in a cloud assembly with the sources of the functions and images, by deployment. */
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
  /** Sparse: bad ends and open incidents, by the code of their failure and the time. */
  codeIndex: { name: 'code', pk: 'codeKey', sk: 'codeAt' },
  ttl: 'expiresAt',
} as const;

export interface TableIndex {
  readonly name: string;
  readonly pk: string;
  readonly sk: string;
  /**
   * The attributes besides the keys. DynamoDB writes an index again when any of them changes. For an
   * execution that ends well they change only together with the key.
   */
  readonly projected: readonly string[];
}

/** Sparse: executions by a tag that their workflow lists, and start. */
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
 * Sparse and unused: CloudFormation adds only one index per update, so a release that needs a new index takes
 * one of these. An empty index costs nothing.
 */
export const SPARE_INDEXES: readonly TableIndex[] = ['spare1', 'spare2'].map((name) => ({
  name,
  pk: name,
  sk: `${name}At`,
  projected: ['kind', 'workflow', 'startedAt', 'plan'],
}));

/** Tags by which commands find the API and the log groups; the log of the API's accesses has no tag. */
export const TAGS = {
  stack: 'steadfast:stack',
  part: 'steadfast:part',
  /** The agent that causes the costs, if only one does. */
  agent: 'steadfast:agent',
  /** The address of an API with its own domain. */
  url: 'steadfast:url',
} as const;

/** The shortest time that an ended execution is kept, and with it its idempotency key. */
export const MIN_RETENTION_HOURS = 24;

/** Shards of the wake index; more are needed past about 500 index writes a second each. */
export const DEFAULT_WAKE_SHARDS = 4;

/** The time between two sweeps of a supervisor that has found due work. */
export const DEFAULT_SWEEP_EVERY_MS = 2_000;

/** How many supervisors a tick starts. */
export const DEFAULT_SUPERVISORS = 2;

/**
 * The events on the bus, by subject. The version of the detail is raised when a field is removed or changes
 * its meaning, not when one is added.
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

/** The one dimension of every metric, whose value is the deployment; Powertools calls it `service`. */
export const METRICS_NAMESPACE = 'Steadfast';
export const METRICS_DIMENSION = 'service';

/** The metrics' names and units in CloudWatch, for the roles that emit them, the dashboard and the alarms. */
export const METRICS = {
  /** Executions by outcome. */
  Started: 'Count',
  Succeeded: 'Count',
  Failed: 'Count',
  Compensated: 'Count',
  Canceled: 'Count',
  /** Canaries that succeeded. */
  CanaryEnded: 'Count',
  /** Claims: attempts of a step, retries among them, probes, undos. */
  Attempts: 'Count',
  Retries: 'Count',
  Probes: 'Count',
  Undos: 'Count',
  /** Attempts without a message: their process had just done the step before. */
  CarriedOn: 'Count',
  /** Attempts whose outcome was unknown; later successes that still counted. */
  Unknowns: 'Count',
  Adoptions: 'Count',
  StepsDone: 'Count',
  StepsFailed: 'Count',
  /** Messages that the supervisor sent because a step was not claimed. SQS itself counts all of them. */
  Dispatches: 'Count',
  /** The time from when a piece of work was due until it was claimed. */
  TimeToClaim: 'Milliseconds',
  LeasesLost: 'Count',
  /** The time from the end of a lost lease until the supervisor saw it. */
  TimeToDetect: 'Milliseconds',
  /** The time from the first failed try of a step until the step was done. */
  TimeToRecover: 'Milliseconds',
  /** Breakers that opened and closed; pieces of work deferred instead of sent. */
  BreakersOpened: 'Count',
  BreakersClosed: 'Count',
  Deferred: 'Count',
  /** Per sweep: agents that executions under way need and that are not deployed. */
  AgentsMissing: 'Count',
  /** Executions that may not end well or in time without help, counted when they become so. */
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
  /** Processes whose clock was further from the store's than allowed, each once a quarter of an hour. */
  ClocksSkewed: 'Count',
  /** Records that the audit could not read or repair. */
  RecordsUnaudited: 'Count',
  /** Repairs by the audit: open executions that no sweep would have found, records that were left behind. */
  WakeTimesHealed: 'Count',
  LeftoversRemoved: 'Count',
  /** The time since the audit's last pass through the whole table ended; each run writes one value. */
  AuditAge: 'Milliseconds',
} as const;
export type MetricName = keyof typeof METRICS;

/**
 * Metrics that a deployment may also have by workflow and by agent (`metricsBy`), under the same names, with
 * one more dimension. A name that is only here has no metric for the whole deployment.
 */
export const DETAILED_METRICS = {
  workflow: {
    Started: 'Count',
    Succeeded: 'Count',
    Failed: 'Count',
    Compensated: 'Count',
    Canceled: 'Count',
    Retries: 'Count',
    /** The time from the start of an execution to its end. */
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

/** Metrics that must never be added up: each value fully describes its moment. */
export const GAUGES: ReadonlySet<MetricName> = new Set([
  'OldestOverdue',
  'OpenIncidents',
  'OpenEntries',
  'OpenBreakers',
  'AuditAge',
]);
