export { handler } from '../../../../examples/order-fulfilment/agents/schedule-shipping.ts';
