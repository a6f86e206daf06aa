/**
 * An agent of Scheduler-Agent-Supervisor, behind its queue. Each agent found at synthesis has its own
 * function.
 */

import { handler as ofFile } from '@steadfast/agent';
import { handlerOfFile } from '../lib/agent/handler.ts';

export const handler = handlerOfFile('@steadfast/agent-name', ofFile);
