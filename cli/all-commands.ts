/**
 * Adds every command, in the order of the help.
 *
 * Does not own: the commands (rows of `api-commands.ts`, or separate files), the options that all share
 * (`main.ts`).
 */

import type { Command } from 'commander';
import { addBulk } from './bulk/command.ts';
import { addAgents } from './agents.ts';
import { addApiCommands } from './api-commands.ts';
import { addCommands } from './commands.ts';
import { addConsole } from './console/command.ts';
import { addErase } from './erase.ts';
import { addLists } from './lists.ts';
import { addLogs } from './logs/command.ts';
import { addDev } from './dev/command.ts';
import { addGraph } from './graph/command.ts';
import { addServe } from './serve/command.ts';
import { addVerify } from './verify/command.ts';
import { addWorker } from './worker.ts';
import type { Cli } from './io.ts';

export function addAll(program: Command, cli: Cli): void {
  addDev(program, cli);
  addServe(program, cli);
  addConsole(program, cli);
  addCommands(program, cli);
  addLists(program, cli);
  addGraph(program, cli);
  addLogs(program, cli);
  addAgents(program, cli);
  addApiCommands(program, cli);
  addErase(program, cli);
  addBulk(program, cli);
  addVerify(program, cli);
  addWorker(program, cli);
}
