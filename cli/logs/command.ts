/**
 * `steadfast logs`: prints an execution's log lines, from all functions, in the order of time.
 *
 * Owns: its options, where the lines are read, when following ends. Does not own: reading them
 * (`local-files.ts`, `insights.ts`), their layout (`lib/view/log-line.ts`).
 */

import { type Command, Option } from 'commander';
import type { ExecutionView } from '../../lib/api/answers.ts';
import type { Client } from '../../lib/api/client.ts';
import { callsOf } from '../aws/calls.ts';
import { checkedStack } from '../aws/tagged.ts';
import { client, examples } from '../commands.ts';
import { DEFAULT_DATA, logsIn } from '../dev/dev-folder.ts';
import { type Cli, CliError, type Clock, CLOCK, DEFAULT_URL, RUNNING } from '../io.ts';
import { type Times, timesOf, writtenTime } from '../written-times.ts';
import { Insights, insightsOf, MOST_LINES } from './insights.ts';
import {
  type Level,
  LEVELS,
  linesOf,
  lineText,
  type LogLine,
  type LogSource,
  type Wanted,
} from '../../lib/view/log-line.ts';
import { LocalFiles } from './local-files.ts';

interface Flags {
  readonly follow?: true;
  readonly children?: true;
  readonly level: Level;
  readonly since?: string;
  readonly data: string;
  readonly stack?: string;
}

const ID = '0f343b0931126a20f133d67c2b018a3b';
const HELP = `
For a system on this machine it reads the files in --data. For a deployment it queries CloudWatch Logs, which
costs $0.005 per GB that its log groups hold of that time (us-east-1), and prints up to ${MOST_LINES.toLocaleString('en')} lines.
${examples(
  `logs ${ID}`,
  `logs ${ID} --follow --children`,
  `logs ${ID} --level warn --since 30m --stack Steadfast-prod --url https://….execute-api.eu-central-1.amazonaws.com`,
)}`;

export function addLogs(program: Command, cli: Cli): void {
  program
    .command('logs')
    .argument('<id>', 'the id of the execution, or its first or last characters')
    .description('print the log lines of an execution from all functions, oldest first')
    .option('-f, --follow', 'keep printing new lines until the execution ends')
    .option('--children', 'also print lines of its child executions')
    .addOption(new Option('--level <level>', 'this level and above').choices(LEVELS).default('trace'))
    .option(
      '--since <when>',
      'only lines from this time on: 30m (ago), 09:30 (the latest), 2026-01-31 or 2026-01-31T09:30Z',
      writtenTime,
    )
    .option(
      '--data <folder>',
      'for an API on this machine: the data folder it was started with',
      DEFAULT_DATA,
    )
    .option('--stack <name>', 'for an API on AWS: the name of its CloudFormation stack')
    .addHelpText('after', HELP)
    .action(async (id: string, flags: Flags, command: Command) => {
      const api = client(command);
      const place = placeOf(command, api, flags);
      const view = await api.get(id);
      const wanted = wantedOf(flags, await timesOf(command, flags));
      const source =
        place === 'aws' ? insights(cli, command, flags, view, wanted) : files(flags, view, wanted);
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      let count = 0;
      const print = (lines: readonly LogLine[]): void => {
        count += lines.length;
        for (const line of lines)
          cli.io.out(json === true ? `${JSON.stringify(line)}\n` : lineText(line, view.executionId));
      };
      print(await source.next());
      if (flags.follow === true && view.endedAt === undefined)
        await follow({ api, id, source, print, clock: CLOCK, ...FOLLOW[place] });
      if (count === 0) cli.io.err(nothingText(flags));
      if (source instanceof Insights) sayCost(cli, source);
    });
}

const FOLLOW = {
  files: { everyMs: 1_000, settleMs: 500 },
  // A line appears in CloudWatch some seconds after it was written.
  aws: { everyMs: 5_000, settleMs: 15_000 },
} as const;

export interface Following {
  readonly api: Pick<Client, 'get'>;
  readonly id: string;
  readonly source: LogSource;
  readonly print: (lines: readonly LogLine[]) => void;
  readonly clock: Clock;
  /**
   * The time between two reads. The API's `?wait` is not used, because it would occupy one of its processes
   * all the time.
   */
  readonly everyMs: number;
  /** The time after the end until the last lines have arrived. */
  readonly settleMs: number;
}

/**
 * Prints new lines until the execution has ended. Every execution ends, because its workflow has a time
 * limit.
 */
export async function follow({ api, id, source, print, clock, everyMs, settleMs }: Following): Promise<void> {
  for (;;) {
    const view = await api.get(id);
    print(await source.next());
    if (view.endedAt !== undefined) break;
    await clock.sleep(everyMs);
  }
  await clock.sleep(settleMs);
  print(await source.next());
}

const isHere = (url: string): boolean => ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);

/** @throws CliError `no-stack-given`, `no-url` */
function placeOf(command: Command, { url }: Client, { stack }: Flags): 'aws' | 'files' {
  if (stack === undefined) {
    if (isHere(url)) return 'files';
    throw new CliError(
      'no-stack-given',
      `${url} is not on this machine: name the stack whose log groups to read: --stack <name>`,
    );
  }
  checkedStack(stack);
  const isGiven = command.getOptionValueSourceWithGlobals('url') !== RUNNING && url !== DEFAULT_URL;
  if (isGiven) return 'aws';
  throw new CliError(
    'no-url',
    `the address of the API is needed, because the API knows when the execution began and ended: add --url <url>, or set STEADFAST_URL (output ApiUrl of stack '${stack}')`,
  );
}

type WantedLines = Omit<Wanted, 'executionId'>;

const wantedOf = ({ children, level }: Flags, { since }: Times): WantedLines => ({
  children: children === true,
  level,
  ...(since === undefined ? {} : { since }),
});

const files = ({ data }: Flags, { executionId }: ExecutionView, wanted: WantedLines): LogSource =>
  new LocalFiles(logsIn(data), linesOf({ executionId, ...wanted }));

const insights = (
  cli: Cli,
  command: Command,
  { stack = '' }: Flags,
  view: ExecutionView,
  wanted: WantedLines,
): Insights => insightsOf({ calls: callsOf(cli, command), clock: CLOCK, stack }, view, wanted);

const nothingText = ({ level, stack }: Flags): string =>
  `no lines${level === 'trace' ? '' : ` from level ${level} on`}: a healthy step logs only at level DEBUG (docs/ALARMS.md says how to switch it on)${
    stack === undefined
      ? '; if this API keeps its data in another folder, name it with --data. steadfast serve keeps no log lines: they are what it prints'
      : ''
  }\n`;

function sayCost({ io }: Cli, { scannedBytes, isCut }: Insights): void {
  if (isCut)
    io.err(`more than ${MOST_LINES} lines: only the first are shown; narrow with --since or --level\n`);
  io.err(`CloudWatch Logs has scanned ${(scannedBytes / 1e6).toFixed(1)} MB\n`);
}
