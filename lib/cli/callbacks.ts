/**
 * The commands that answer for the external party: complete, fail, heartbeat by token; approve, reject by execution and step.
 *
 * Owns: their options, and finding the token of a step that a person names. Does not own: whether an answer fits (the API
 * says so).
 */

import type { Command } from 'commander';
import type { ExecutionView, Json, StepView } from '../api/answers.ts';
import { client, examples, inputOf, say } from './commands.ts';
import { type Cli, CliError, EXIT, invocation } from './io.ts';
import { timeText } from './text.ts';

const ID = '0f343b0931126a20f133d67c2b018a3b';
const TOKEN = `${ID}.paid.8c2e…`;

export function addCallbacks(program: Command, cli: Cli): void {
  program
    .command('complete')
    .argument('<token>', 'of the callback; "show <execution>" has it')
    .description('answer a callback: it is done')
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
    .argument('<token>', 'of the callback; "show <execution>" has it')
    .description('answer a callback: it cannot be done')
    .option('--message <text>', 'why; kept with the step')
    .addHelpText('after', examples(`fail ${TOKEN} --message "the card has expired"`))
    .action(async (token: string, { message }: { message?: string }, command: Command) => {
      const answer = await client(command).failCallback(token, message === undefined ? {} : { message });
      say(cli, command, answer, () => `${answer.status}\n${seeIt(command, executionOf(token))}`);
    });
  program
    .command('heartbeat')
    .argument('<token>', 'of the callback; "show <execution>" has it')
    .description('say that whoever was asked is still at it')
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
    .argument('<id>', 'of the execution')
    .argument('<step>', 'the approval')
    .description('approve what an execution waits for')
    .option('--comment <text>', 'for the steps behind it')
    .addHelpText('after', examples(`approve ${ID} release --comment "fine with me"`))
    .action(async (id: string, step: string, options: { comment?: string }, command: Command) => {
      const token = await tokenOf(command, id, step);
      const answer = await client(command).completeCallback(token, { ...options } as Json);
      say(cli, command, answer, () => `${id}  ${step} approved\n${seeIt(command, id)}`);
    });
  program
    .command('reject')
    .argument('<id>', 'of the execution')
    .argument('<step>', 'the approval')
    .description('reject what an execution waits for: the step fails')
    .option('--reason <text>', 'why; kept with the step')
    .addHelpText('after', examples(`reject ${ID} release --reason "the title is wrong"`))
    .action(async (id: string, step: string, { reason }: { reason?: string }, command: Command) => {
      const token = await tokenOf(command, id, step);
      const failure = { code: 'rejected', message: reason ?? 'a person has rejected it' };
      const answer = await client(command).failCallback(token, failure);
      say(cli, command, answer, () => `${id}  ${step} rejected\n${seeIt(command, id)}`);
    });
}

const seeIt = (command: Command, id: string): string =>
  `See what follows: ${invocation(command, `show ${id}`)}\n`;

/** The id has dots of its own where the execution belongs to a step of another. */
const executionOf = (token: string): string => token.split('.').slice(0, -2).join('.');

/** @throws CliError `unknown-step`, `not-an-approval`, `not-open` */
async function tokenOf(command: Command, id: string, name: string): Promise<string> {
  const view = await client(command).get(id);
  const step = view.steps.find((one) => one.name === name);
  const approvals = view.steps.filter(({ kind }) => kind === 'approval').map((one) => one.name);
  if (step === undefined || step.kind !== 'approval') {
    const problem =
      step === undefined ? `has no step '${name}'` : `has '${name}' as ${nameOf(step)}, which is no approval`;
    const instead =
      step?.kind === 'callback'
        ? `A callback is answered with its token: ${invocation(command, `complete ${step.token ?? '<token>'}`)}`
        : `Its approvals are: ${approvals.join(', ') || 'none'}`;
    const code = step === undefined ? 'unknown-step' : 'not-an-approval';
    throw new CliError(code, `execution ${id} ${problem}\n${instead}`, EXIT.failed);
  }
  if (step.token !== undefined) return step.token;
  throw new CliError(
    'not-open',
    `'${name}' cannot be answered now: ${whyNotOpen(view, step)}\nSee where it stands: ${invocation(command, `why ${id}`)}`,
    EXIT.failed,
  );
}

const nameOf = ({ kind }: StepView): string => (kind === 'approval' ? 'an approval' : `a ${kind}`);

function whyNotOpen(view: ExecutionView, step: StepView): string {
  if (step.status === 'pending') return `it comes after ${step.after.join(', ')}`;
  if (view.endedAt !== undefined) return `the execution is ${view.status}`;
  const since = step.changedAt === undefined ? '' : ` since ${timeText(step.changedAt)}`;
  return step.status === 'ready' ? `the execution is ${view.status}` : `it is ${step.status}${since}`;
}
