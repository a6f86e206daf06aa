/**
 * `steadfast export` and `steadfast import`: from one machine to AWS, or to the local cloud.
 *
 * Owns: their options, and that an item is taken in once. Does not own: the file (`serve/export.ts`), the
 * order of what is taken in (`in-order.ts`).
 */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { TABLE } from '../../lib/aws/names.ts';
import { CallError, type Calls, callsOf } from '../aws/calls.ts';
import { examples, say } from '../commands.ts';
import { type Cli, CliError, EXIT, messageOf } from '../io.ts';
import type { ValueLine } from '../../serve/export.ts';
import { DEFAULT_FILE } from './command.ts';
import { inOrder, type Line } from './in-order.ts';

/** Writes under way at a time. */
const LANES = 16;

export function addMove(program: Command, cli: Cli): void {
  program
    .command('export <to>')
    .description('write all state of steadfast serve as items of DynamoDB, and close its file for good')
    .option('--data <file>', 'the file that holds the state', DEFAULT_FILE)
    .addHelpText('after', examples('export items.jsonl', 'export items.jsonl --data /var/lib/reports.db'))
    .action(async (to: string, { data }: { readonly data: string }, command: Command) => {
      if (!existsSync(data))
        throw new CliError('no-file', `${data} does not exist: name the file with --data`);
      const { exportTo } = await import('../../serve/export.ts');
      const items = await exportTo(resolve(data), to, Date.now()).catch((error: unknown) => {
        throw new CliError('export', messageOf(error), EXIT.failed);
      });
      say(cli, command, { items, to }, () => `${items} items are in ${to}. ${data} is closed for good.\n`);
    });
  program
    .command('import <from>')
    .description('write an export of steadfast serve into the table of a deployment')
    .requiredOption('--table <name>', 'the state table, which may already have executions')
    .option('--values <bucket>', 'the bucket of large values, if the file has any')
    .addHelpText(
      'after',
      `\nIt calls AWS, or the endpoint in AWS_ENDPOINT_URL, with your credentials. Existing items are not changed.
${examples('import items.jsonl --table Steadfast-prod-State --region eu-central-1')}`,
    )
    .action(async (from: string, { table, values }: ImportFlags, command: Command) => {
      const calls = callsOf(cli, command);
      const put = values === undefined ? undefined : await valuesInto(cli, calls, values);
      const groups = await inOrder(from, cli.io.err);
      const { taken, there } = await takeIn(calls, groups, table, put);
      say(cli, command, { taken, there }, () => `${taken} items were imported; ${there} already existed.\n`);
    });
}

interface ImportFlags {
  readonly table: string;
  readonly values?: string;
}

type Put = (line: ValueLine) => Promise<void>;

async function valuesInto({ io }: Cli, { region }: Calls, bucket: string): Promise<Put> {
  const into = await import('../../serve/import-values.ts');
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
  const endpoint = io.env['AWS_ENDPOINT_URL'];
  return into.valuesInto({
    bucket,
    region: async () => region,
    credentials: defaultProvider(),
    ...(endpoint ? { endpoint } : {}),
  });
}

async function takeIn(
  calls: Calls,
  all: Awaited<ReturnType<typeof inOrder>>,
  TableName: string,
  put: Put | undefined,
): Promise<{ readonly taken: number; readonly there: number }> {
  const ConditionExpression = `attribute_not_exists(${TABLE.pk})`;
  let [taken, there] = [0, 0];
  const take = async (Item: Line): Promise<void> => {
    if ('largeValue' in Item) {
      if (put !== undefined) return await put(Item);
      throw new CliError(
        'no-bucket',
        "the export has large values: name the deployment's bucket with --values",
      );
    }
    try {
      await calls.json('dynamodb', 'PutItem', { TableName, Item, ConditionExpression });
      taken += 1;
    } catch (error) {
      if (!(error instanceof CallError) || !error.message.includes('ConditionalCheckFailed')) throw error;
      there += 1;
    }
  };
  for (const groupsOf of all) {
    const groups = groupsOf();
    // One that fails ends the others.
    const lane = async (): Promise<void> => {
      for await (const group of groups) for (const line of group) await take(line);
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  }
  return { taken, there };
}
