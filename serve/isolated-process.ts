/**
 * The program of an agent's own process.
 *
 * Argument: the agent's file. Does not own: what it does with calls (`lib/worker/isolated-calls.ts`).
 */

import { pathToFileURL } from 'node:url';
import type { AgentHandler } from '../lib/agent/handler.ts';
import { performCalls } from '../lib/worker/isolated-calls.ts';

const { handler } = (await import(pathToFileURL(process.argv[2] ?? '').href)) as { handler: AgentHandler };
performCalls(handler.worker.implementation);
