export { handler } from '../../../../examples/order-fulfilment/agents/charge-card.ts';
