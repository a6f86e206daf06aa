/**
 * A world's store over a SQLite file: the store of `serve`, asked the same as the table in memory.
 *
 * Owns: its requests, that both answer the same, and whether an answer is still to come. Does not own: the
 * stack (`serve/sqlite`, `serve/known-executions.ts`), the records by which the world judges.
 *
 * Roles get the answers of the file. It answers in turns of the event loop, so a world stops until then
 * (`run.ts`): the same seed is the same world over either. Pages and their cursors are its own.
 */

import { isDeepStrictEqual } from 'node:util';
import { DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import { executionKey } from '../../lib/aws/dynamo-items.ts';
import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Due, Page, Store } from '../../lib/core/ports.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import { knownExecutions } from '../../serve/known-executions.ts';
import { type Database, openDatabase, TABLE_NAME } from '../../serve/sqlite/client.ts';
import type { WorldIndex } from './world-table.ts';

export class FileStore {
  readonly #database: Database = openDatabase();
  readonly #shards: number;
  readonly #index: WorldIndex;
  readonly #differs: (problem: string) => void;
  #store: Store;
  #asked = 0;

  constructor(shards: number, index: WorldIndex, differs: (problem: string) => void) {
    this.#shards = shards;
    this.#index = index;
    this.#differs = differs;
    this.#store = this.#opened();
  }

  /** An answer is still to come. */
  get isAsked(): boolean {
    return this.#asked > 0;
  }

  ask<Answer>(call: (store: Store) => Promise<Answer>): Promise<Answer> {
    this.#asked += 1;
    const answer = call(this.#store).finally(() => {
      this.#asked -= 1;
    });
    // The process that asked may be dead by now.
    answer.catch(() => undefined);
    return answer;
  }

  /** Asks the file what the table in memory has answered. */
  same<Answer>(expected: Answer, call: (store: Store) => Promise<Answer>): Promise<Answer> {
    return this.ask(async (store) => {
      const answer = await call(store);
      const [own, other] = [withInput(answer, expected), withInput(expected, answer)];
      if (!isDeepStrictEqual(own, other)) this.#differs(difference(own, other));
      return answer;
    });
  }

  /**
   * The write as the table in memory stores it: it has no input beside a record, and so none that a writer
   * has not read.
   */
  inTable(write: Write, stored: Execution | undefined): Write {
    const { execution } = write;
    if (execution === undefined || stored === undefined) return write;
    return { ...write, execution: withInput(execution, stored) };
  }

  /** The index may show an older state. */
  due(store: Store, shard: number, untilAt: number, cursor: string | undefined): Promise<Page<Due>> {
    return store.due(shard, untilAt - this.#index.lagMs(), cursor, this.#index.page);
  }

  /** Simulates the end of its retention, and a process that has begun since. */
  expire(executionId: string): void {
    const gone = new DeleteItemCommand({ TableName: TABLE_NAME, Key: executionKey(executionId) });
    void this.ask(() => this.#database.client.send(gone));
    this.#store = this.#opened();
  }

  close(): void {
    this.#database.close();
  }

  #opened(): Store {
    const options = { table: TABLE_NAME, wakeShards: this.#shards, log: { note: () => undefined } };
    return knownExecutions(dynamoStore(this.#database.client, options));
  }
}

/**
 * The execution, read alone or not, with its input where the other has it: within the record or beside it.
 */
function withInput<Answer>(answer: Answer, other: Answer): Answer {
  if (typeof answer !== 'object' || answer === null) return answer;
  if ('execution' in answer) {
    const own = answer.execution as Execution;
    const { execution } = (other ?? {}) as { readonly execution?: Execution };
    return { ...answer, execution: withInput(own, execution ?? own) };
  }
  if (!('input' in answer)) return answer;
  const { inputKey, ...rest } = answer as unknown as Execution;
  const { input = null } = (other ?? {}) as Partial<Execution>;
  const isBeside = inputKey !== undefined && rest.input === null;
  return (isBeside ? { ...rest, input } : rest) as Answer;
}

/** The first difference between them, and its place. */
function difference(answer: unknown, expected: unknown, at = ''): string {
  const [own, other] = [
    Object(answer) as Record<string, unknown>,
    Object(expected) as Record<string, unknown>,
  ];
  const isObject = typeof answer === 'object' && typeof expected === 'object';
  const name = isObject
    ? Object.keys({ ...own, ...other }).find((one) => !isDeepStrictEqual(own[one], other[one]))
    : undefined;
  if (name !== undefined) return difference(own[name], other[name], `${at}.${name}`);
  return `the file answers${at} ${JSON.stringify(answer)} and not ${JSON.stringify(expected)}`;
}
