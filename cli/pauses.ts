/**
 * The commands that pause a workflow or an agent, and end that.
 *
 * Owns: their options and what they print. Does not own: the pause of one execution
 * (`operations.ts`), what a pause is (the API).
 */

import type { Command } from 'commander';
import type { AgentPauseView } from '../lib/api/deployment-answers.ts';
import { client, examples, say } from './commands.ts';
import { type Cli, invocation } from './io.ts';
import { breakerText, pauseText } from '../lib/view/deployment.ts';

interface Flags {
  readonly reason?: string;
  readonly within?: string;
}

export function addPauses(program: Command, cli: Cli): void {
  program
    .command('pause-workflow')
    .argument('<name>', 'the name of the workflow')
    .description('pause all starts of a workflow: new executions start paused, earlier ones continue')
    .option('--reason <text>', 'why; kept with the pause and with each execution')
    .option(
      '--within <duration>',
      'how long each execution may be paused before a person is asked, 30d at most',
    )
    .addHelpText('after', examples('pause-workflow hello-greeting --reason "the shop is closed"'))
    .action(async (workflow: string, flags: Flags, command: Command) => {
      const answer = await client(command).pauseWorkflow(workflow, flags);
      const next = invocation(command, `resume-workflow ${workflow}`);
      say(
        cli,
        command,
        answer,
        () => `${workflow}  ${pauseText(answer.pause, Date.now())}\nResume starts: ${next}\n`,
      );
    });
  program
    .command('resume-workflow')
    .argument('<name>', 'the name of the workflow')
    .description(
      'resume the starts of a workflow: new executions run again; those that started paused stay paused',
    )
    .addHelpText('after', examples('resume-workflow hello-greeting'))
    .action(async (workflow: string, _flags: Flags, command: Command) => {
      const answer = await client(command).resumeWorkflow(workflow);
      const next = invocation(command, `list --workflow ${workflow} --status paused`);
      say(
        cli,
        command,
        answer,
        () =>
          `${workflow}  not paused\nResume the executions that started paused one by one (resume <id>): ${next}\n`,
      );
    });
  addAgentPauses(program, cli);
}

function addAgentPauses(program: Command, cli: Cli): void {
  const told = (command: Command, { agent, breaker }: AgentPauseView, next: string): void =>
    say(cli, command, { agent, breaker }, () => `${agent}  ${breakerText(breaker, Date.now())}\n${next}\n`);
  program
    .command('pause-agent')
    .argument('<name>', 'the name of the agent')
    .description(
      'pause an agent, so that its service is not called: nothing new is sent to it, and its steps wait',
    )
    .option('--reason <text>', 'why; kept with the pause and shown by the command "why"')
    .addHelpText('after', examples('pause-agent charge-card --reason "the bank asked us to"'))
    .action(async (agent: string, flags: Flags, command: Command) => {
      const answer = await client(command).pauseAgent(agent, flags);
      told(command, answer, `Resume it: ${invocation(command, `resume-agent ${agent}`)}`);
    });
  program
    .command('resume-agent')
    .argument('<name>', 'the name of the agent')
    .description('end the pause of an agent: the steps that waited are sent again within six minutes')
    .addHelpText('after', examples('resume-agent charge-card'))
    .action(async (agent: string, _flags: Flags, command: Command) => {
      const answer = await client(command).resumeAgent(agent);
      told(command, answer, `See its state: ${invocation(command, 'agents')}`);
    });
}
