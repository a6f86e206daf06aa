export { handler } from '../../../../examples/order-fulfilment/agents/reserve-stock.ts';
