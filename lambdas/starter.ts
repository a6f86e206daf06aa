/** A trigger's Lambda function: behind its queue, with every workflow found at synthesis. */

import { workflows } from '@steadfast/workflows';
import { starterHandler } from '../lib/scheduler/starter-handler.ts';

export const handler = starterHandler(workflows);
