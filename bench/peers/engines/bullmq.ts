/**
 * BullMQ on Redis: a flow of five jobs, each the child of the next, and one worker in this process that takes
 * 64 at once.
 *
 * Each job reads what the one before it returned, as a flow's jobs do.
 */

import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type FlowJob, FlowProducer, QueueEvents, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { Missing, noOp, type Payload, PAYLOAD, type Start, STEPS, timed } from '../contract.ts';
import { freePort, HOST, onPath, startServer } from '../server.ts';

const QUEUE = 'chain5';
const CONCURRENCY = 64;

const flow = (id: string, left = STEPS): FlowJob => ({
  name: `s${left - 1}`,
  queueName: QUEUE,
  data: left === 1 ? PAYLOAD : {},
  opts: { jobId: `${id}-${left - 1}` },
  ...(left === 1 ? {} : { children: [flow(id, left - 1)] }),
});

export const start: Start = async (folder) => {
  const binary = onPath('redis-server') ?? onPath('valkey-server');
  if (binary === undefined) throw new Missing('there is no redis-server', 'apt-get install redis-server');
  const [cwd, port] = [join(folder, 'redis'), await freePort()];
  mkdirSync(cwd);
  const kept = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
  const args = ['--port', String(port), '--bind', HOST, '--dir', cwd, ...kept];
  const redis = await startServer(binary, args, { cwd, port });
  const connection = { host: HOST, port };
  const client = new Redis({ ...connection, maxRetriesPerRequest: null });
  const [, policy] = (await client.config('GET', 'appendfsync')) as string[];
  const version = /redis_version:(\S+)/.exec(await client.info('server'))?.[1];
  const worker = new Worker(
    QUEUE,
    async (job) => {
      const [before = job.data as Payload] = Object.values(await job.getChildrenValues<Payload>());
      return await noOp(before);
    },
    { connection, concurrency: CONCURRENCY },
  );
  const events = new QueueEvents(QUEUE, { connection });
  const producer = new FlowProducer({ connection });
  // Every caller that waits for a job's end listens there.
  producer.setMaxListeners(0);
  events.setMaxListeners(0);
  await Promise.all([worker.waitUntilReady(), events.waitUntilReady(), producer.waitUntilReady()]);
  return {
    server: `Redis ${version}`,
    durableBy: `Redis, append-only file, appendfsync ${policy}`,
    runOne: () =>
      timed(async () => {
        const { job } = await producer.add(flow(randomUUID()));
        return (await job.waitUntilFinished(events)) as unknown;
      }),
    stop: async () => {
      await Promise.all([worker.close(), events.close(), producer.close()]);
      client.disconnect();
      await redis.stop();
    },
  };
};
