/**
 * `steadfast quiesce` and `steadfast unquiesce`: a deployment at rest for a
 * restore or an upgrade, and on again.
 *
 * Owns: their options, and what is printed. Does not own: the order (`order.ts`), the calls (`aws.ts`).
 */

import type { Command } from 'commander';
import { examples, say } from '../commands.ts';
import { callsOf } from '../aws/calls.ts';
import { checkedStack } from '../aws/tagged.ts';
import { type Cli, CLOCK } from '../io.ts';
import type { Account } from './account.ts';
import { AwsAccount } from './aws.ts';
import { type Change, planned, quiesce, unquiesce } from './order.ts';

interface Flags {
  readonly stack: string;
  readonly dryRun?: true;
  readonly drain?: true;
  readonly sources?: true;
}

export function addQuiesce(program: Command, cli: Cli): void {
  const add = (name: string, description: string): Command =>
    program
      .command(name)
      .description(description)
      .requiredOption('--stack <name>', 'of CloudFormation, as it was deployed')
      .option('--dry-run', 'print what would change, and change nothing');
  add('quiesce', 'bring a deployment to rest: nothing starts, nothing runs, nothing writes')
    .option('--drain', 'let everything that is open end first')
    .option('--sources', 'stop rules and schedules of triggers too: what they would have sent is lost')
    .addHelpText(
      'after',
      `
Triggers' queues keep what comes meanwhile, for 14 days; callers are told 429; reading goes on.
Interrupted, it goes on when it is called again.
${examples(
  'quiesce --stack Steadfast-prod --region eu-central-1',
  'quiesce --stack Steadfast-prod --drain',
  'quiesce --stack Steadfast-prod --dry-run --json',
)}`,
    )
    .action(async (flags: Flags, command: Command) => {
      const account = accountOf(cli, command, flags);
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
          : `'${flags.stack}' is at rest. Have it go on: npx steadfast unquiesce --stack ${flags.stack}\n`;
      told(cli, command, flags, changed.map(plain), next);
    });
  add('unquiesce', 'give a deployment back what quiesce stopped, as it was before')
    .addHelpText(
      'after',
      `\nInterrupted, it goes on when it is called again.\n${examples(
        'unquiesce --stack Steadfast-prod --region eu-central-1',
      )}`,
    )
    .action(async (flags: Flags, command: Command) => {
      const account = accountOf(cli, command, flags);
      const changed =
        flags.dryRun === true
          ? planned(await account.load(), { sources: true }).toReversed()
          : await unquiesce(account, { say: progress(cli) });
      const next = changed.length === 0 ? `nothing of '${flags.stack}' was at rest\n` : '';
      told(cli, command, flags, changed.map(plain), next);
    });
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

function accountOf(cli: Cli, command: Command, { stack }: Flags): Account {
  return new AwsAccount(callsOf(cli, command), checkedStack(stack));
}
