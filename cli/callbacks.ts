/**
 * The commands that answer for the external party: complete, fail, heartbeat by token;
 * approve, reject by execution and step.
 *
 * Owns: their options, and the next step where an approval cannot be answered. Does not own: whether an
 * answer fits (the API says so), finding the token of a step that a person names (`api/client.ts`).
 */

import type { Command } from 'commander';
import { ApiError } from '../lib/api/client.ts';
import { client, examples, inputOf, say } from './commands.ts';
import { type Cli, CliError, EXIT, invocation } from './io.ts';
import { byText } from '../lib/view/text.ts';

const ID = '0f343b0931126a20f133d67c2b018a3b';
const TOKEN = `${ID}.paid.8c2e…`;

export function addCallbacks(program: Command, cli: Cli): void {
  program
    .command('complete')
    .argument('<token>', 'the token of the callback; "show <execution>" prints it')
    .description('answer a callback: the work is done')
    .option('--output <json>', "the step's output as JSON, or @file to read it from a file")
    .addHelpText(
      'after',
      examples(`complete ${TOKEN} --output '{"amount":4200}'`, `complete ${TOKEN} --output @answer.json`),
    )
    .action(async (token: string, { output }: { output?: string }, command: Command) => {
      const given = output === undefined ? undefined : inputOf(output, '--output');
      const answer = await client(command).completeCallback(token, given);
      say(cli, command, answer, () => `${answer.status}\n${seeIt(command, executionOf(token))}`);
    });
  program
    .command('fail')
    .argument('<token>', 'the token of the callback; "show <execution>" prints it')
    .description('answer a callback: the work cannot be done')
    .option('--message <text>', 'why; kept with the step')
    .addHelpText('after', examples(`fail ${TOKEN} --message "the card has expired"`))
    .action(async (token: string, { message }: { message?: string }, command: Command) => {
      const answer = await client(command).failCallback(token, message === undefined ? {} : { message });
      say(cli, command, answer, () => `${answer.status}\n${seeIt(command, executionOf(token))}`);
    });
  program
    .command('heartbeat')
    .argument('<token>', 'the token of the callback; "show <execution>" prints it')
    .description('report that the external party is still working on it')
    .addHelpText('after', examples(`heartbeat ${TOKEN}`))
    .action(async (token: string, _options, command: Command) => {
      const answer = await client(command).heartbeatCallback(token);
      say(cli, command, answer, () => `${answer.status}\n${seeIt(command, executionOf(token))}`);
    });
  addApprovals(program, cli);
}

function addApprovals(program: Command, cli: Cli): void {
  program
    .command('approve')
    .argument('<id>', 'the id of the execution, or its first or last characters')
    .argument('<step>', 'the name of the approval')
    .description('approve an approval that an execution waits for')
    .option('--comment <text>', 'for the steps that follow')
    .addHelpText('after', examples(`approve ${ID} release --comment "fine with me"`))
    .action(async (id: string, step: string, options: { comment?: string }, command: Command) => {
      const answer = await client(command).approve(id, step, options).catch(withNextStep(command, id));
      say(cli, command, answer, () => `${id}  ${step} approved${byText(answer.by)}\n${seeIt(command, id)}`);
    });
  program
    .command('reject')
    .argument('<id>', 'the id of the execution, or its first or last characters')
    .argument('<step>', 'the name of the approval')
    .description('reject an approval that an execution waits for: its step fails')
    .option('--reason <text>', 'why; kept with the step')
    .addHelpText('after', examples(`reject ${ID} release --reason "the title is wrong"`))
    .action(async (id: string, step: string, options: { reason?: string }, command: Command) => {
      const answer = await client(command).reject(id, step, options).catch(withNextStep(command, id));
      say(cli, command, answer, () => `${id}  ${step} rejected${byText(answer.by)}\n${seeIt(command, id)}`);
    });
}

const seeIt = (command: Command, id: string): string =>
  `See what follows: ${invocation(command, `show ${id}`)}\n`;

/** The id has dots of its own where the execution belongs to a step of another. */
const executionOf = (token: string): string => token.split('.').slice(0, -2).join('.');

/** @throws CliError of what the client alone refuses: nothing was sent */
const withNextStep =
  (command: Command, id: string) =>
  (error: unknown): never => {
    if (!(error instanceof ApiError) || error.status !== undefined) throw error;
    const { token } = Object(error.details) as { token?: string };
    const next: Readonly<Record<string, string>> = {
      'unknown-step': `See its steps: ${invocation(command, `show ${id}`)}`,
      'not-an-approval':
        token === undefined
          ? `See its steps: ${invocation(command, `show ${id}`)}`
          : `A callback is answered with its token: ${invocation(command, `complete ${token}`)}`,
      'not-open': `See what happens next: ${invocation(command, `why ${id}`)}`,
    };
    const step = next[error.code];
    throw step === undefined ? error : new CliError(error.code, `${error.message}\n${step}`, EXIT.failed);
  };
