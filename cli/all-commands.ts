/**
 * Every command, in the order in which help names them.
 *
 * Owns: which there are. Does not own: what each does (`commands.ts`, `lists.ts`, `operations.ts`,
 * `incidents.ts`, `erase.ts`, the `command.ts` of each folder), the options that they share (`main.ts`).
 */

import type { Command } from 'commander';
import { addBulk } from './bulk/command.ts';
import { addCallbacks } from './callbacks.ts';
import { addAgents } from './agents.ts';
import { addCommands } from './commands.ts';
import { addConsole } from './console/command.ts';
import { addErase } from './erase.ts';
import { addIncidents } from './incidents.ts';
import { addLists } from './lists.ts';
import { addLogs } from './logs/command.ts';
import { addOperations } from './operations.ts';
import { addPauses } from './pauses.ts';
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
  addOperations(program, cli);
  addErase(program, cli);
  addAgents(program, cli);
  addPauses(program, cli);
  addBulk(program, cli);
  addIncidents(program, cli);
  addCallbacks(program, cli);
  addVerify(program, cli);
  addWorker(program, cli);
}
