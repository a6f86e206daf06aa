/**
 * The program of a process that runs agents' code.
 *
 * Arguments: each agent's name and its file. Does not own: how calls are handled
 * (`lib/worker/isolated-calls.ts`).
 *
 * A module may leave an error that nobody catches while others still load: all agents would be without a
 * process. The server has loaded the same modules and logs it (`stray-errors.ts`).
 */

import type { AgentHandler } from '../lib/agent/handler.ts';
import type { Implementation } from '../lib/core/plan/agent.ts';
import { handlerOf } from '../lib/project/package-files.ts';
import { performCalls } from '../lib/worker/isolated-calls.ts';

process.setSourceMapsEnabled(true);
const outlive = (): void => undefined;
for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, outlive);
const args = process.argv.slice(2);
const agents = new Map<string, Implementation<unknown, unknown>>();
const failed: Record<string, string> = {};
for (let at = 0; at + 1 < args.length; at += 2) {
  const [name = '', file = ''] = args.slice(at);
  try {
    const { worker } = (await handlerOf(file, name)) as AgentHandler;
    agents.set(name, worker.implementation);
  } catch (error) {
    failed[name] = error instanceof Error ? error.message : String(error);
  }
}
performCalls(agents, failed);
for (const event of ['uncaughtException', 'unhandledRejection']) process.off(event, outlive);
