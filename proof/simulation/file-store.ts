/**
 * A world's store over a SQLite file: the store of `serve` gets the same requests as the table in memory.
 *
 * Owns: the requests, comparing both answers, and whether an answer is pending. Does not own: the stack
 * (`serve/sqlite`, `serve/known-executions.ts`), the records for judging.
 *
 * Roles get the file's answers. It answers in turns of the event loop, so the world stops until then
 * (`run.ts`), and a seed has the same world over either store. Pages and cursors differ.
 */

import { isDeepStrictEqual } from 'node:util';
import { DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import { executionKey } from '../../lib/aws/dynamo-items.ts';
import { dynamoMailboxes } from '../../lib/aws/dynamo-mailboxes.ts';
import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Due, Mailboxes, Page, Store } from '../../lib/core/ports.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import { knownExecutions } from '../../serve/known-executions.ts';
import { type Database, openDatabase, TABLE_NAME } from '../../serve/sqlite/client.ts';
import type { WorldIndex } from './world-table.ts';

export class FileStore {
  readonly #database: Database = openDatabase();
  readonly #shards: number;
  readonly #index: WorldIndex;
  readonly #differs: (problem: string) => void;
  readonly #mailboxes: Mailboxes;
  #store: Store;
  #asked = 0;

  constructor(shards: number, index: WorldIndex, differs: (problem: string) => void) {
    this.#shards = shards;
    this.#index = index;
    this.#differs = differs;
    const tables = { table: TABLE_NAME, wakeShards: shards };
    this.#mailboxes = dynamoMailboxes(this.#database.client, tables, async () => undefined);
    this.#store = this.#opened();
  }

  /** Whether an answer is pending. */
  get isAsked(): boolean {
    return this.#asked > 0;
  }

  ask<Answer>(call: (store: Store, mailboxes: Mailboxes) => Promise<Answer>): Promise<Answer> {
    this.#asked += 1;
    const answer = call(this.#store, this.#mailboxes).finally(() => {
      this.#asked -= 1;
    });
    // Prevents an unhandled rejection, because the calling process may be dead.
    answer.catch(() => undefined);
    return answer;
  }

  /** Makes the same call to the file, and compares its answer with the table's. */
  same<Answer>(
    expected: Answer,
    call: (store: Store, mailboxes: Mailboxes) => Promise<Answer>,
  ): Promise<Answer> {
    return this.ask(async (store, mailboxes) => {
      const answer = await call(store, mailboxes);
      const [own, other] = [withInput(answer, expected), withInput(expected, answer)];
      if (!isDeepStrictEqual(own, other)) this.#differs(difference(own, other));
      return answer;
    });
  }

  /** Converts the write to the table's form, in which the input is in the record. */
  inTable(write: Write, stored: Execution | undefined): Write {
    const { execution } = write;
    if (execution === undefined || stored === undefined) return write;
    return { ...write, execution: withInput(execution, stored) };
  }

  /** The index may show an older state. */
  due(store: Store, shard: number, untilAt: number, cursor: string | undefined): Promise<Page<Due>> {
    return store.due(shard, untilAt - this.#index.lagMs(), cursor, this.#index.page);
  }

  /** Removes an expired execution, and forgets it as a new process would. */
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

/** Moves an execution's input to where the other answer has it: in the record or beside it. */
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

/** The first difference between two answers, with its path. */
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
