/**
 * `steadfast completion`: a script for a shell, which then completes commands, options and names of workflows.
 *
 * Owns: what is printed. Does not own: the scripts (`scripts.ts`), the words (`words.ts`).
 */

import { Argument, type Command } from 'commander';
import { client, examples } from '../commands.ts';
import type { Cli } from '../io.ts';
import { NAMES_COMMAND, SCRIPTS, type Shell, SHELLS } from './scripts.ts';
import { wordsOf } from './words.ts';

/** After a key press, a shell waits no longer. */
const NAMES_WITHIN_MS = 2_000;
/** A shell expands the words that it is given: what is no name of a workflow goes into none. */
const NAME = /^[a-z][a-z0-9-]*$/;

export function addCompletion(program: Command, cli: Cli): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .description('print a script that completes commands, options and names of workflows')
    .addHelpText(
      'after',
      `
What it prints is kept in a file that the shell reads when it starts; after an upgrade it is printed again.

  bash  npx steadfast completion bash > ~/.steadfast.bash && echo 'source ~/.steadfast.bash' >> ~/.bashrc
  zsh   npx steadfast completion zsh > ~/.steadfast.zsh && echo 'source ~/.steadfast.zsh' >> ~/.zshrc
  fish  npx steadfast completion fish > ~/.config/fish/completions/steadfast.fish
${examples('completion bash')}`,
    )
    .action((shell: Shell) => {
      cli.io.out(SCRIPTS[shell](wordsOf(program)));
    });
  program.command(NAMES_COMMAND, { hidden: true }).action(async (_options, command: Command) => {
    cli.io.out(await names(command));
  });
}

/** Nothing where no API answers: a prompt is no place for errors. */
async function names(command: Command): Promise<string> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(reject, NAMES_WITHIN_MS).unref();
  });
  const found = await Promise.race([client(command).workflows(), late]).catch(() => []);
  return found.flatMap(({ workflow }) => (NAME.test(workflow) ? [`${workflow}\n`] : [])).join('');
}
