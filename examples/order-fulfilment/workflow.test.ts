import { orderFulfilment } from './workflow.ts';

const { plan } = orderFulfilment;
const steps = plan.steps.filter((step) => step.kind === 'step');

test('the card is charged and the stock reserved side by side; shipping waits for both, the mail for shipping', () => {
  const after = Object.fromEntries(plan.steps.map((step) => [step.name, [...step.after].sort()]));
  expect(after).toEqual({ charge: [], reserve: [], ship: ['charge', 'reserve'], notify: ['ship'] });
});

test('each service’s habits are declared: who deduplicates, who is asked, what cannot be undone', () => {
  const declared = steps.map((step) => [step.agent, step.effect, step.undo === 'none']);
  expect(declared).toEqual(
    expect.arrayContaining([
      ['charge-card', 'probed', false],
      ['reserve-stock', 'idempotent', false],
      ['schedule-shipping', 'probed', false],
      ['notify-customer', 'idempotent', true],
    ]),
  );
});

test('three refusals in a row are survived', () => {
  for (const step of steps) {
    expect(step.ladder).toEqual([{ kind: 'retry', attempts: 4, firstMs: 500, maxMs: 5_000 }]);
  }
});

test.each([
  ['a total that is not in cents', { total: 12.5 }],
  ['an empty order', { items: [] }],
  ['an order without an id', { orderId: '' }],
])('%s is refused', async (_, change) => {
  const order = {
    orderId: 'order-1',
    email: 'a@b.example',
    address: 'Somewhere 1',
    items: [{ sku: 'book', quantity: 1 }],
    total: 1_250,
  };
  const { validate } = orderFulfilment.input['~standard'];
  expect((await validate(order)).issues).toBeUndefined();
  expect((await validate({ ...order, ...change })).issues).toHaveLength(1);
});
