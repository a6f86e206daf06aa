/**
 * The commands that pause a workflow, and end that.
 *
 * Owns: their options and what they print. Does not own: the pause of one execution (`operations.ts`), what a pause is (the API).
 */

import type { Command } from 'commander';
import { client, examples, say } from './commands.ts';
import { type Cli, invocation } from './io.ts';
import { pauseText } from './print-deployment.ts';

interface Flags {
  readonly reason?: string;
  readonly within?: string;
}

export function addPauses(program: Command, cli: Cli): void {
  program
    .command('pause-workflow')
    .argument('<name>', 'of the workflow')
    .description(
      'stop all starts of a workflow: what is started is born paused, what was started before goes on',
    )
    .option('--reason <text>', 'why; kept with the pause and with each execution')
    .option(
      '--within <duration>',
      'how long each execution may be paused before a person is asked, 30d at most',
    )
    .addHelpText('after', examples('pause-workflow order-fulfilment --reason "the shop is closed"'))
    .action(async (workflow: string, flags: Flags, command: Command) => {
      const answer = await client(command).pauseWorkflow(workflow, flags);
      const next = invocation(command, `resume-workflow ${workflow}`);
      say(
        cli,
        command,
        answer,
        () => `${workflow}  ${pauseText(answer.pause, Date.now())}\nHave starts run again: ${next}\n`,
      );
    });
  program
    .command('resume-workflow')
    .argument('<name>', 'of the workflow')
    .description('have executions of a workflow be born running again; those that were born paused stay so')
    .addHelpText('after', examples('resume-workflow order-fulfilment'))
    .action(async (workflow: string, _flags: Flags, command: Command) => {
      const answer = await client(command).resumeWorkflow(workflow);
      const next = invocation(command, `list --workflow ${workflow} --status paused`);
      say(
        cli,
        command,
        answer,
        () => `${workflow}  not paused\nWhat was born paused is resumed one by one (resume <id>): ${next}\n`,
      );
    });
}
