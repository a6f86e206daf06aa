/**
 * `steadfast worker`: runs the worker of one agent from its source, on any machine.
 *
 * Owns: finding the agent's file. Does not own: the worker (`lib/worker/`); an image contains it without this
 * command line.
 */

import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { writtenFile } from '../lib/project/project-files.ts';
import { programFile } from '../lib/project/package-files.ts';
import { findProject } from './dev/project.ts';
import { projectFolders } from './dev/workflow-folders.ts';
import { type Cli, CliError, EXIT, messageOf } from './io.ts';

interface WorkerFlags {
  readonly agent: string;
  readonly concurrency: number;
  readonly stopWithin: number;
}

export function addWorker(program: Command, _cli: Cli): void {
  program
    .command('worker')
    .description('run the attempts of an agent that runs in a container, until SIGTERM')
    .requiredOption('--agent <name>', 'the agent whose messages to take')
    .option(
      '--concurrency <count>',
      'how many attempts to run at the same time, each in its own process',
      wholeNumber,
      1,
    )
    .option('--stop-within <seconds>', 'how long attempts may keep running after SIGTERM', wholeNumber, 110)
    .addHelpText(
      'after',
      '\nIt needs the environment that docs/AGENTS-ELSEWHERE.md lists, and AWS credentials.\n\nExamples:\n  $ npx steadfast worker --agent encode\n  $ npx steadfast worker --agent encode --concurrency 4',
    )
    .action(async ({ agent, concurrency, stopWithin }: WorkerFlags) => {
      const module = fileOf(agent);
      // Imported only here, because other commands do not need the AWS clients.
      const { runWorker } = await import('../lib/worker/run.ts');
      const entry = programFile('lib/worker/attempt');
      const settings = { entry, module, concurrency, stopWithinMs: stopWithin * 1_000 };
      await runWorker(settings).catch((error: unknown) => {
        throw new CliError('worker', messageOf(error), EXIT.failed);
      });
    });
}

/** @throws CliError; its message names the existing agents */
function fileOf(agent: string): string {
  const { root, context } = findProject(process.cwd(), '');
  const folders = projectFolders({ root, context });
  const files = folders.map(({ path }) => writtenFile(join(path, 'agents', agent)));
  const found = files.find((file) => file !== undefined);
  if (found !== undefined) return found;
  const examined = folders.map(({ name }) => `${name}/agents/${agent}.ts`).join(', ');
  throw new CliError(
    'unknown-agent',
    `no agent is named '${agent}': searched ${examined || 'workflow folders'}`,
  );
}

function wholeNumber(text: string): number {
  if (/^[0-9]{1,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('give a whole number.');
}
