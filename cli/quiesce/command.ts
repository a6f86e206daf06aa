/**
 * `steadfast quiesce` and `steadfast unquiesce`: a deployment at rest for a
 * restore or a deployment, and on again.
 *
 * Owns: their options, and what is printed. Does not own: the order (`order.ts`), the calls (`aws.ts`).
 */

import type { Command } from 'commander';
import { examples, say } from '../commands.ts';
import { callsOf } from '../aws/calls.ts';
import { checkedStack } from '../aws/tagged.ts';
import { type Cli, CLOCK, EXIT } from '../io.ts';
import type { Account } from './account.ts';
import { AwsAccount } from './aws.ts';
import { awake, type Change, planned, quiesce, unquiesce } from './order.ts';

interface Flags {
  readonly stack: string;
  readonly dryRun?: true;
  readonly drain?: true;
  readonly sources?: true;
  readonly check?: true;
  readonly leave?: readonly string[];
}

export function addQuiesce(program: Command, cli: Cli): void {
  const add = (name: string, description: string): Command =>
    program
      .command(name)
      .description(description)
      .requiredOption('--stack <name>', 'the name of the CloudFormation stack')
      .option('--leave <ids...>', 'logical ids of resources of the stack that are not Steadfast’s')
      .option('--dry-run', 'print the changes without making them');
  add('quiesce', 'stop a deployment: nothing starts, nothing runs, nothing writes')
    .option('--drain', 'first wait until every open execution has ended')
    .option('--sources', 'also stop the rules and schedules of triggers; the events in that time are lost')
    .option('--check', 'change nothing; fail and list what runs: a deployment may restart parts')
    .addHelpText(
      'after',
      `
While it is stopped, triggers' queues keep messages for 14 days, callers get status 429, and reads still work.
If it is interrupted, run it again to continue.
${examples(
  'quiesce --stack Steadfast-prod --region eu-central-1',
  'quiesce --stack Steadfast-prod --drain',
  'quiesce --stack Steadfast-prod --dry-run --json',
)}`,
    )
    .action(async (flags: Flags, command: Command) => {
      const account = accountOf(cli, command, flags);
      if (flags.check === true) return checkRest(cli, command, flags, await awake(account));
      const options = {
        drain: flags.drain === true,
        sources: flags.sources === true,
        say: progress(cli),
      };
      const changed =
        flags.dryRun === true
          ? planned(await account.find(), options)
          : await quiesce(account, CLOCK, options);
      const next =
        flags.dryRun === true
          ? ''
          : `'${flags.stack}' is stopped. To restore it: npx steadfast unquiesce --stack ${flags.stack}\n`;
      told(cli, command, flags, changed.map(plain), next);
    });
  add('unquiesce', 'restore what quiesce stopped, as it was before')
    .addHelpText(
      'after',
      `\nIf it is interrupted, run it again to continue.\n${examples(
        'unquiesce --stack Steadfast-prod --region eu-central-1',
      )}`,
    )
    .action(async (flags: Flags, command: Command) => {
      const account = accountOf(cli, command, flags);
      const changed =
        flags.dryRun === true
          ? planned(await account.load(), { sources: true }).toReversed()
          : await unquiesce(account, { say: progress(cli) });
      const next = changed.length === 0 ? `no part of '${flags.stack}' was stopped\n` : '';
      told(cli, command, flags, changed.map(plain), next);
    });
}

function checkRest(cli: Cli, command: Command, flags: Flags, running: readonly Change[]): void {
  const { stack } = flags;
  const next =
    running.length === 0
      ? `'${stack}' is at rest\n`
      : `these parts are running: stop them with npx steadfast quiesce --stack ${stack}\n`;
  told(cli, command, flags, running.map(plain), next);
  if (running.length > 0) cli.exitCode = EXIT.failed;
}

/** Not of the answer, so that it can be read by a program. */
const progress =
  ({ io }: Cli) =>
  (line: string): void => {
    io.err(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
  };

const plain = ({ role, kind, id }: Change): Change => ({ role, kind, id });

function told(
  cli: Cli,
  command: Command,
  { stack, dryRun }: Flags,
  changed: readonly Change[],
  next: string,
): void {
  const lines = changed.map(({ role, kind, id }) => `${role.padEnd(12)}${kind.padEnd(10)}${id}\n`);
  say(cli, command, { stack, dryRun: dryRun === true, changed }, () => `${lines.join('')}${next}`);
}

function accountOf(cli: Cli, command: Command, { stack, leave }: Flags): Account {
  return new AwsAccount(callsOf(cli, command), checkedStack(stack), leave);
}
