/**
 * A table's answer to a command, in a form that can be compared with another table's.
 *
 * Owns: what is compared. Not compared: texts of errors, the order of a scan and of a batch, and, for a page
 * that ended by its size, how much was read: the embedded DynamoDB counts the item that it left out.
 */

import {
  BatchGetItemCommand,
  type CancellationReason,
  type DynamoDBClient,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import type { Item } from '../../serve/sqlite/values.ts';
import type { AnyCommand } from './commands.ts';

export type Answer =
  | { readonly answered: unknown }
  | { readonly refused: string; readonly item?: Item; readonly reasons?: readonly CancellationReason[] };

/** How many pages of one query are read. */
const MAX_PAGES = 40;

export type Send = (command: AnyCommand) => Promise<object>;
export const sendBy =
  (client: DynamoDBClient): Send =>
  async (command) => {
    const { $metadata: _, ...output } = await client.send(command as BatchGetItemCommand);
    return output;
  };

export async function answerOf(send: Send, command: AnyCommand): Promise<Answer> {
  try {
    return { answered: await answered(send, command) };
  } catch (error) {
    const {
      name,
      Item: item,
      CancellationReasons: reasons,
    } = error as {
      readonly name: string;
      readonly Item?: Item;
      readonly CancellationReasons?: readonly CancellationReason[];
    };
    return { refused: name, ...(item && { item }), ...(reasons && { reasons: reasons.map(bare) }) };
  }
}

const bare = ({ Code, Item: item }: CancellationReason): CancellationReason => ({
  ...(Code !== undefined && { Code }),
  ...(item && { Item: item }),
});

interface Page {
  readonly Items?: readonly Item[];
  readonly Count: number;
  readonly ScannedCount: number;
  readonly LastEvaluatedKey?: Item;
}

async function answered(send: Send, command: AnyCommand): Promise<unknown> {
  if (command instanceof QueryCommand) return pagesOf(send, command);
  if (command instanceof ScanCommand) {
    const pages = await pagesOf(send, command);
    return sorted(pages.flatMap(({ Items = [] }) => Items));
  }
  const output = await send(command);
  if (!(command instanceof BatchGetItemCommand)) return output;
  const { Responses = {} } = output as { readonly Responses?: Record<string, readonly Item[]> };
  return sorted(Object.values(Responses).flat());
}

const sorted = (items: readonly Item[]): readonly string[] =>
  items
    .map((item) => JSON.stringify(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1))))
    .toSorted();

async function pagesOf(send: Send, command: QueryCommand | ScanCommand): Promise<Page[]> {
  const pages: Page[] = [];
  let from: Item | undefined;
  do {
    const input = { ...command.input, ...(from && { ExclusiveStartKey: from }) };
    const next = command instanceof QueryCommand ? new QueryCommand(input) : new ScanCommand(input);
    const page = (await send(next)) as Page;
    from = page.LastEvaluatedKey;
    const isCutBySize = from !== undefined && page.ScannedCount !== command.input.Limit;
    pages.push(isCutBySize ? { ...page, ScannedCount: -1 } : page);
  } while (from !== undefined && pages.length < MAX_PAGES);
  return pages;
}
