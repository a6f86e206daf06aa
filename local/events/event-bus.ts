/**
 * EventBridge in this process: PutEvents, rule matching, delivery to targets, the log of the last events.
 * Numbers are passed on unchanged; patterns compare them as JavaScript numbers. Does not own: time
 * (schedules.ts), retries of functions (lambda/async-invoke.ts).
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { LocalFunction } from '../lambda/local-function.ts';
import { AsyncInvoker } from '../lambda/async-invoke.ts';
import type { QueueDirectory } from '../sqs/queue-directory.ts';
import { isRecord, type Json } from '../template/json.ts';
import type { RuleSpec, TargetSpec } from '../template/routing-model.ts';
import { functionNameOf } from '../template/stack-model.ts';
import { parseExact, plain, stringifyExact } from './exact-json.ts';
import { matchesPattern } from './pattern.ts';

/** An event that was put on a bus. */
export interface EmittedEvent {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly bus: string;
  readonly source: string;
  readonly detailType: string;
  readonly detail: Json;
  /** Names of the rules it matched. */
  readonly rules: readonly string[];
}

/** An event that a person or the local cloud puts on a bus; no permission is checked. */
export interface ToldEvent {
  /** @default the account's default bus */
  readonly bus?: string;
  readonly source: string;
  readonly detailType: string;
  /** The detail; may come from `parseExact`. */
  readonly detail: Json;
  readonly resources?: Json[];
}

export interface BusSettings {
  readonly rules: readonly RuleSpec[];
  readonly busNames: readonly string[];
  readonly region: string;
  readonly accountId: string;
  readonly clock: Clock;
  readonly queues: QueueDirectory;
  readonly functionByName: (name: string) => LocalFunction | undefined;
  /** Whether the policies let a rule do this to its target. */
  readonly mayReach: (rule: RuleSpec, action: string, target: string) => boolean;
  /** Called for a dropped event: its target does not run here, or its retries are used up. */
  readonly onProblem: (message: string) => void;
}

const LOG_LENGTH = 1000;
const MAX_ENTRIES = 10;
/**
 * The largest request, all entries together
 * (https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-quota.html).
 */
const MAX_BYTES = 1_048_576;

/** A request that EventBridge refuses as a whole. */
export class RefusedEvents extends Error {}

export class EventBus {
  readonly #settings: BusSettings;
  readonly #invoker: AsyncInvoker;
  readonly #log: EmittedEvent[] = [];
  readonly #disabled = new Set<string>();

  constructor(settings: BusSettings) {
    this.#settings = settings;
    this.#invoker = new AsyncInvoker(settings.clock, settings.onProblem);
    for (const rule of settings.rules) if (!rule.enabled) this.#disabled.add(rule.ruleName);
  }

  /**
   * PutEvents: answers each entry; a bad entry fails alone.
   * @throws RefusedEvents if there are too many, or they are too large together
   */
  put(entries: readonly unknown[]): { FailedEntryCount: number; Entries: Record<string, string>[] } {
    if (entries.length > MAX_ENTRIES)
      throw new RefusedEvents(`a request has at most ${MAX_ENTRIES} entries, and this one ${entries.length}`);
    refuseLarge(entries.reduce<number>((sum, entry) => sum + bytesOf(isRecord(entry) ? entry : {}), 0));
    const results = entries.map((entry) => this.#putOne(entry));
    return { FailedEntryCount: results.filter((result) => 'ErrorCode' in result).length, Entries: results };
  }

  /**
   * Puts an event in the name of an AWS service or of a person.
   * @throws Error if no rule can match it, or it is too large
   */
  tell(told: ToldEvent): string {
    const bus = told.bus ?? 'default';
    if (!this.#settings.busNames.includes(bus)) {
      throw new Error(`no event bus is called "${bus}"; there are: ${this.#settings.busNames.join(', ')}`);
    }
    refuseLarge(
      bytesOf({
        Source: told.source,
        DetailType: told.detailType,
        Detail: stringifyExact(told.detail),
        Resources: told.resources,
      }),
    );
    return this.#publish({ ...told, bus });
  }

  /** The last 1,000 events, oldest first. */
  emitted(): readonly EmittedEvent[] {
    return [...this.#log];
  }

  isEnabled(ruleName: string): boolean {
    return !this.#disabled.has(ruleName);
  }

  setEnabled(ruleName: string, enabled: boolean): void {
    if (enabled) this.#disabled.delete(ruleName);
    else this.#disabled.add(ruleName);
  }

  /**
   * Sends an event to all targets of a rule. Resolves when every target has it, or, for a function, has run.
   */
  async deliver(rule: RuleSpec, event: Json): Promise<void> {
    await Promise.all(rule.targets.map(async (target) => await this.#deliverTo(target, event, rule)));
  }

  stop(): void {
    this.#invoker.stop();
  }

  #putOne(entry: unknown): Record<string, string> {
    const fields = isRecord(entry) ? entry : {};
    const { Source: source, DetailType: detailType, Detail: detailText } = fields;
    if (typeof source !== 'string' || typeof detailType !== 'string' || typeof detailText !== 'string') {
      return refuse('Source, DetailType and Detail are required.');
    }
    const bus = String(fields['EventBusName'] ?? 'default').replace(/^.*event-bus\//, '');
    if (!this.#settings.busNames.includes(bus))
      return refuse(`The event bus ${bus} does not exist in this stack.`);
    if (source.startsWith('aws.')) {
      const ErrorMessage = 'Not authorized for the source.';
      return { ErrorCode: 'NotAuthorizedForSourceException', ErrorMessage };
    }
    const detail = parseJson(detailText);
    if (!isRecord(detail)) return { ErrorCode: 'MalformedDetail', ErrorMessage: 'Detail is malformed.' };
    const resources = Array.isArray(fields['Resources']) ? fields['Resources'] : [];
    return { EventId: this.#publish({ bus, source, detailType, detail, resources }) };
  }

  #publish({ bus, source, detailType, detail, resources }: ToldEvent & { readonly bus: string }): string {
    const id = randomUUID();
    const at = this.#settings.clock.now();
    const event: Record<string, Json> = {
      version: '0',
      id,
      'detail-type': detailType,
      source,
      account: this.#settings.accountId,
      time: new Date(at).toISOString().replace(/\.\d+Z$/, 'Z'),
      region: this.#settings.region,
      resources: resources ?? [],
      detail,
    };
    const seen = plain(event);
    const matching = this.#settings.rules.filter(
      (rule) =>
        rule.busName === bus &&
        rule.pattern !== undefined &&
        this.isEnabled(rule.ruleName) &&
        matchesPattern(rule.pattern, seen),
    );
    const rules = matching.map((rule) => rule.ruleName);
    this.#log.push({ id, at, bus, source, detailType, detail: plain(detail), rules });
    if (this.#log.length > LOG_LENGTH) this.#log.shift();
    for (const rule of matching) void this.deliver(rule, event);
    return id;
  }

  async #deliverTo(target: TargetSpec, event: Json, rule: RuleSpec): Promise<void> {
    const payload = payloadOf(target, event, rule);
    if (target.arn.includes(':lambda:')) {
      const local = this.#settings.functionByName(functionNameOf(target.arn));
      if (local !== undefined) {
        if (!this.#settings.mayReach(rule, 'lambda:InvokeFunction', local.spec.arn)) return;
        return await this.#invoker.invoke(local, payload);
      }
    }
    const queue = target.arn.includes(':sqs:') ? this.#settings.queues.byArn(target.arn) : undefined;
    if (queue !== undefined) {
      if (!this.#settings.mayReach(rule, 'sqs:SendMessage', target.arn))
        return this.#keep(rule, target, payload);
      queue.send({ body: payload, senderId: 'events.amazonaws.com' });
      return;
    }
    this.#settings.onProblem(
      `rule ${rule.ruleName}: its target ${target.arn} does not run locally, so the event is dropped`,
    );
  }

  /**
   * Sends an event that cannot be delivered to the target's dead-letter queue, if it has one that may be
   * reached.
   */
  #keep(rule: RuleSpec, { deadLetterArn }: TargetSpec, body: string): void {
    if (deadLetterArn === undefined) return;
    const queue = this.#settings.queues.byArn(deadLetterArn);
    if (queue !== undefined && this.#settings.mayReach(rule, 'sqs:SendMessage', deadLetterArn))
      queue.send({ body, senderId: 'events.amazonaws.com' });
  }
}

/**
 * The size of an event by AWS's rule:
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevent-size.html
 */
function bytesOf({ Time, Source, DetailType, Detail, Resources }: Readonly<Record<string, unknown>>): number {
  const texts = [Source, DetailType, Detail, ...(Array.isArray(Resources) ? Resources : [])];
  return texts.reduce<number>(
    (sum, text) => sum + (typeof text === 'string' ? Buffer.byteLength(text) : 0),
    Time === undefined ? 0 : 14,
  );
}

function refuseLarge(bytes: number): void {
  if (bytes <= MAX_BYTES) return;
  throw new RefusedEvents(
    `Total size of the entries in the request is over the limit: ${bytes} bytes; allowed are ${MAX_BYTES}`,
  );
}

function payloadOf(target: TargetSpec, event: Json, rule: RuleSpec): string {
  if (target.input !== undefined) {
    return rule.kind === 'schedule' ? withContext(target.input, event, rule) : target.input;
  }
  if (target.inputPath === undefined) return stringifyExact(event);
  let value: Json | undefined = event;
  for (const part of target.inputPath.replace(/^\$\.?/, '').split('.')) {
    if (part !== '') value = isRecord(value) ? value[part] : undefined;
  }
  return stringifyExact(value ?? null);
}

/** The keywords that EventBridge Scheduler replaces in a payload. */
function withContext(input: string, event: Json, rule: RuleSpec): string {
  const { time, id } = isRecord(event) ? event : {};
  const values: Readonly<Record<string, string>> = {
    'schedule-arn': rule.arn,
    'scheduled-time': String(time),
    'execution-id': String(id),
    'attempt-number': '1',
  };
  return input.replaceAll(/<aws\.scheduler\.([a-z-]+)>/g, (whole, name: string) => values[name] ?? whole);
}

function parseJson(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

function refuse(ErrorMessage: string): Record<string, string> {
  return { ErrorCode: 'InvalidArgument', ErrorMessage };
}
