/** An agent of Scheduler-Agent-Supervisor: behind its queue. One function for each agent that was found at synthesis. */

import { handler as agent } from '@steadfast/agent';

export const handler = agent;
