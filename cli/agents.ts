/**
 * `steadfast agents`: shows the state of the agents, or which of them a deployment would remove (`--needed`).
 *
 * Does not own: the other commands about agents (`api-commands.ts`), the comparison (`needed.ts`), the text
 * (`lib/view/deployment.ts`).
 */

import type { Command } from 'commander';
import { agentsText } from '../lib/view/deployment.ts';
import { client, examples, say } from './commands.ts';
import { type Cli, CliError } from './io.ts';
import { serverTime } from './server-time.ts';
import { compared, exitOf, neededText } from './needed.ts';

export function addAgents(program: Command, cli: Cli): void {
  program
    .command('agents')
    .description('show for each agent how full its queue is and whether its service answers')
    .option(
      '--needed',
      'compare with a synthesised deployment; fail if it removes, or may remove, a needed agent',
    )
    .option('--assembly <folder>', 'with --needed: the synthesised app', 'cdk.out')
    .option('--stack <name>', 'with --needed: the stack of the app, where several hold a Steadfast')
    .addHelpText('after', examples('agents', 'agents --json', 'agents --needed --assembly cdk.out --json'))
    .action(async (flags: { needed?: true; assembly: string; stack?: string }, command: Command) => {
      const api = client(command);
      if (flags.needed === undefined) {
        const answer = await api.agents();
        return say(cli, command, answer, () => agentsText(answer, serverTime.now()));
      }
      const { needed } = await api.agents({ needed: true });
      if (needed === undefined)
        throw new CliError('no-needed', 'the API does not say which agents are needed');
      const found = compared(needed, flags.assembly, flags.stack);
      cli.exitCode = exitOf(found);
      say(cli, command, found, () => neededText(found));
    });
}
