/**
 * `steadfast erase`: removes an ended execution before its retention is over.
 *
 * Owns: the confirmation, and completing an interrupted erasure whose execution is no longer shown. Does not
 * own: what may be erased (the API says so).
 */

import type { Command } from 'commander';
import type { ExecutionView } from '../lib/api/answers.ts';
import { ApiError } from '../lib/api/client.ts';
import { client, examples, say } from './commands.ts';
import { type Cli, CliError } from './io.ts';

const ID = '0f343b0931126a20f133d67c2b018a3b';

export function addErase(program: Command, cli: Cli): void {
  program
    .command('erase')
    .argument('<id>', 'the id of the execution, or its first or last characters')
    .description(
      'remove an execution that is over, the executions that its steps ran, and all their values, for good',
    )
    .option('--yes', 'erase it without asking')
    .addHelpText('after', examples(`erase ${ID}`))
    .action(async (id: string, { yes }: { readonly yes?: true }, command: Command) => {
      const api = client(command);
      const shown = await api.get(id).catch(unlessUnknown);
      const { executionId } = shown ?? { executionId: id };
      const what = shown === undefined ? `what is left of ${id}` : textOf(shown);
      if (yes !== true && !(await isAgreed(cli, what)))
        return say(cli, command, { executionId, status: shown?.status }, () => 'Nothing was erased.\n');
      const answer = await api.erase(executionId);
      say(
        cli,
        command,
        answer,
        () => `${executionId} is erased. A backup of the table still has it until the backup expires.\n`,
      );
    });
}

const textOf = ({ executionId, workflow, status }: ExecutionView): string =>
  `${executionId} of ${workflow}, ${status}`;

function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof ApiError && error.code === 'unknown-execution')) throw error;
}

/** Asks for confirmation. @throws CliError `not-confirmed` without a terminal */
async function isAgreed({ io }: Cli, what: string): Promise<boolean> {
  if (io.ask === undefined)
    throw new CliError(
      'not-confirmed',
      'nothing was erased: this is not a terminal, so you cannot be asked. Add --yes',
    );
  return /^y(es)?$/i.test((await io.ask(`Erase ${what}, for good? [y/N] `)).trim());
}
