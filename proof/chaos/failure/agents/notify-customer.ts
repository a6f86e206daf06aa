export { handler } from '../../../../examples/order-fulfilment/agents/notify-customer.ts';
