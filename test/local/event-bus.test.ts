/** The event bus delivers numbers unchanged, for every source of events and every part that a target gets. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Control } from '../../local/control/control.ts';
import { controlListener } from '../../local/control/control-http.ts';
import { EventBus } from '../../local/events/event-bus.ts';
import { parseExact } from '../../local/events/exact-json.ts';

const EXACT = '{"total":50,"id":9007199254740993,"price":1.10,"list":[18446744073709551615,-0]}';

function open(inputPath?: string): { bus: EventBus; delivered: string[] } {
  const delivered: string[] = [];
  const queue = { send: ({ body }: { body: string }) => void delivered.push(body) };
  const target = { arn: 'arn:aws:sqs:us-east-1:000000000000:q', input: undefined, inputPath };
  const rule = {
    kind: 'rule',
    ruleName: 'r',
    busName: 'default',
    enabled: true,
    pattern: { detail: { total: [{ numeric: ['>', 10] }], price: [1.1] } },
    targets: [target],
  };
  const settings = {
    rules: [rule],
    busNames: ['default'],
    queues: { byArn: () => queue },
    functionByName: () => undefined,
    clock: { now: () => 0 },
    mayReach: () => true,
    onProblem: (message: string) => {
      throw new Error(message);
    },
  };
  return { bus: new EventBus(settings as never), delivered };
}

test('an event that was put keeps its numbers; a pattern sees them as numbers', () => {
  const { bus, delivered } = open();
  const answer = bus.put([{ Source: 'shop', DetailType: 'Done', Detail: EXACT }]);
  expect(answer.FailedEntryCount).toBe(0);
  expect(delivered).toEqual([expect.stringContaining(`"detail":${EXACT}`)]);
  expect(bus.emitted()[0]?.detail).toEqual(JSON.parse(EXACT));
});

test.each([
  ['$.detail', EXACT],
  ['$.detail.id', '9007199254740993'],
  ['$.detail.price', '1.10'],
])('the part %s of one as well', (inputPath, text) => {
  const { bus, delivered } = open(inputPath);
  bus.put([{ Source: 'shop', DetailType: 'Done', Detail: EXACT }]);
  expect(delivered).toEqual([text]);
});

test('one of AWS itself as well', () => {
  const { bus, delivered } = open('$.detail');
  bus.tell({ source: 'aws.s3', detailType: 'Done', detail: parseExact(EXACT) });
  expect(delivered).toEqual([EXACT]);
});

test('one that came by the control as well', async () => {
  const { bus, delivered } = open('$.detail');
  const control = { putEvent: bus.tell.bind(bus) } as unknown as Control;
  const facts = { outputs: {}, notRun: [], apiUrl: '', gatewayUrl: '' };
  const server = createServer(controlListener(control, facts as never));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/_local/events`, {
    method: 'POST',
    body: `{"source":"shop","detailType":"Done","detail":${EXACT}}`,
  });
  expect([answer.status, delivered]).toEqual([200, [EXACT]]);
  await new Promise((resolve) => void server.close(resolve));
});

describe("AWS's limits", () => {
  const entry = (bytes: number) => ({ Source: 's', DetailType: 't', Detail: `"${'x'.repeat(bytes - 4)}"` });

  test.each([
    ['one entry', [entry(1_048_577)]],
    ['several together', [entry(600_000), entry(600_000)]],
    ['as bytes', [{ ...entry(10), Resources: ['ü'.repeat(524_288)] }]],
  ])('refuse the whole request that is over 1 MB: %s', (_, entries) => {
    const { bus, delivered } = open();
    expect(() => bus.put(entries)).toThrow(/over the limit: \d+ bytes; allowed are 1048576/);
    expect([bus.emitted(), delivered]).toEqual([[], []]);
  });

  test('let one of 1 MB through', () => {
    expect(() => open().bus.put([entry(1_048_576)])).not.toThrow();
  });

  test('refuse more than ten entries', () => {
    expect(() => open().bus.put(Array.from({ length: 11 }, () => entry(10)))).toThrow(/at most 10/);
  });

  test('hold for an event by hand', () => {
    const detail = 'x'.repeat(1_048_576);
    expect(() => open().bus.tell({ source: 's', detailType: 't', detail })).toThrow(/over the limit/);
  });
});
