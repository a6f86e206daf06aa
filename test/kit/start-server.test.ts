/** `startServer`: a user's workflow over HTTP, in the test's own process. */

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startServer, type TestServerEvent } from 'steadfast/testing';
import { compose, greeting, post } from '../serve/served.ts';

const composing = compose.handler({ execute: async (_, { text }) => ({ text: `Hello, ${text}` }) });
const posting = post.handler({ execute: async (_, input) => input });

it('runs workflows with their handlers, and says what happened', async () => {
  const events: TestServerEvent[] = [];
  const server = await startServer<{ greeting: typeof greeting }>({
    workflows: [greeting],
    agents: [composing, posting],
    onEvent: (event) => void events.push(event),
  });
  try {
    const { executionId } = await server.client.start('greeting', { input: { text: 'Ada' } });
    expect(await server.client.waitForEnd(executionId)).toMatchObject({ output: { text: 'Hello, Ada' } });
    expect(events).toMatchObject([{ detail: { executionId, status: 'succeeded' } }]);
  } finally {
    await server.stop();
  }
});

it('sends the end to the callbackUrl of a start, signed, also on this machine', async () => {
  let came: (request: IncomingMessage) => void = () => undefined;
  const first = new Promise<IncomingMessage>((one) => (came = one));
  const receiver = createServer((request, response) => {
    came(request);
    response.writeHead(204).end();
  });
  await new Promise<void>((ready) => receiver.listen(0, '127.0.0.1', ready));
  const given = { workflows: [greeting], agents: [composing, posting] };
  const server = await startServer<{ greeting: typeof greeting }>({ ...given, eventsSecret: 'a'.repeat(24) });
  try {
    const { port } = receiver.address() as AddressInfo;
    const callbackUrl = `http://127.0.0.1:${port}/news`;
    await server.client.start('greeting', { input: { text: 'Ada' }, callbackUrl });
    const { url, headers } = await first;
    expect([url, headers['webhook-signature']]).toEqual(['/news', expect.stringMatching(/^v1,/)]);
    await expect(startServer({ ...given, eventsSecret: 'short' })).rejects.toThrow(
      'eventsSecret has fewer than 24 bytes',
    );
  } finally {
    await server.stop();
    receiver.close();
  }
});

it('runs a folder', async () => {
  const server = await startServer({ workflows: join(import.meta.dirname, '../serve/workflows/hello') });
  try {
    const { executionId } = await server.client.start('hello', { input: { name: 'Ada' } });
    expect(await server.client.waitForEnd(executionId)).toMatchObject({ status: 'succeeded' });
  } finally {
    await server.stop();
  }
});

it('begins no more attempts of an agent than its rate', async () => {
  const calledAt: number[] = [];
  const late = compose.handler({
    execute: async (_, { text }) => {
      calledAt.push(performance.now());
      return { text };
    },
  });
  const server = await startServer({
    workflows: [greeting],
    agents: [late, posting],
    rates: { compose: '10/s' },
  });
  try {
    const begun = await Promise.all(
      Array.from({ length: 8 }, () => server.client.start('greeting', { input: { text: 'Ada' } })),
    );
    for (const { executionId } of begun) await server.client.waitForEnd(executionId);
    expect(calledAt).toHaveLength(8);
    // The first comes at once, and each other one at least a tenth of a second later.
    expect((calledAt.at(-1) ?? 0) - (calledAt[0] ?? 0)).toBeGreaterThan(500);
  } finally {
    await server.stop();
  }
});

it('refuses a rate for an unknown agent, and an invalid rate', async () => {
  const given = { workflows: [greeting], agents: [composing, posting] };
  await expect(startServer({ ...given, rates: { charge: '1/s' } })).rejects.toThrow(
    "no agent is named 'charge'; there are compose, post",
  );
  await expect(startServer({ ...given, rates: { compose: '1' } })).rejects.toThrow("'1' is not a rate");
});

it('names the handler that is missing', async () => {
  await expect(startServer({ workflows: [greeting], agents: [composing] })).rejects.toThrow(
    "no implementation of 'post'",
  );
});

it('names the folders that it searched for workflows', async () => {
  await expect(startServer({ workflows: import.meta.dirname })).rejects.toThrow('there is no workflow in');
});
