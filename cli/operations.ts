/**
 * The commands of operators: cancel, pause, resume, retry.
 *
 * Owns: their options and what they print. Does not own: whether a command is possible (the API says so).
 */

import type { Command } from 'commander';
import type { Stopped } from '../lib/api/answers.ts';
import { client, examples, inputOf, say } from './commands.ts';
import { type Cli, invocation } from './io.ts';
import { stoppedText } from './print-standing.ts';

const ID = '0f343b0931126a20f133d67c2b018a3b';

interface Flags {
  readonly reason?: string;
  readonly within?: string;
  readonly undo: boolean;
  readonly input?: string;
  readonly step?: string;
}

export function addOperations(program: Command, cli: Cli): void {
  const add = (name: string, description: string, ...lines: readonly string[]): Command =>
    program
      .command(name)
      .argument('<id>', 'the id of the execution, or its first or last characters')
      .description(description)
      .option('--reason <text>', 'why; kept with the execution')
      .addHelpText('after', examples(...lines.map((line) => `${name} ${ID}${line}`)));
  const told = (command: Command, answer: Stopped, next: string): void =>
    say(cli, command, answer, () => `${stoppedText(answer)}\n${next}\n`);
  const see = (command: Command, what: string, line: string): string =>
    `${what}: ${invocation(command, line)}`;

  add(
    'cancel',
    'cancel an execution: nothing new starts, and every step that acted is undone',
    ' --reason "ordered twice"',
    ' --no-undo',
  )
    .option('--no-undo', "undo nothing: the execution ends as 'failed', and can be retried")
    .action(async (id: string, flags: Flags, command: Command) => {
      const answer = await client(command).cancel(id, {
        ...reasonOf(flags),
        ...(flags.undo ? {} : { undo: false }),
      });
      told(
        command,
        answer,
        see(command, flags.undo ? 'See its steps being undone' : 'See it end', `show ${id} --wait`),
      );
    });
  add(
    'pause',
    'pause an execution: nothing new starts, attempts under way run to their end',
    ' --within 2h --reason "the bank is closed"',
  )
    .option('--within <duration>', 'how long it may last before a person is asked, 30d at most')
    .action(async (id: string, flags: Flags, command: Command) => {
      const within = flags.within === undefined ? {} : { within: flags.within };
      const answer = await client(command).pause(id, { ...reasonOf(flags), ...within });
      told(command, answer, see(command, 'Resume it', `resume ${id}`));
    });
  add('resume', 'end the pause of an execution', '').action(
    async (id: string, flags: Flags, command: Command) => {
      const answer = await client(command).resume(id, reasonOf(flags));
      told(command, answer, see(command, 'See it continue', `show ${id} --wait`));
    },
  );
  withInput(
    add(
      'retry',
      'continue a failed execution where it failed, or answer its questions with retry; to start one that was compensated or canceled again: start --redrive-of',
      ' --reason "the bank is back"',
      ` --input '{"address":"2 Main Street"}' --step ship`,
    ),
  ).action(async (id: string, flags: Flags, command: Command) => {
    told(command, await retried(id, flags, command), see(command, 'See it continue', `show ${id} --wait`));
  });
}

const withInput = (command: Command): Command =>
  command
    .option('--input <json>', 'for a failed execution: another input for its failed step')
    .option('--step <name>', 'with --input, if several steps failed: the step that gets it');

const retried = (id: string, { input, step, ...flags }: Flags, command: Command): Promise<Stopped> =>
  client(command).retry(id, {
    ...reasonOf(flags),
    ...(input === undefined ? {} : { input: inputOf(input) }),
    ...(step === undefined ? {} : { step }),
  });

const reasonOf = ({ reason }: Flags): { reason?: string } => (reason === undefined ? {} : { reason });
