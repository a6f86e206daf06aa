/**
 * Several agents of Scheduler-Agent-Supervisor in one function, each behind its own queue. One function for
 * each host that the deployment's settings name.
 */

import { agents } from '@steadfast/agents';
import { hostHandler } from '../lib/agent/host-handler.ts';

export const handler = hostHandler(agents);
