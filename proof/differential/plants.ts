/**
 * Differences planted between a table and the one that it is compared with: each must be found.
 *
 * Owns: how each changes commands and answers on their way.
 */

import {
  BatchGetItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { INDEXES } from '../../lib/aws/names.ts';
import type { Item } from '../../serve/sqlite/values.ts';
import type { Send } from './answers.ts';

interface Page {
  readonly Items?: readonly Item[];
  readonly Count: number;
  readonly LastEvaluatedKey?: Item;
}

/** Changes queries, or the pages that answer them. */
const onQuery =
  (change: (page: Page, input: QueryCommandInput, send: Send) => object | Promise<object>, ask = same) =>
  (send: Send): Send =>
  async (command) => {
    if (!(command instanceof QueryCommand)) return send(command);
    const page = (await send(new QueryCommand(ask(command.input)))) as Page;
    return change(page, command.input, send);
  };

function same(input: QueryCommandInput): QueryCommandInput {
  return input;
}

/** Changes refusals. */
const onRefusal =
  (change: (error: Record<string, unknown>) => void) =>
  (send: Send): Send =>
  async (command) => {
    try {
      return await send(command);
    } catch (error) {
      change(error as Record<string, unknown>);
      throw error;
    }
  };

const sortOf = (input: QueryCommandInput): string =>
  INDEXES.find(({ name }) => name === input.IndexName)?.sk ?? 'sk';

const limitOf = (input: QueryCommandInput, by: number): QueryCommandInput =>
  input.Limit === undefined ? input : { ...input, Limit: input.Limit + by };

export const PLANTS: Readonly<Record<string, (send: Send) => Send>> = {
  'a page in the other order': onQuery(
    (page) => page,
    (input) => ({
      ...input,
      ScanIndexForward: input.ScanIndexForward === false,
    }),
  ),
  'a limit that is off by one': onQuery(
    (page) => page,
    (input) => limitOf(input, 1),
  ),
  'no key to go on from where a page has as many as its limit': onQuery(
    ({ LastEvaluatedKey, ...page }, { Limit }) =>
      page.Items?.length === Limit ? page : { ...page, ...(LastEvaluatedKey && { LastEvaluatedKey }) },
  ),
  'numbers sorted as text': onQuery((page, input) => {
    if (input.IndexName === undefined || page.Items === undefined) return page;
    const text = (item: Item): string => item[sortOf(input)]?.N ?? '';
    return { ...page, Items: page.Items.toSorted((a, b) => (text(a) < text(b) ? -1 : 1)) };
  }),
  'an index that has all of an item': onQuery(async (page, { IndexName, TableName }, send) => {
    if (IndexName === undefined || page.Items === undefined) return page;
    const whole = page.Items.map(async ({ pk, sk }) => {
      const found = (await send(new GetItemCommand({ TableName, Key: { pk, sk } as Item }))) as {
        readonly Item?: Item;
      };
      return found.Item;
    });
    return { ...page, Items: await Promise.all(whole) };
  }),
  'a count of what was read': onQuery((page, { Select }) =>
    Select === 'COUNT' ? { ...page, Count: (page as Page & { ScannedCount: number }).ScannedCount } : page,
  ),
  'a condition that is checked after the write': (send) => async (command) => {
    if (!(command instanceof PutItemCommand) || command.input.ConditionExpression === undefined)
      return send(command);
    const { TableName, Item: item } = command.input;
    await send(new PutItemCommand({ TableName, Item: item }));
    return send(command);
  },
  'a transaction that is made part by part': (send) => async (command) => {
    if (!(command instanceof TransactWriteItemsCommand)) return send(command);
    for (const part of command.input.TransactItems ?? [])
      await send(new TransactWriteItemsCommand({ TransactItems: [part] }));
    return {};
  },
  'a reason without what was stored': onRefusal((error) => {
    const reasons = error['CancellationReasons'] as Record<string, unknown>[] | undefined;
    for (const reason of reasons ?? []) delete reason['Item'];
  }),
  'a failed condition without what was stored': onRefusal((error) => delete error['Item']),
  'an item that is too large and kept': (send) => async (command) => {
    try {
      return await send(command);
    } catch (error) {
      if (/Item size/.test((error as Error).message)) return {};
      throw error;
    }
  },
  'a batch without its last': (send) => async (command) => {
    const output = await send(command);
    if (!(command instanceof BatchGetItemCommand)) return output;
    const { Responses = {} } = output as { readonly Responses?: Record<string, readonly Item[]> };
    const cut = Object.entries(Responses).map(([table, items]) => [table, items.slice(0, -1)]);
    return { Responses: Object.fromEntries(cut) };
  },
};
