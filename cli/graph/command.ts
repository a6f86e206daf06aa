/**
 * `steadfast graph`: draws a workflow's plan, or an execution with the states of its steps.
 *
 * Owns: its options, and the text around the picture. Does not own: the picture (`mermaid.ts`).
 */

import type { Command } from 'commander';
import { client, examples, say } from '../commands.ts';
import { type Cli, invocation } from '../io.ts';
import { graphData, linesBetween } from '../../lib/view/graph.ts';
import { mermaidText, MOST_LINES } from './mermaid.ts';
import { planSource } from './plan-source.ts';

export function addGraph(program: Command, cli: Cli): void {
  program
    .command('graph')
    .argument('<plan>', 'the name of a workflow, or the id of an execution')
    .description('draw a plan as a Mermaid flowchart; for an execution, with the status of each step')
    .addHelpText(
      'after',
      `
A workflow that is not deployed is taken from the project around the working directory.
GitHub draws files that end with .mmd, and in Markdown what stands between \`\`\`mermaid and \`\`\`.
${examples(
  'graph hello-greeting > hello-greeting.mmd',
  'graph 0f343b0931126a20f133d67c2b018a3b > execution.mmd',
  'graph hello-greeting --json',
)}`,
    )
    .action(async (wanted: string, _options, command: Command) => {
      const { graph, file } = await planSource(client(command), wanted, process.cwd());
      if (file !== undefined) cli.io.err(`'${wanted}' is not deployed: this is the plan of ${file}\n`);
      const lines = linesBetween(graph.steps).length;
      say(cli, command, graphData(graph), () => {
        if (lines > MOST_LINES)
          cli.io.err(
            `it has ${lines} lines between steps, and Mermaid draws at most ${MOST_LINES}; use the console, or print it as data: ${invocation(command, `graph ${wanted} --json`)}\n`,
          );
        return mermaidText(graph);
      });
    });
}
