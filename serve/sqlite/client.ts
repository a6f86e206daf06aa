/**
 * A client of DynamoDB that answers from a file: the seam at which everything above it stays the code that
 * runs on AWS.
 *
 * Owns: which command is answered by what. Does not own: the commands (`commands.ts`, `pages.ts`), the file
 * (`file.ts`), when is committed (`group.ts`), when what has expired goes (its caller).
 *
 *     const { client, expire, close } = openDatabase('steadfast.db');
 *     dynamoStore(client, { table: TABLE_NAME, wakeShards: 8 });
 *
 * Writes are answered after their commit, which holds all writes of one turn of the event loop. Reads, all of
 * them strongly consistent, see what is committed. A page after which there is more is answered in the next
 * turn: whoever reads on and on lets others act in between.
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

/** A file has one table, and this is its name unless the caller says otherwise. */
export const TABLE_NAME = 'steadfast';

export interface DatabaseOptions {
  /** @default TABLE_NAME */
  readonly table?: string;
  /** Bounds the file, in pages of 8 KB: behind it the disk counts as full. @default as large as the disk */
  readonly mostPages?: number;
  /** Makes the error for a file in trouble, such as a full disk. @default the error as it is */
  readonly worded?: (trouble: Error) => Error;
  /** Is called once, when the disk can no longer be read or written: all further commands are rejected. */
  readonly onBroken?: (error: Error) => void;
  /** Nothing of a commit was written because of the file's state: an error's code, and a few words. */
  readonly onFailed?: (failure: { readonly code: string; readonly message: string }) => void;
  readonly onCommitted?: () => void;
  /** Before each commit: what it throws counts as said by the disk. */
  readonly onCommit?: () => void;
}

export interface Database {
  /** It has two methods of the SDK's client: `send`, for the commands of our adapters, and `destroy`. */
  readonly client: DynamoDBClient;
  /** Removes what has expired by then, some thousand items at a time. @returns how many have gone */
  readonly expire: (nowAt: number) => Promise<number>;
  /**
   * How many items such partitions of the list's index have, and how many whose second key begins so: by the
   * index alone, which takes a fiftieth of reading them.
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
  /** Commits what waits, then closes the file and gives up the lock. */
  readonly close: () => void;
}

/** Items of one call of `expire`: some 20 ms. */
const MOST_EXPIRED = 2_000;

/**
 * @param file created if it is not there; IN_MEMORY: none
 * @throws FileRefused, in a sentence: open elsewhere, not ours, newer, cut short
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
