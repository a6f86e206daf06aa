/**
 * The calls by which a test or a demo reads and changes a running local cloud (over HTTP: control-http.ts).
 *
 * Invariants
 * - I1 a name is a logical id, a physical name or a unique part of one. If it fits several things, an error
 *   lists them.
 */
import type { Alarms, AlarmState, AlarmView } from '../alarms/alarms.ts';
import type { Connections } from '../gateway/connections.ts';
import type { DynamoServer } from '../dynamodb/dynamo-process.ts';
import type { Access, Denial, PermissionUse } from '../iam/access.ts';
import type { AccessRequest } from '../iam/stack-policies.ts';
import type { EmittedEvent, EventBus, ToldEvent } from '../events/event-bus.ts';
import type { ScheduleState, Schedules } from '../events/schedules.ts';
import type { CallCount, CallCounts } from '../gateway/call-counts.ts';
import type { InvocationResult } from '../lambda/function-process.ts';
import type { EventSource } from '../lambda/event-source.ts';
import type { LocalFunction } from '../lambda/local-function.ts';
import type { Buckets, BucketState } from '../s3/buckets.ts';
import type { QueueDirectory } from '../sqs/queue-directory.ts';
import type { ArmedFault, CallFault, FaultMoment, FaultState } from './fault.ts';
import type { ResolvedResource } from '../template/template.ts';
import type { Faults, FaultTarget } from './faults.ts';
import { agentIn, pick, plain } from './named.ts';
import type { Outages } from './outages.ts';

export interface ProcessState {
  readonly pid: number;
  readonly state: 'busy' | 'idle' | 'frozen';
  readonly invocations: number;
}

export interface FunctionState {
  readonly logicalId: string;
  readonly name: string;
  /** The agents whose queues it reads; several if they share it. */
  readonly agents: readonly string[];
  readonly processes: readonly ProcessState[];
  readonly invocations: number;
  /** Invocations that ended in an error, a timeout or a death. */
  readonly errors: number;
  readonly timeouts: number;
  readonly coldStarts: number;
  /** `false` while the function refuses every event. */
  readonly enabled: boolean;
  /** The number of events that it refused while disabled. */
  readonly throttles: number;
}

export interface QueueState {
  readonly name: string;
  readonly arn: string;
  /** Messages that can be received now. */
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
}

export interface PeekedMessage {
  readonly messageId: string;
  readonly body: string;
  readonly state: 'visible' | 'delayed' | 'inFlight';
  readonly sentAt: number;
  readonly visibleAt: number;
  readonly receiveCount: number;
  /** The queue from which the message was redriven. */
  readonly sourceArn?: string;
}

/** The parts of the cloud that the control uses. */
export interface ControlParts {
  readonly functions: readonly LocalFunction[];
  readonly queues: QueueDirectory;
  readonly bus: EventBus;
  readonly buckets: Buckets;
  readonly schedules: Schedules;
  readonly dynamo: DynamoServer;
  readonly counts: CallCounts;
  readonly access: Access;
  readonly faults: Faults;
  readonly sources: readonly EventSource[];
  readonly outages: Outages;
  readonly alarms: Alarms;
  readonly connections: Connections;
  readonly hasLateIndexes: boolean;
  readonly resources: ReadonlyMap<string, ResolvedResource>;
}

/** A queue that a function reads. */
export interface MappingState {
  readonly logicalId: string;
  readonly queueArn: string;
  readonly functionName: string;
  readonly enabled: boolean;
}

export class Control {
  readonly #parts: ControlParts;

  constructor(parts: ControlParts) {
    this.#parts = parts;
  }

  functions(): FunctionState[] {
    return this.#parts.functions.map((local) => ({
      logicalId: local.spec.logicalId,
      name: local.spec.functionName,
      agents: this.#agentsOf(local.spec),
      processes: local.processes.map((process) => ({
        pid: process.pid,
        state: process.frozen ? 'frozen' : process.busy ? 'busy' : 'idle',
        invocations: process.invocations,
      })),
      enabled: !local.isThrottled,
      ...local.counters,
    }));
  }

  /** Kills (-9) the process serving the function. */
  kill(name: string, when: FaultMoment = 'now'): ArmedFault {
    return this.#parts.faults.armProcessFault(this.#target(name), 'kill', when);
  }

  /** Sends SIGSTOP to the process serving the function. Its timeout still ends it. */
  freeze(name: string, when: FaultMoment = 'now'): ArmedFault {
    return this.#parts.faults.armProcessFault(this.#target(name), 'freeze', when);
  }

  /**
   * Sends SIGCONT to every frozen process of the function. @returns their pids
   * @param cut closes their connections first, as happens to a process that sent nothing for a long time
   */
  thaw(name: string, { cut = false }: { readonly cut?: boolean } = {}): number[] {
    const local = this.#function(name);
    const frozen = local.processes.filter((process) => process.frozen);
    if (cut) for (const { accessKeyId } of frozen) this.#parts.connections.cut(accessKeyId);
    for (const process of frozen) local.thaw(process);
    return frozen.map((process) => process.pid);
  }

  /** Makes the next AWS calls of the function take `ms` longer. */
  delay(name: string, fault: CallFault & { readonly ms: number }): ArmedFault {
    const { ms, ...rest } = fault;
    if (!(ms >= 0)) throw new Error(`ms must be a number of milliseconds, got ${String(ms)}`);
    return this.#parts.faults.armCallFault(this.#target(name), 'delay', rest, ms);
  }

  /** Refuses the next AWS calls of the function with the service's throttling error. */
  throttle(name: string, fault: CallFault): ArmedFault {
    return this.#parts.faults.armCallFault(this.#target(name), 'throttle', fault);
  }

  /** Answers the function's next queries of an index from the state of a few seconds ago. */
  late(name: string, fault: CallFault): ArmedFault {
    if (!this.#parts.hasLateIndexes)
      throw new Error('indexes are never late here: start the cloud with indexesLateMs');
    return this.#parts.faults.armCallFault(this.#target(name), 'late', fault);
  }

  /** Executes the next AWS calls of the function, then closes the connection without an answer. */
  ambiguous(name: string, fault: CallFault): ArmedFault {
    return this.#parts.faults.armCallFault(this.#target(name), 'ambiguous', fault);
  }

  faults(): FaultState[] {
    return this.#parts.faults.list();
  }

  clearFaults(): void {
    this.#parts.faults.clear();
  }

  /** Invokes a function with an event and waits for its answer. */
  async invoke(name: string, event: unknown): Promise<InvocationResult> {
    return await this.#function(name).invoke(JSON.stringify(event ?? null));
  }

  /** AWS calls since the start or the last reset, by caller, operation and table or queue. */
  calls(): CallCount[] {
    return this.#parts.counts.list();
  }

  /** Whether `calls()` also counts DynamoDB capacity units. Off at the start: it costs a little per call. */
  measureCapacity(on: boolean): void {
    this.#parts.counts.measuresCapacity = on;
  }

  resetCalls(): void {
    this.#parts.counts.reset();
  }

  /** Refusals by policies since the start or the last reset, one for each function, action and resource. */
  denials(): Denial[] {
    return this.#parts.access.denials();
  }

  /**
   * Every permission in the template with the number of requests that needed it. One with 0 is superfluous.
   */
  permissions(): PermissionUse[] {
    return this.#parts.access.permissions();
  }

  /** The distinct requests that the policies decided on. */
  accessRequests(): AccessRequest[] {
    return this.#parts.access.requests();
  }

  resetAccess(): void {
    this.#parts.access.reset();
  }

  queues(): QueueState[] {
    return this.#parts.queues.all().map((queue) => ({
      name: queue.settings.queueName,
      arn: queue.settings.arn,
      ...queue.counts(),
    }));
  }

  /** The messages of a queue (a DLQ, usually), oldest first, without receiving them. */
  peek(name: string): PeekedMessage[] {
    return this.#queue(name)
      .peek()
      .map((message) => ({
        messageId: message.messageId,
        body: message.body,
        state: message.state,
        sentAt: message.sentAt,
        visibleAt: message.visibleAt,
        receiveCount: message.receiveCount,
        ...(message.sourceArn === undefined ? {} : { sourceArn: message.sourceArn }),
      }));
  }

  /** Puts a message into a queue. @returns its id */
  send(name: string, body: string, delayMs?: number): string {
    return this.#queue(name).send({ body, delayMs }).messageId;
  }

  purge(name: string): void {
    this.#queue(name).purge();
  }

  /**
   * Kills (-9) the embedded DynamoDB, and starts it with its data after `downMs`. Calls in between break off.
   */
  async restartDynamo(downMs = 0): Promise<void> {
    await this.#parts.dynamo.restart(downMs);
  }

  schedules(): ScheduleState[] {
    return this.#parts.schedules.list();
  }

  /** Fires a schedule now, even a disabled one. Resolves when its function has run. */
  async tick(name: string): Promise<void> {
    await this.#parts.schedules.tick(this.#schedule(name));
  }

  /** Stops a schedule. @param forMs starts it again after this time */
  disable(name: string, forMs?: number): void {
    const schedule = this.#schedule(name);
    this.#parts.outages.begin(schedule, () => this.enable(schedule), forMs);
    this.#parts.schedules.setEnabled(schedule, false);
  }

  enable(name: string): void {
    const schedule = this.#schedule(name);
    this.#parts.outages.forget(schedule);
    this.#parts.schedules.setEnabled(schedule, true);
  }

  mappings(): MappingState[] {
    return this.#parts.sources.map(({ spec, isReading: enabled }) => {
      const { logicalId, queueArn, functionName } = spec;
      return { logicalId, queueArn, functionName, enabled };
    });
  }

  /**
   * Makes a function refuse every event, as with a reserved concurrency of 0; work in progress continues.
   * @param forMs accepts events again after this time
   */
  disableFunction(name: string, forMs?: number): void {
    const local = this.#function(name);
    const { logicalId } = local.spec;
    this.#parts.outages.begin(logicalId, () => this.enableFunction(logicalId), forMs);
    local.throttle(true);
  }

  enableFunction(name: string): void {
    const local = this.#function(name);
    this.#parts.outages.forget(local.spec.logicalId);
    local.throttle(false);
  }

  /** The alarms of the stack, with their states of this minute. */
  alarms(): AlarmView[] {
    return this.#parts.alarms.list();
  }

  /** Sets the state of an alarm until its evaluation in the next minute. */
  setAlarm(name: string, state: AlarmState): void {
    const { logicalId } = pick('alarm', name, this.alarms(), (each) => [each.logicalId, each.name]);
    this.#parts.alarms.set(logicalId, state);
  }

  /** Stops a function from receiving messages; it finishes those that it has received. */
  disableMapping(name: string, forMs?: number): void {
    const source = this.#source(name);
    const { logicalId } = source.spec;
    this.#parts.outages.begin(logicalId, () => this.enableMapping(logicalId), forMs);
    source.stop();
  }

  enableMapping(name: string): void {
    const source = this.#source(name);
    this.#parts.outages.forget(source.spec.logicalId);
    if (!source.isReading) source.start();
  }

  /** The stack's resources: resolved if they run here, otherwise as in the template. */
  resources(): ResolvedResource[] {
    return [...this.#parts.resources.values()];
  }

  /** Puts an event on a bus, also in the name of an AWS service. @returns its id */
  putEvent(event: ToldEvent): string {
    return this.#parts.bus.tell(event);
  }

  /** The buckets of the stack, with the keys of their objects. */
  buckets(): BucketState[] {
    return this.#parts.buckets.list();
  }

  /** Writes an object, and sends its event, as PutObject does. */
  putObject(bucket: string, key: string, body: string | Buffer): void {
    const { name } = pick('bucket', bucket, this.buckets(), (each) => [each.logicalId, each.name]);
    this.#parts.buckets.put(name, key, Buffer.from(body));
  }

  /** The last 1,000 events put on a bus. */
  events(): readonly EmittedEvent[] {
    return this.#parts.bus.emitted();
  }

  /**
   * Finds the processes for a fault. If the name is an agent in a shared function, those with an event of its
   * queue.
   */
  #target(name: string): FaultTarget {
    const local = this.#function(name);
    const { functionName } = local.spec;
    const queues = this.#parts.sources.flatMap(({ spec }) =>
      spec.functionName === functionName ? [spec.queueArn] : [],
    );
    const own = queues.filter((arn) => agentIn(arn).some((agent) => plain(agent) === plain(name)));
    return queues.length > 1 && own[0] !== undefined ? { local, queueArn: own[0] } : { local };
  }

  /**
   * Finds a function by its name, or by an agent whose queue it reads (several agents may share one
   * function).
   */
  #function(name: string): LocalFunction {
    const { functions } = this.#parts;
    return pick('function', name, functions, ({ spec: { logicalId, functionName } }) => [
      logicalId,
      functionName,
      ...this.#agentsOf({ functionName }),
    ]);
  }

  #agentsOf({ functionName }: { readonly functionName: string }): readonly string[] {
    return this.#parts.sources.flatMap(({ spec }) =>
      spec.functionName === functionName ? agentIn(spec.queueArn) : [],
    );
  }

  #source(name: string): EventSource {
    return pick('mapping', name, this.#parts.sources, ({ spec }) => [
      spec.logicalId,
      spec.queueArn,
      spec.functionName,
    ]);
  }

  #queue(name: string) {
    return pick('queue', name, this.#parts.queues.all(), (queue) => [queue.settings.queueName]);
  }

  #schedule(name: string): string {
    return pick('schedule', name, this.#parts.schedules.list(), (each) => [each.logicalId, each.name]).name;
  }
}
