/**
 * The command `steadfast serve`.
 *
 * Owns: its options and its help. Does not own: the start of the server (`run.ts`).
 */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Cli, portOf } from '../io.ts';

export const DEFAULT_FILE = '.steadfast/serve.db';

/** Read early, because the parent may end during the start. */
const PARENT = process.ppid;

export interface ServeFlags {
  readonly data: string;
  readonly port: number;
  readonly host?: string;
  readonly tokens?: string;
  readonly concurrency: number;
  readonly agents: 'workers' | 'in-process';
  readonly isolate?: readonly string[];
  readonly workerMemory: number;
  readonly rate?: readonly string[];
  readonly retention: number;
  readonly stopWithin: number;
  readonly eventsTo?: string;
  readonly privateCallbackUrls?: true;
}

export function addServe(program: Command, cli: Cli): void {
  program
    .command('serve [folder]')
    .description('run workflows on one machine: everything in this process, all state in one file')
    .option('--data <file>', 'the file that holds the state', DEFAULT_FILE)
    .option('--port <port>', 'port of the HTTP API; 0 takes any free port', portOf, 4510)
    .option('--host <address>', 'address to listen on; any other than 127.0.0.1 needs tokens')
    .option(
      '--tokens <file>',
      'file with the callers’ tokens, one line "<name> <token> [start,run,read,operate,callback,erase]" each; or set STEADFAST_TOKENS',
    )
    .option(
      '--concurrency <count>',
      'how many attempts of an agent may run at the same time',
      wholeNumber,
      100,
    )
    .addOption(
      new Option('--agents <where>', 'where agents run: in processes apart from the server, or in its own')
        .choices(['workers', 'in-process'])
        .default('workers'),
    )
    .option('--isolate <agents...>', 'run each attempt of these agents in a process of its own')
    .option('--worker-memory <mb>', 'memory that a process of agents may have', wholeNumber, 2_048)
    .option('--rate <limits...>', 'how many attempts of an agent may begin: <agent>=50/s or <agent>=30/min')
    .option('--retention <days>', 'how long an ended execution is kept', wholeNumber, 30)
    .option('--stop-within <seconds>', 'how long attempts may go on after SIGTERM', wholeNumber, 20)
    .option(
      '--events-to <url>',
      'POST each event there, signed with STEADFAST_EVENTS_SECRET: docs/SERVE.md#events',
    )
    .option('--private-callback-urls', 'a callbackUrl may name this machine or a private network')
    .addHelpText(
      'after',
      `
The folder contains a workflow.ts, or folders that do: directly, in workflows/ or in examples/.

Examples:
  $ npx steadfast serve
  $ npx steadfast serve workflows/nightly-report --data /var/lib/reports.db
  $ npx steadfast serve --host 0.0.0.0 --tokens /etc/steadfast/tokens

SIGTERM or Ctrl-C stops it: no new attempt begins, and those under way get --stop-within to finish. A second
signal ends the process at once. The next start continues from the same state: docs/SERVE.md.`,
    )
    .action(async (folder: string | undefined, flags: ServeFlags) => {
      // Imported only here, because other commands do not need a server.
      const { serve } = await import('./run.ts');
      cli.exitCode = await serve(folder ?? '.', flags, cli.io, PARENT);
    });
}

function wholeNumber(text: string): number {
  if (/^[1-9][0-9]{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('give a whole number of at least 1.');
}
