/**
 * Several agents of Scheduler-Agent-Supervisor in one function, each behind its own queue. Each host that the
 * deployment's settings name has its own function.
 */

import { agents } from '@steadfast/agents';
import { hostHandler } from '../lib/agent/host-handler.ts';

export const handler = hostHandler(agents);
