/** Uses the example's agent in the failure workflows. */

import { execute } from '../../../../examples/order-fulfilment/agents/notify-customer.ts';
import { notifyCustomer } from '../../../../examples/order-fulfilment/workflow.ts';

export const handler = notifyCustomer.handler({ execute });
