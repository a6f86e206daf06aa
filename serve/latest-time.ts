/**
 * Stores a server's time in its file: the next server continues from there (`steady-time.ts`).
 *
 * Owns: the item, and when it is written: at the start, at the end, once a minute, and every few seconds
 * while there are commits. Does not own: the use of the time.
 */

import { type DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { TABLE } from '../lib/aws/names.ts';
import type { Telemetry } from '../lib/aws/ports.ts';
import type { SteadyTime } from './steady-time.ts';

const KEY = { [TABLE.pk]: { S: 'serve#time' }, [TABLE.sk]: { S: 'time' } } as const;
/** The time between two writes. The next process may count this much time twice. */
const EVERY_MS = 5_000;
const WHEN_IDLE = 12;
/** A longer gap than that of a restart is logged. */
const LONG_MS = 600_000;

export class LatestTime {
  readonly #client: DynamoDBClient;
  readonly #table: string;
  readonly #now: () => number;
  #timer: NodeJS.Timeout | undefined;
  #isNews = false;
  #quiet = 0;

  /** Continues the time from the previous process's, and stores it in the file from now on. */
  static async keeping(
    client: DynamoDBClient,
    table: string,
    time: SteadyTime,
    logger: Pick<Telemetry['logger'], 'warn'>,
  ): Promise<LatestTime> {
    const latest = new LatestTime(client, table, time.now);
    const before = await latest.#read();
    const laterMs = before === undefined ? 0 : time.goOnFrom(before);
    if (before !== undefined && laterMs >= LONG_MS) {
      // The cause may be a clock that is ahead or a server that was off; the line lets the operator decide.
      const last = new Date(before).toISOString();
      const detail = `the last run was at work until ${last}, by its clock: the time since then has passed`;
      logger.warn('clock-later', { ms: laterMs, last, detail });
    }
    await latest.#write();
    latest.#keep();
    return latest;
  }

  private constructor(client: DynamoDBClient, table: string, now: () => number) {
    this.#client = client;
    this.#table = table;
    this.#now = now;
  }

  /** Absent in a new file. */
  async #read(): Promise<number | undefined> {
    const { Item } = await this.#client.send(
      new GetItemCommand({ TableName: this.#table, Key: KEY, ConsistentRead: true }),
    );
    return Item === undefined ? undefined : Number(Item['at']?.N);
  }

  /** Never rejects: if the write fails, the next process reads an earlier time. */
  async #write(): Promise<void> {
    const Item = { ...KEY, at: { N: String(this.#now()) } };
    await this.#client.send(new PutItemCommand({ TableName: this.#table, Item })).catch(() => undefined);
    this.#isNews = false;
  }

  /** Called after each commit. */
  readonly changed = (): void => {
    this.#isNews = true;
  };

  #keep(): void {
    this.#timer = setInterval(() => {
      this.#quiet = this.#isNews ? 0 : this.#quiet + 1;
      if (this.#quiet % WHEN_IDLE === 0) void this.#write();
    }, EVERY_MS).unref();
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    await this.#write();
  }
}
