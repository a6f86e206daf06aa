/**
 * An agent of Scheduler-Agent-Supervisor: behind its queue. One function for each
 * agent that was found at synthesis.
 */

import { handler as ofFile } from '@steadfast/agent';
import { handlerOfFile } from '../lib/agent/handler.ts';

export const handler = handlerOfFile('@steadfast/agent-name', ofFile);
