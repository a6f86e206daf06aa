/**
 * The handler of a Lambda function whose agent asks for processes of its own (`isolate`).
 *
 * Owns: using one file as both the handler and, in a process that the handler starts, the author's code. Does
 * not own: the calls between them (`worker/isolated.ts`, `worker/isolated-calls.ts`).
 *
 * The handler claims, renews the lease and reports. If the author's code ends its process, or blocks it for a
 * whole lease, the handler knows that the attempt is over and reports it under the lease: the next stage
 * waits neither for the lease nor for the function's timeout. The death of the whole function, by its timeout
 * or with its machine, is noticed as with any function.
 */

import { fileURLToPath } from 'node:url';
import { agentHandler, type AgentHandler } from './handler.ts';
import { performedIn, ProcessPool } from '../worker/isolated.ts';
import { performCalls } from '../worker/isolated-calls.ts';

/** Set in the processes that the handler starts. */
const IN_PROCESS = 'STEADFAST_ISOLATED';

/** @param url of the function's file */
export function isolatedHandler(ofFile: AgentHandler, url: string): AgentHandler {
  const { agent, implementation } = ofFile.worker;
  if (process.env[IN_PROCESS] !== undefined) {
    // A program that the author's code starts must not be mistaken for such a process.
    Reflect.deleteProperty(process.env, IN_PROCESS);
    performCalls(new Map([[agent.spec.name, implementation]]));
    return ofFile;
  }
  const program = { entry: fileURLToPath(url), env: { [IN_PROCESS]: '1' } };
  const pool = new ProcessPool(program, { isShared: false, now: () => performance.now() });
  // Both load at the same time, while Lambda still gives the function a whole processor.
  pool.warm();
  return agentHandler(
    agent,
    performedIn(agent, () => pool),
    { enter: () => pool.enter() },
  );
}
