/**
 * Starts and stops a local cloud: reads an assembly and a data directory, and connects the parts. It runs any
 * supported stack. Does not own: what the parts do.
 *
 * Invariants
 * - I1 a start that fails leaves nothing running and no lock.
 * - I2 `stop()` leaves no process, socket or timer of the cloud; queues keep their messages for the next
 *   start.
 */
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { Alarms } from './alarms/alarms.ts';
import { type Clock, systemClock } from './clock.ts';
import { Control } from './control/control.ts';
import { type CloudFacts, controlListener } from './control/control-http.ts';
import { Faults } from './control/faults.ts';
import { Outages } from './control/outages.ts';
import { type DataDirectory, openDataDirectory } from './data-directory.ts';
import { type DynamoServer, startDynamo } from './dynamodb/dynamo-process.ts';
import { LateIndexes } from './dynamodb/late-indexes.ts';
import { DynamoProxy } from './dynamodb/proxy.ts';
import { ensureTables, partitionKeysOf } from './dynamodb/tables.ts';
import { Access, type Denial } from './iam/access.ts';
import { PlatformAccess } from './iam/platform-access.ts';
import { StackPolicies } from './iam/stack-policies.ts';
import { EventBus } from './events/event-bus.ts';
import { Schedules } from './events/schedules.ts';
import { awsGateway } from './gateway/aws-gateway.ts';
import { CallCounts } from './gateway/call-counts.ts';
import { Connections } from './gateway/connections.ts';
import { byPath, type Listeners } from './http/by-path.ts';
import { HttpApis } from './http/http-api.ts';
import { type Listening, listen, listenNear } from './http/servers.ts';
import type { EventSource } from './lambda/event-source.ts';
import { connectSources } from './lambda/event-sources.ts';
import type { LogLine } from './lambda/function-logs.ts';
import { startFunctions } from './lambda/functions.ts';
import type { LocalFunction } from './lambda/local-function.ts';
import { MetricStore } from './metrics/metric-store.ts';
import { PlatformMetrics } from './metrics/platform-metrics.ts';
import { Guardian } from './processes/guardian.ts';
import { Buckets } from './s3/buckets.ts';
import { FileJournal } from './sqs/journal.ts';
import { QueueDirectory } from './sqs/queue-directory.ts';
import { FunctionUrls } from './http/function-url.ts';
import { type Assembly, readAssembly } from './template/assembly.ts';
import { type ResolvedResource, type ResolvedTemplate, resolveTemplate } from './template/template.ts';
import { readStackModel, type StackModel } from './template/stack-model.ts';

export interface CloudOptions {
  /** The `cdk.out` folder. */
  readonly assembly: string;
  /** The name of the stack, needed if there are several. */
  readonly stack?: string;
  /** Logical id of the API at `/`; default is the first. */
  readonly api?: string;
  /** The folder of tables, queues and logs; made if missing. */
  readonly dataDir: string;
  /** Deletes the data of earlier runs first. */
  readonly fresh?: boolean;
  /** Port of the HTTP API; 0 takes any free one. Default 4510. */
  readonly port?: number;
  /** `false` starts with all schedules stopped. */
  readonly schedules?: boolean;
  /** Most processes per function, where the template sets no reserved concurrency. Default 10. */
  readonly concurrencyPerFunction?: number;
  /**
   * Additional handlers on the port of the HTTP API, by the beginning of their paths: `{ '/console': listener
   * }`.
   */
  readonly beside?: Listeners;
  /** Called after each call that has written to a table. */
  readonly onWritten?: () => void;
  /** Added to every function's environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Runs one function in a single process without time limits, for a debugger at this port of 127.0.0.1. */
  readonly inspect?: Inspect;
  /** Every line the functions write. */
  readonly onLog?: (line: LogLine) => void;
  /** How far behind the indexes are, in ms, for queries that a fault answers with an old state. */
  readonly indexesLateMs?: number;
  /** Called with faults of the cloud: dropped events, crashes of its parts. */
  readonly onProblem?: (message: string) => void;
  /**
   * Called for a request that the policies of the template refuse, once for each function, action and
   * resource.
   */
  readonly onDenied?: (denial: Denial) => void;
  /** The clock of queues, schedules and batching windows, for tests. Lambda timeouts use real time. */
  readonly clock?: Clock;
}

export interface Inspect {
  readonly logicalId: string;
  readonly port: number;
}

/** A running local cloud. */
export interface Cloud {
  /** Address of the HTTP API, without a trailing slash. The control calls are under `/_local/` there. */
  readonly apiUrl: string;
  /** Address for AWS clients outside (`AWS_ENDPOINT_URL`). */
  readonly gatewayUrl: string;
  /** The folder from which code runs, away from every project as on AWS. It is removed with the cloud. */
  readonly codeFolder: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly resources: ReadonlyMap<string, ResolvedResource>;
  /** Resources of the template that do not run here. */
  readonly notRun: readonly string[];
  readonly control: Control;
  /** Reads metrics from a log line of a process beside the cloud. The functions' lines need no call. */
  readonly metricsIn: (line: string) => void;
  /** Stops everything. Messages being processed go back to their queues. */
  stop(): Promise<void>;
}

const REGION = 'us-east-1';
const ACCOUNT_ID = '000000000000';
const PLACE = { region: REGION, accountId: ACCOUNT_ID };
const DEFAULT_PORT = 4510;

/** Starts the stack of an assembly. @throws Error with advice, with nothing left running */
export async function startCloud(options: CloudOptions): Promise<Cloud> {
  const undo: (() => Promise<void> | void)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    return await start(options, undo, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

type Undo = (() => Promise<void> | void)[];

async function start(options: CloudOptions, undo: Undo, stop: () => Promise<void>): Promise<Cloud> {
  const assembly = readAssembly(options.assembly, options.stack);
  const data = await openDataDirectory(options.dataDir, options.fresh ?? false);
  undo.push(() => data.release());
  const guardian = new Guardian();
  undo.push(async () => await guardian.stop());
  data.guardedBy(guardian);
  const dynamoStarting = dynamoFor(options, data, guardian, undo);
  const main = await listen(options.port ?? DEFAULT_PORT, 'the HTTP API');
  undo.push(async () => await main.close());
  const gateway = await listenNear(main.port, 'the AWS gateway');
  undo.push(async () => await gateway.close());
  const urls = await FunctionUrls.listen(idsOf(assembly, 'AWS::Lambda::Url'));
  undo.push(async () => await urls.close());
  const sockets = { main, gateway, urls };
  const template = resolveTemplate(assembly.template, place(assembly, sockets, options.api));
  const model = readStackModel(template);
  const policies = new StackPolicies(template, PLACE);
  const access = accessOf(options, policies);
  const platform = new PlatformAccess(access, PLACE);
  platform.requireTrust(policies);
  const notRun = [...model.notRun, ...policies.notes];
  const metrics = keptMetrics(options, data, undo);
  const dynamo = await dynamoStarting;
  const proxy = new DynamoProxy(dynamo);
  undo.push(() => proxy.close());
  await ensureTables(model.tables, proxy, data.path);
  const lateIndexes = await LateIndexes.of(proxy, model.tables, options.indexesLateMs, data.path);
  undo.push(() => lateIndexes?.stop());
  const parts = run({
    options,
    undo,
    assembly,
    data,
    guardian,
    ...sockets,
    template,
    model,
    notRun,
    access,
    platform,
    metrics,
    dynamo,
    proxy,
    lateIndexes,
  });
  return {
    apiUrl: main.url,
    gatewayUrl: gateway.url,
    codeFolder: guardian.codeFolder,
    outputs: template.outputs,
    resources: template.resources,
    notRun,
    control: parts,
    metricsIn: metrics.line,
    stop,
  };
}

const accessOf = ({ onProblem, onDenied }: CloudOptions, policies: StackPolicies): Access =>
  new Access(policies, (denial) => {
    onProblem?.(`access denied, ${denial.who}: ${denial.message}`);
    onDenied?.(denial);
  });

function dynamoFor(
  { onProblem = () => {} }: CloudOptions,
  data: DataDirectory,
  guardian: Guardian,
  undo: Undo,
): Promise<DynamoServer> {
  const starting = startDynamo(data.dynamodb, join(data.logs, '_dynamodb.log'), guardian, onProblem);
  starting.catch(() => {});
  undo.push(async () => await (await starting.catch(() => undefined))?.stop());
  return starting;
}

function keptMetrics(
  { clock = systemClock, onProblem }: CloudOptions,
  data: DataDirectory,
  undo: Undo,
): MetricStore {
  const metrics = new MetricStore({ clock, file: data.metrics, onProblem: onProblem ?? (() => {}) });
  undo.push(() => metrics.keep());
  return metrics;
}

/** The ports on which the cloud listens. */
interface Sockets {
  readonly main: Listening;
  readonly gateway: Listening;
  readonly urls: FunctionUrls;
}

const idsOf = ({ template }: Assembly, type: string): string[] =>
  Object.entries(Object(Object(template)['Resources']) as Record<string, { Type?: unknown }>).flatMap(
    ([id, resource]) => (resource.Type === type ? [id] : []),
  );

function place(assembly: Assembly, { main, gateway, urls }: Sockets, api: string | undefined) {
  const rootApi = api ?? idsOf(assembly, 'AWS::ApiGatewayV2::Api')[0];
  const apiUrl = (logicalId: string) => (logicalId === rootApi ? main.url : `${main.url}/_apis/${logicalId}`);
  const functionUrl = (logicalId: string) => urls.addressOf(logicalId);
  const { stackName } = assembly;
  return { stackName, region: REGION, accountId: ACCOUNT_ID, gatewayUrl: gateway.url, apiUrl, functionUrl };
}

interface Prepared extends Sockets {
  readonly options: CloudOptions;
  readonly undo: Undo;
  readonly assembly: Assembly;
  readonly data: DataDirectory;
  readonly guardian: Guardian;
  readonly template: ResolvedTemplate;
  readonly model: StackModel;
  readonly notRun: readonly string[];
  readonly access: Access;
  readonly platform: PlatformAccess;
  readonly metrics: MetricStore;
  readonly dynamo: DynamoServer;
  readonly proxy: DynamoProxy;
  readonly lateIndexes: LateIndexes | undefined;
}

/** Makes and connects the parts. The template must be resolved and DynamoDB ready. */
function run(prepared: Prepared): Control {
  const { options, undo, data, main, gateway, template, model, access, platform, metrics } = prepared;
  const { dynamo, proxy, lateIndexes } = prepared;
  const onProblem = options.onProblem ?? (() => {});
  const clock = options.clock ?? systemClock;
  const queues = queuesOf(model, data, clock, undo);
  const faults = new Faults();
  const measured = new PlatformMetrics(queues.all(), metrics, clock);
  undo.push(() => measured.stop());
  const functions = startFunctions(prepared, REGION, faults, measured);
  const byName = new Map(functions.map((local) => [local.spec.functionName, local]));
  const functionByName = (name: string) => byName.get(name);
  const shared = {
    ...PLACE,
    clock,
    queues,
    functionByName,
    onProblem,
    mayReach: platform.rule.bind(platform),
  };
  const bus = new EventBus({ rules: model.rules, busNames: model.busNames, ...shared });
  undo.push(() => bus.stop());
  const counts = new CallCounts();
  const callPlace = { ...PLACE, partitionKey: partitionKeysOf(model.tables) };
  const buckets = new Buckets(model.buckets, bus, clock, { folder: data.objects, ...PLACE });
  const connections = new Connections();
  const periods = metrics.periods.bind(metrics);
  const emulators = { dynamo: proxy, queues, bus, buckets, periods, connections, lateIndexes };
  const { onWritten = () => undefined } = options;
  const backends = { ...emulators, access, callPlace, gatewayUrl: gateway.url, onWritten, ...PLACE };
  gateway.serve(awsGateway(backends, counts, faults));
  const schedules = new Schedules(model.rules, bus, clock, shared);
  undo.push(() => schedules.stop());
  const { outputs, resources } = template;
  const sources = connectSources(model.mappings, platform, { queues, functionByName, clock });
  const parts = { functions, queues, bus, buckets, schedules, sources, resources };
  const outages = new Outages(clock);
  const alarms = new Alarms({ resources, periods, queues, clock });
  undo.push(
    () => outages.stop(),
    () => alarms.stop(),
  );
  const beside = { outages, alarms, connections, hasLateIndexes: lateIndexes !== undefined };
  const control = new Control({ ...parts, ...beside, dynamo, counts, access, faults });
  // The first API is at the root.
  const served = model.apis.toSorted(
    (one, other) => Number(other.logicalId === options.api) - Number(one.logicalId === options.api),
  );
  const apis = new HttpApis(served, functionByName, ACCOUNT_ID, platform.api.bind(platform));
  const others = { '/_local': controlListener(control, factsOf(prepared, outputs)), ...options.beside };
  main.serve(byPath(others, listenerOf(apis)));
  prepared.urls.serve(model.urls, functionByName, ACCOUNT_ID, platform.functionUrl.bind(platform));
  for (const source of sources) source.start();
  measured.start();
  alarms.start();
  if (options.schedules !== false) schedules.start();
  undo.push(...endOfWork(functions, sources, [bus, schedules]));
  return control;
}

const factsOf = ({ notRun, main, gateway, data }: Prepared, outputs: CloudFacts['outputs']): CloudFacts => ({
  outputs,
  notRun,
  apiUrl: main.url,
  gatewayUrl: gateway.url,
  logs: data.logs,
});

function queuesOf({ queues: declared }: StackModel, data: DataDirectory, clock: Clock, undo: Undo) {
  const journalOf = (name: string) => new FileJournal(join(data.queues, `${name}.jsonl`));
  const queues = new QueueDirectory(declared, clock, journalOf);
  undo.push(() => queues.close());
  return queues;
}

/**
 * Stops the parts in reverse order: take no more work, return the work under way, end the processes; then the
 * rest.
 */
export const endOfWork = (
  functions: readonly Pick<LocalFunction, 'stop'>[],
  sources: readonly Pick<EventSource, 'stop' | 'giveBack'>[],
  senders: readonly { stop(): void }[],
): Undo => [
  async () => {
    await Promise.all(functions.map(async (local) => await local.stop()));
  },
  () => {
    // Stops the senders first: otherwise the end of a process would count as a failed invocation.
    for (const sender of senders) sender.stop();
    for (const source of sources) source.stop();
    for (const source of sources) source.giveBack();
  },
];

const listenerOf =
  (apis: HttpApis): RequestListener =>
  (request, response) => {
    // A client that disconnects in the middle of its request must not crash the server.
    apis.serve(request, response).catch(() => response.destroy());
  };
