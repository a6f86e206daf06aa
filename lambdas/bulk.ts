/** The agent of bulk actions: behind its queue, with every workflow found at synthesis. */

import { workflows } from '@steadfast/workflows';
import { agentHandler } from '../lib/agent/handler.ts';
import { bulkWork } from '../lib/scheduler/bulk-handler.ts';
import { bulkAgent, deferredByPause } from '../lib/scheduler/bulk-workflow.ts';

export const handler = agentHandler(bulkAgent, bulkWork(workflows) as never, { deferredBy: deferredByPause });
