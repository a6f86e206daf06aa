/**
 * Runs a command line: takes arguments, writes text, returns an exit code.
 *
 * Owns: the options that all commands share, and the text and exit code of every error. Does not own: the
 * commands (`all-commands.ts`).
 */

import { Command, CommanderError } from 'commander';
import { ApiError } from '../lib/api/client.ts';
import { packageVersion } from '../lib/project/package-files.ts';
import { runningApi } from './dev/dev-folder.ts';
import { addServe } from './serve/command.ts';
import {
  CliError,
  type Cli,
  DEFAULT_URL,
  EXIT,
  invocation,
  ioOf,
  messageOf,
  RUNNING,
  type Terminal,
} from './io.ts';

const AFTER_HELP = `
Examples:
  $ npx steadfast dev
  $ npx steadfast start hello-greeting --input @input.json --wait
  $ npx steadfast status
  $ npx steadfast list --status bad --since 09:00
  $ npx steadfast show 0f343b0931126a20f133d67c2b018a3b --json

Exit codes:
  0  done
  1  refused by the API, or failed
  2  wrong usage
  3  no API answers
  4  the execution waited for did not succeed, or the deployment is not healthy`;

/** @returns the exit code; never rejects */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const cli: Cli = { io: ioOf(terminal), exitCode: EXIT.ok };
  const program = await programOf(args, cli);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return cli.exitCode;
  } catch (error) {
    return fail(error, cli, program, args.includes('--json'));
  }
}

async function programOf(args: readonly string[], cli: Cli): Promise<Command> {
  const { io } = cli;
  const program = new Command('steadfast')
    .description('Multi-step processes that finish or are cleanly undone, and are never silently stuck.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .option(
      '--url <url>',
      'address of the API; default: STEADFAST_URL, or the steadfast dev that runs in this folder',
      DEFAULT_URL,
    )
    .option(
      '--region <region>',
      'sign requests for this AWS region (read from the URL if it is at amazonaws.com)',
    )
    .option(
      '--as <name>',
      'on this machine: the name to act under, recorded as local:<name>; a deployed API refuses it',
    )
    .option('--json', 'print the API’s answer as JSON instead of text for people')
    .helpCommand('help [command]', 'print the help of a command')
    .helpOption('-h, --help', 'print this help')
    .addHelpText('after', AFTER_HELP)
    .showHelpAfterError('(add --help for the options and for examples)')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: io.out, writeErr: io.err })
    .exitOverride();
  const running = runningApi(process.cwd());
  const { STEADFAST_URL: url } = io.env;
  if (url !== undefined && url !== '') program.setOptionValueWithSource('url', url, 'env');
  else if (running !== undefined) program.setOptionValueWithSource('url', running, RUNNING);
  // The token is not an option, because other users of the machine can read command lines.
  program.setOptionValue('token', io.env['STEADFAST_TOKEN'] || undefined);
  if (args[0] === 'serve') addServe(program, cli);
  // Imported only here, so that a server starts without loading the other commands.
  else (await import('./all-commands.ts')).addAll(program, cli);
  return program;
}

function fail(error: unknown, { io }: Cli, program: Command, json: boolean): number {
  // Commander has printed the error. Its exit code for wrong usage differs from ours.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const { code, message, details, exit } = described(error);
  // Replaces the API's field names in the message by the options' names.
  const shown = message
    .replace(/"replaces": "([^"]*)"/, '--replaces $1')
    .replace(/; without \?step= it shows all of them$/, '');
  if (json)
    io.err(
      `${JSON.stringify({ error: { code, message, ...(details === undefined ? {} : { details }) } })}\n`,
    );
  else io.err(`${shown}\n${nextStep(code, message, program)}`);
  return exit;
}

function described(error: unknown): { code: string; message: string; details?: unknown; exit: number } {
  if (error instanceof CliError) return { code: error.code, message: error.message, exit: error.exit };
  if (error instanceof ApiError) {
    const exit =
      error.code === 'bad-url' ? EXIT.usage : error.code === 'no-answer' ? EXIT.noAnswer : EXIT.failed;
    const { code, message, details } = error;
    return { code, message, details, exit };
  }
  return {
    code: 'failed',
    message: messageOf(error),
    exit: EXIT.failed,
  };
}

/** Advice for errors whose message has none. */
function nextStep(code: string, message: string, program: Command): string {
  // Names the option, because the API's message names its field.
  if (message.includes('nothingHappened')) return 'If you have checked, add --nothing-happened\n';
  if (/needs an input|takes no input/.test(message))
    return 'Give an input with --input JSON or --input @file\n';
  if (/needs an output|takes no output/.test(message))
    return 'Give an output with --output JSON or --output @file\n';
  switch (code) {
    case 'forbidden':
      // A message of `serve` about its tokens.
      if (message.includes('token of this server') || message.includes('this server’s tokens'))
        return 'Put a token of the server into STEADFAST_TOKEN; its tokens are in the file of serve --tokens\n';
      return 'Use AWS credentials that allow execute-api:Invoke on it; for a custom domain add --region <region>; put a JWT into STEADFAST_TOKEN\n';
    case 'no-credentials':
      return 'Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, as for the AWS CLI\n';
    case 'not-another':
      return 'On this machine, --as NAME acts as another person\n';
    case 'unknown-execution':
      return `See the executions: ${invocation(program, 'list')}\n`;
    case 'unknown-workflow':
      return `See the workflows: ${invocation(program, 'workflows')}\n`;
    case 'unknown-agent':
      return `See the agents: ${invocation(program, 'agents')}\n`;
    case 'unknown-bulk':
      return `See the earlier bulk actions: ${invocation(program, 'list --workflow steadfast-bulk')}\n`;
    case 'bad-request':
    case 'bad-duration':
      return program.args[0] === undefined
        ? ''
        : `See its options: npx steadfast ${program.args[0]} --help\n`;
    case 'bulk-expired':
    case 'not-collected':
      return `Make a new one: ${invocation(program, 'bulk <action> …')}\n`;
    case 'unknown-callback':
      return `See the token of an open callback: ${invocation(program, 'show <execution>')}\n`;
    case 'bad-output':
      return 'Give a valid output with --output JSON or --output @file; its schema is in the workflow’s workflow.ts\n';
    case 'bad-input': {
      const [option, where] = message.startsWith('the output')
        ? ['--output', 'its agent’s declaration']
        : ['--input', 'the workflow’s workflow.ts'];
      return `Give a valid one with ${option} JSON or ${option} @file; its schema is in ${where}\n`;
    }
    default:
      return seeIt(code, message, program);
  }
}

/** Codes of commands that are impossible for an execution in its state; `show` explains why. */
const OF_ONE: readonly string[] = [
  'unknown-step',
  'unknown-incident',
  'not-cancelable',
  'not-pausable',
  'not-resumable',
  'not-retryable',
  'already-closed',
  'already-resolved',
  'key-reused',
];

function seeIt(code: string, message: string, program: Command): string {
  const [, id] = /\bexecution ([a-z0-9][a-z0-9.-]*[a-z0-9])/.exec(message) ?? [];
  // The client's own refusals already have advice.
  if (id === undefined || !OF_ONE.includes(code) || message.includes('npx steadfast')) return '';
  return `See it: ${invocation(program, `show ${id}`)}\n`;
}
