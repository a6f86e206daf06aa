/** The agent of the canary: behind its queue, like any other agent's file. */

import { agentHandler } from '../lib/agent/handler.ts';
import { canaryAgent } from '../lib/scheduler/canary-workflow.ts';

export const handler = agentHandler(canaryAgent, { execute: async () => ({}) });
