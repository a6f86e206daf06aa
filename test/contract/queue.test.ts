import { TRANSPORTS } from '../../lib/aws/names.ts';
import { sqsQueue } from '../../lib/aws/sqs-queue.ts';
import { formatMessage } from '../../lib/core/decisions/message.ts';
import { memoryWorld } from '../../lib/memory/world.ts';
import { startSqs } from './local-sqs.ts';
import { describeQueue } from './queue.contract.ts';

describeQueue('in memory', async () => {
  const { clock, queue, sent } = memoryWorld();
  const dueAt = new Map<(typeof sent)[number], number>();
  return {
    queue: {
      send: async (sends) => {
        await queue.send(sends);
        for (const send of sends) dueAt.set(send, clock.now() + send.delayMs);
      },
    },
    receiveAll: async (agent) => {
      const due = sent.filter((send) => send.agent === agent && (dueAt.get(send) ?? 0) <= clock.now());
      for (const send of due) sent.splice(sent.indexOf(send), 1);
      return due.map((send) => formatMessage(send.message));
    },
    advance: (ms) => clock.advanceTo(clock.now() + ms),
    close: async () => undefined,
  };
});

for (const transport of TRANSPORTS)
  describeQueue(`SQS, ${transport}`, async () => {
    const { client, urlOf, ...rest } = await startSqs(['worker', 'other'], transport);
    const urls = new Map(['worker', 'other'].map((agent) => [agent, urlOf(agent)]));
    return { queue: sqsQueue(client, urls), ...rest };
  });
