/** Uses the example's agent in the failure workflows. */

import { execute, probe, undo } from '../../../../examples/order-fulfilment/agents/charge-card.ts';
import { chargeCard } from '../../../../examples/order-fulfilment/workflow.ts';

export const handler = chargeCard.handler({ execute, probe, undo });
