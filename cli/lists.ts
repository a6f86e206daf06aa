/**
 * The commands `status` and `list`, with the filters.
 *
 * Owns: their options. Does not own: which filters can be combined (the API says so), parsing a time
 * (`text.ts`), the layout (`print-overview.ts`, `print.ts`).
 */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { type ExecutionSummary, type ListOrder, STATUSES } from '../lib/api/answers.ts';
import type { ListOptions } from '../lib/api/call-options.ts';
import type { Client } from '../lib/api/client.ts';
import { client, examples, EXIT_OF, say } from './commands.ts';
import { serverTime } from './server-time.ts';
import { CLOCK, type Cli, type Clock, invocation } from './io.ts';
import { type Found, listText } from './print.ts';
import { overviewText } from './print-overview.ts';
import { type Times, timesOf, writtenTime, type WrittenTimes } from './written-times.ts';

const PAGE = 100;
const MAX_LIMIT = 1_000;
const WATCH_EVERY_MS = 5_000;

interface ListFlags extends Omit<ListOptions, 'limit' | 'cursor' | keyof WrittenTimes>, WrittenTimes {
  readonly limit: number;
}

/** Adds the options that select executions. */
export const withFilter = (command: Command): Command =>
  command
    .option('--workflow <name>', 'only executions of this workflow')
    .addOption(
      new Option(
        '--status <status>',
        'only this status; open: not ended; bad: ended without success',
      ).choices(['open', 'bad', ...STATUSES]),
    )
    .option('--at-risk', 'only executions that may not end well or in time without help')
    .option('--key <key>', 'the execution that was started with this idempotency key; needs --workflow')
    .option('--tag <name:value>', 'only executions with this tag, which a workflow names in its tags')
    .option('--code <code>', 'only executions that ended with this failure code, or have a question about it')
    .option(
      '--plan <hash>',
      "only executions with this plan, or with 'old' any plan but the deployed one; only open executions unless --status is given",
    )
    .option(
      '--since <time>',
      'from this time on: 2h (ago), 09:30 (the latest), 2026-01-31 or 2026-01-31T09:30Z',
      writtenTime,
    )
    .option('--until <time>', 'before this time', writtenTime);

export function addLists(program: Command, cli: Cli, clock: Clock = CLOCK): void {
  withFilter(
    program.command('list').description('list executions: all of them, or those that match the filters'),
  )
    .option('--limit <count>', `how many, 1 to ${MAX_LIMIT}`, countOf, 20)
    .addHelpText(
      'after',
      examples(
        'list',
        'list --at-risk',
        'list --status bad --since 09:00',
        'list --tag orderId:4711',
        'list --plan old',
        'list --code card-declined --workflow hello-greeting',
        'list --workflow hello-greeting --key greeting-1',
        'list --status open --limit 100 --json',
      ),
    )
    .action(async (flags: ListFlags, command: Command) => {
      const found = await collect(client(command), flags, await timesOf(command, flags));
      say(cli, command, found, () => listText(found, serverTime.now()));
    });
  program
    .command('status')
    .description('show on one screen the health, the executions at risk, and the open questions')
    .option(
      '--watch',
      `print it again every ${WATCH_EVERY_MS / 1_000} s until you press Ctrl-C; with --json one line each time`,
    )
    .addHelpText('after', examples('status', 'status --watch', 'status --json'))
    .action(async ({ watch }: { readonly watch?: true }, command: Command) => {
      const api = client(command);
      for (;;) {
        const overview = await api.overview();
        cli.exitCode = EXIT_OF[overview.health.status];
        const { json } = command.optsWithGlobals<{ readonly json?: boolean }>();
        if (watch === true && json === true) cli.io.out(`${JSON.stringify(overview)}\n`);
        else {
          if (watch === true) cli.io.move('clear');
          say(cli, command, overview, () => overviewText(overview, (line) => invocation(command, line)));
        }
        if (watch !== true) return;
        await clock.sleep(WATCH_EVERY_MS);
      }
    });
}

function countOf(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= MAX_LIMIT) return count;
  throw new InvalidArgumentError(`give 1 to ${MAX_LIMIT}.`);
}

/** Reads all pages. A page with few items, or none, may not be the last. */
async function collect(
  api: Client,
  { limit, since: _since, until: _until, ...filter }: ListFlags,
  times: Times,
): Promise<Found> {
  const items: ExecutionSummary[] = [];
  let cursor: string | undefined;
  let orderedBy: ListOrder;
  do {
    const rest = Math.min(PAGE, limit - items.length);
    const page = await api.list({
      ...filter,
      ...times,
      limit: rest,
      ...(cursor === undefined ? {} : { cursor }),
    });
    items.push(...page.items);
    ({ cursor, orderedBy } = page);
  } while (cursor !== undefined && items.length < limit);
  return { items, more: cursor !== undefined, orderedBy };
}
