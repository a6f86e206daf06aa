/** `startServer`: a user's workflow over HTTP, in the test's own process. */

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
    expect(await server.client.untilEnd(executionId)).toMatchObject({ output: { text: 'Hello, Ada' } });
    expect(events).toMatchObject([{ detail: { executionId, status: 'succeeded' } }]);
  } finally {
    await server.stop();
  }
});

it('runs a folder', async () => {
  const server = await startServer({ workflows: join(import.meta.dirname, '../serve/workflows/hello') });
  try {
    const { executionId } = await server.client.start('hello', { input: { name: 'Ada' } });
    expect(await server.client.untilEnd(executionId)).toMatchObject({ status: 'succeeded' });
  } finally {
    await server.stop();
  }
});

it('names the handler that is missing', async () => {
  await expect(startServer({ workflows: [greeting], agents: [composing] })).rejects.toThrow(
    "no implementation of 'post'",
  );
});

it('says where it looked for workflows', async () => {
  await expect(startServer({ workflows: import.meta.dirname })).rejects.toThrow('there is no workflow in');
});
