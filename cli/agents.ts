/**
 * The commands about agents: how they are, and to have one called now although its breaker is open.
 *
 * Owns: their options and what they print. Does not own: the pauses of agents
 * (`pauses.ts`), the answers' words (`lib/view/deployment.ts`).
 */

import type { Command } from 'commander';
import { agentsText, breakerText, triedNowText } from '../lib/view/deployment.ts';
import { client, examples, say } from './commands.ts';
import { type Cli, invocation } from './io.ts';
import { compared, exitOf, neededText } from './needed.ts';

export function addAgents(program: Command, cli: Cli): void {
  const agents = program
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
      const answer = await client(command).agents(flags.needed === undefined ? {} : { needed: true });
      if (flags.needed === undefined) return say(cli, command, answer, () => agentsText(answer, Date.now()));
      const needed = compared(answer, flags.assembly, flags.stack);
      cli.exitCode = exitOf(needed);
      say(cli, command, needed, () => neededText(needed));
    });
  agents
    .command('try-now')
    .argument('<agent>', 'the name of the agent')
    .description('end the wait for an agent whose breaker is open: one waiting step is tried now')
    .addHelpText('after', examples('agents try-now charge-card'))
    .action(async (agent: string, _flags: object, command: Command) => {
      const tried = await client(command).tryAgentNow(agent);
      const text = (): string => {
        const now = Date.now();
        const next = triedNowText(tried, now, (line) => invocation(command, line));
        return `${agent}  ${breakerText(tried.breaker, now)}\n${next}\n`;
      };
      say(cli, command, tried, text);
    });
}
