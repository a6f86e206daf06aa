/** Uses the example's agent in the failure workflows. */

import { execute, probe, undo } from '../../../../examples/order-fulfilment/agents/schedule-shipping.ts';
import { scheduleShipping } from '../../../../examples/order-fulfilment/workflow.ts';

export const handler = scheduleShipping.handler({ execute, probe, undo });
