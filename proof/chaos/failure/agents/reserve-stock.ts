/** Uses the example's agent in the failure workflows. */

import { execute, undo } from '../../../../examples/order-fulfilment/agents/reserve-stock.ts';
import { reserveStock } from '../../../../examples/order-fulfilment/workflow.ts';

export const handler = reserveStock.handler({ execute, undo });
