/**
 * A DynamoDB client that answers from a file, so that all code above it is the code that runs on AWS.
 *
 * Owns: which function answers which command. Does not own: the commands (`commands.ts`, `pages.ts`), the
 * file (`file.ts`), the time of commits (`group.ts`), when expired items are removed (its caller).
 *
 *     const { client, expire, close } = openDatabase('steadfast.db');
 *     dynamoStore(client, { table: TABLE_NAME, wakeShards: 8 });
 *
 * A write is answered after its commit. One commit contains all writes of one turn of the event loop. Reads
 * are strongly consistent and see what is committed. A page that is not the last is answered in the next
 * turn: a caller that reads page after page lets others act in between.
 */

import {
  BatchGetItemCommand,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { TABLE } from '../../lib/aws/names.ts';
import { get, getBatch, put, remove, transact } from './commands.ts';
import { IN_MEMORY, openFile } from './file.ts';
import { CommitGroup } from './group.ts';
import { type Page, query, scan } from './pages.ts';
import { invalid, noSuchTable } from './refusals.ts';
import { Table } from './table.ts';
import type { Item } from './values.ts';

/** The name of a file's only table, unless the caller chooses another. */
export const TABLE_NAME = 'steadfast';

export interface DatabaseOptions {
  /** @default TABLE_NAME */
  readonly table?: string;
  /** The most pages of 8 KB; a larger file counts as a full disk. @default no limit */
  readonly mostPages?: number;
  /**
   * Makes the error that callers get if the file fails, such as on a full disk. @default the unchanged error
   */
  readonly worded?: (trouble: Error) => Error;
  /** Called once if the disk can no longer be read or written: all further commands are rejected. */
  readonly onBroken?: (error: Error) => void;
  /** Called with a code and a few words if the file's state prevented a commit. */
  readonly onFailed?: (failure: { readonly code: string; readonly message: string }) => void;
  readonly onCommitted?: () => void;
  /** Called before each commit: an error that it throws counts as the disk's. */
  readonly onCommit?: () => void;
}

export interface Database {
  /** It has only two methods: `send`, for the commands of our adapters, and `destroy`. */
  readonly client: DynamoDBClient;
  /** Removes items that have expired by then, some thousand at a time. @returns how many were removed */
  readonly expire: (nowAt: number) => Promise<number>;
  /**
   * Counts the items in these partitions of the list's index, and those whose sort key has this prefix. It
   * reads only the index, in a fiftieth of the time of reading the items.
   */
  readonly counted: (partitions: readonly string[], prefix: string) => readonly [number, number];
  /**
   * Finds executions at risk: SQLite takes a tenth of the time that reading and parsing all open ones takes.
   * Other calls may act between two partitions.
   */
  readonly findAtRisk: (
    partitions: readonly string[],
    when: { readonly at: number; readonly dueBefore: number },
    most: number,
  ) => Promise<readonly Item[]>;
  /** Commits waiting writes, then closes the file and releases the lock. */
  readonly close: () => void;
}

/** The most items that one call of `expire` removes: this takes some 20 ms. */
const MOST_EXPIRED = 2_000;

/**
 * @param file created if it does not exist; IN_MEMORY: none
 * @throws FileRefused if it is open elsewhere, not ours, newer or truncated
 */
export function openDatabase(file: string = IN_MEMORY, options: DatabaseOptions = {}): Database {
  const { table: name = TABLE_NAME, mostPages, onBroken = nothing } = options;
  const { worded = (trouble) => trouble, onCommit = nothing } = options;
  const onRemoved = (error: Error): void => group.fail(error);
  const { db, committing, committed, mayGrow, close } = openFile(file, { mostPages, onRemoved });
  const table = new Table(db);
  const group = new CommitGroup(db, {
    worded,
    committing: () => {
      committing();
      onCommit();
    },
    broken: onBroken,
    mayGrow,
    takenBack: () => table.forget(),
    failed: ({ error, state }) => {
      if (state !== undefined) options.onFailed?.({ code: error.name, message: state });
    },
    committed: () => {
      committed();
      options.onCommitted?.();
    },
  });
  const send = async (command: Sent): Promise<unknown> => {
    const { answer, isWrite } = COMMANDS.get(command.constructor) ?? unknownCommand(command);
    const { TableName = name } = command.input;
    if (TableName !== name) throw noSuchTable();
    if (isWrite) return group.write(answer(table, command.input as never, name) as () => unknown);
    const found = group.read(() => answer(table, command.input as never, name)) as Page;
    if (found.LastEvaluatedKey !== undefined) await nextTurn();
    return found;
  };
  let isOpen = true;
  return {
    client: { send, destroy: () => undefined } as unknown as DynamoDBClient,
    expire: (nowAt) => group.write(() => table.expire(Math.floor(nowAt / 1_000), MOST_EXPIRED)),
    counted: (partitions, prefix) => group.read(() => table.counted(TABLE.listIndex, partitions, prefix)),
    findAtRisk: async (partitions, { at, dueBefore }, most) => {
      const items: Item[] = [];
      for (const one of partitions) {
        items.push(...group.read(() => table.atRisk(one, at, dueBefore, most - items.length)));
        if (items.length >= most) break;
        await nextTurn();
      }
      return items;
    },
    close: () => {
      if (!isOpen) return;
      isOpen = false;
      group.end();
      close();
    },
  };
}

interface Sent {
  readonly input: { readonly TableName?: string };
  readonly constructor: unknown;
}

interface Known {
  readonly answer: (table: Table, input: never, name: string) => unknown;
  readonly isWrite: boolean;
}

const read = (answer: Known['answer']): Known => ({ answer, isWrite: false });
const write = (answer: Known['answer']): Known => ({ answer, isWrite: true });

const COMMANDS: ReadonlyMap<unknown, Known> = new Map<unknown, Known>([
  [GetItemCommand, read(get)],
  [BatchGetItemCommand, read((table, input, name) => getBatch(table, name, input))],
  [QueryCommand, read(query)],
  [ScanCommand, read(scan)],
  [PutItemCommand, write(put)],
  [DeleteItemCommand, write(remove)],
  [TransactWriteItemsCommand, write((table, input, name) => transact(table, name, input))],
]);

function unknownCommand(command: Sent): never {
  throw invalid(`${(command.constructor as { readonly name?: string }).name ?? 'this'} is not answered here`);
}

const nothing = (): void => undefined;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
