/**
 * Sends messages to agents over SQS; a message is only a hint.
 *
 * Owns: putting up to ten messages to one agent into one request, rounding delays to seconds, the depths of
 * the queues. Does not own: which messages are sent, and when.
 */

import {
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { Send } from '../core/decisions/decision.ts';
import { refuse } from '../core/values/errors.ts';
import { formatMessage } from '../core/decisions/message.ts';
import type { Queue, QueueDepth } from '../core/ports.ts';

/** SQS's limits: messages in a batch, and seconds of delay. */
const BATCH = 10;
const MAX_DELAY_S = 900;

/** Counts the messages that this process is handling; each handler may soon send messages. */
export interface AtWork {
  messages: number;
}

/** The group of all messages without one: on a fair queue each would be its own group and overtake others. */
const NO_GROUP = 'none';

interface QueueOptions {
  /**
   * Messages being handled: if there are several, sends wait briefly to share a request. @default not counted
   */
  readonly atWork?: AtWork;
  /** Some messages have a group. @default false */
  readonly isFair?: boolean;
}

/** @param urls agent name → queue URL */
export function sqsQueue(
  client: SQSClient,
  urls: ReadonlyMap<string, string>,
  { atWork = { messages: 0 }, isFair = false }: QueueOptions = {},
): Queue {
  const urlOf = (agent: string): string => {
    const url = urls.get(agent);
    if (url === undefined)
      throw refuse('unknown-agent', `agent '${agent}' has no queue; deploy it with the workflow`);
    return url;
  };
  const outboxes = new Map<string, Outbox>();
  const mayFollow = (): boolean => {
    const waiting = [...outboxes.values()].reduce((sum, outbox) => sum + outbox.waiting, 0);
    return waiting < atWork.messages;
  };
  const outboxOf = (agent: string): Outbox => {
    const known = outboxes.get(agent);
    if (known !== undefined) return known;
    const url = urlOf(agent);
    const made = new Outbox((sends) => sendTo(client, url, isFair ? sends.map(ofAll) : sends), mayFollow);
    outboxes.set(agent, made);
    return made;
  };
  return {
    reaches: (agent) => urls.has(agent),
    send: async (sends) => {
      const byAgent = new Map<string, Send[]>();
      for (const send of sends) byAgent.set(send.agent, [...(byAgent.get(send.agent) ?? []), send]);
      const posted = [...byAgent].map(async ([agent, all]) => outboxOf(agent).post(all));
      const results = await Promise.allSettled(posted);
      const failure = results.find((result) => result.status === 'rejected');
      if (failure !== undefined) throw failure.reason;
    },
    depths: async (agents) => {
      const asked = agents.map(async (agent) => [agent, await depthOf(client, urlOf(agent))] as const);
      const known = (await Promise.allSettled(asked)).filter((one) => one.status === 'fulfilled');
      return Object.fromEntries(known.map(({ value }) => value));
    },
  };
}

const ofAll = (send: Send): Send => ({ group: NO_GROUP, ...send });

/** @returns the positions of the messages that SQS refused */
async function sendTo(client: SQSClient, url: string, sends: readonly Send[]): Promise<ReadonlySet<number>> {
  const [first] = sends;
  if (first !== undefined && sends.length === 1) {
    await client.send(new SendMessageCommand({ QueueUrl: url, ...entry(first) }));
    return new Set();
  }
  const entries = sends.map((send, at) => ({ Id: String(at), ...entry(send) }));
  const answer = await client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries: entries }));
  return new Set((answer.Failed ?? []).map(({ Id }) => Number(Id)));
}

interface Parcel {
  readonly send: Send;
  readonly sent: () => void;
  readonly failed: (reason: unknown) => void;
}

/**
 * The longest that a send waits for others to share its request: longer than a batch takes to be handled, too
 * short for a caller to notice.
 */
const SHARE_WITHIN_MS = 20;

/**
 * Sends the messages of one process to one agent. Those that are sent while others are being handled, or
 * while a request is under way, share a request: a process that handles a batch of ten makes one or two
 * requests, not ten. A process that handles a single message sends at once.
 */
class Outbox {
  readonly #request: (sends: readonly Send[]) => Promise<ReadonlySet<number>>;
  readonly #mayFollow: () => boolean;
  readonly #waiting: Parcel[] = [];
  #underWay = 0;
  #departure: NodeJS.Timeout | undefined;

  /** @param mayFollow true if a message being handled has not sent anything yet */
  constructor(request: (sends: readonly Send[]) => Promise<ReadonlySet<number>>, mayFollow: () => boolean) {
    this.#request = request;
    this.#mayFollow = mayFollow;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Rejects if any of the messages was not sent. */
  async post(sends: readonly Send[]): Promise<void> {
    const results = sends.map(
      (send) =>
        new Promise<void>((sent, failed) => {
          this.#waiting.push({ send, sent, failed });
        }),
    );
    if (this.#mayFollow()) {
      this.#departure ??= setTimeout(() => this.#leave(true), SHARE_WITHIN_MS);
      this.#leave(false);
    } else this.#leave(this.#departure !== undefined || this.#underWay === 0);
    await Promise.all(results);
  }

  /** @param all also send incomplete batches */
  #leave(all: boolean): void {
    if (all) {
      clearTimeout(this.#departure);
      this.#departure = undefined;
    }
    const least = all ? 1 : BATCH;
    while (this.#waiting.length >= least) void this.#ask(this.#waiting.splice(0, BATCH));
  }

  async #ask(parcels: readonly Parcel[]): Promise<void> {
    this.#underWay += 1;
    try {
      const refused = await this.#request(parcels.map(({ send }) => send));
      const problem = `${refused.size} of ${parcels.length} messages were not sent`;
      for (const [at, { sent, failed }] of parcels.entries()) {
        if (refused.has(at)) failed(refuse('send-failed', problem));
        else sent();
      }
    } catch (error) {
      for (const { failed } of parcels) failed(error);
    }
    this.#underWay -= 1;
    this.#leave(this.#departure === undefined);
  }
}

const DEPTHS = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
] as const;

async function depthOf(client: SQSClient, url: string): Promise<QueueDepth> {
  const ask = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: [...DEPTHS] });
  const { Attributes = {} } = await client.send(ask);
  const [waiting = 0, underWork = 0, delayed = 0] = DEPTHS.map((name) => Number(Attributes[name] ?? 0));
  return { waiting, underWork, delayed };
}

interface Entry {
  readonly MessageBody: string;
  readonly DelaySeconds?: number;
  /** A standard queue whose messages have groups is a fair queue. */
  readonly MessageGroupId?: string;
}

/** Rounds up: a message that arrives early is useless. */
function entry({ message, delayMs, group }: Send): Entry {
  const delayS = Math.min(MAX_DELAY_S, Math.ceil(delayMs / 1_000));
  return {
    MessageBody: formatMessage(message),
    ...(delayS > 0 ? { DelaySeconds: delayS } : {}),
    ...(group === undefined ? {} : { MessageGroupId: group }),
  };
}
