/**
 * The scheduler of Scheduler-Agent-Supervisor: behind the HTTP API, with every workflow found at synthesis.
 */

import { workflows } from '@steadfast/workflows';
import { schedulerHandler } from '../lib/api/handler.ts';

export const handler = schedulerHandler(workflows);
