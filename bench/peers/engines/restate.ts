/**
 * Restate: its server beside a service in this process, called over HTTP at its ingress. Its defaults; no
 * telemetry.
 */

import { createServer } from 'node:http2';
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { type Context, createEndpointHandler, service } from '@restatedev/restate-sdk';
import { Missing, noOp, type Payload, PAYLOAD, type Start, STEPS, timed } from '../contract.ts';
import { folderOf, freePort, HOST, startServer } from '../server.ts';

const NAME = `@restatedev/restate-server-linux-${process.arch}`;

const chain5 = service({
  name: 'chain5',
  handlers: {
    run: async (context: Context, given: Payload): Promise<Payload> => {
      let data = given;
      for (let at = 0; at < STEPS; at += 1) {
        const before = data;
        data = await context.run(`s${at}`, () => noOp(before));
      }
      return data;
    },
  },
});

const json = async (url: string, body: unknown): Promise<unknown> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return await response.json();
};

/** Set explicitly, although all of them are defaults. */
const DURABLE = {
  RESTATE_BIFROST__LOCAL__ROCKSDB_DISABLE_WAL_FSYNC: 'false',
  RESTATE_LOG_SERVER__ROCKSDB_DISABLE_WAL_FSYNC: 'false',
};

export const start: Start = async (folder) => {
  const server = folderOf(NAME);
  if (server === undefined)
    throw new Missing(
      `${NAME} is not installed: Restate's server has no package for this platform`,
      'npm ci --prefix bench/peers',
    );
  const [ingress, admin, node, own] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const env = {
    ...process.env,
    ...DURABLE,
    RESTATE_INGRESS__BIND_ADDRESS: `${HOST}:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `${HOST}:${admin}`,
    RESTATE_BIND_ADDRESS: `${HOST}:${node}`,
    RESTATE_ADVERTISED_ADDRESS: `http://${HOST}:${node}`,
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_DISABLE_TELEMETRY: 'true',
  };
  const args = ['--base-dir', join(folder, 'restate'), '--no-logo', '--node-name', 'one'];
  const restate = await startServer(join(server, 'bin', 'restate-server'), args, {
    cwd: folder,
    env,
    port: admin,
  });
  const endpoint = createServer(createEndpointHandler({ services: [chain5], logger: () => undefined }));
  await new Promise<void>((done) => endpoint.listen(own, HOST, done));
  const stop = async (): Promise<void> => {
    await restate.stop();
    endpoint.close();
  };
  try {
    await registered(`http://${HOST}:${admin}/deployments`, `http://${HOST}:${own}`);
  } catch (error) {
    await stop();
    throw error;
  }
  const { version } = JSON.parse(readFileSync(join(server, 'package.json'), 'utf8')) as { version: string };
  return {
    server: `restate-server ${version}`,
    durableBy: "restate-server's log in RocksDB, fsync of its WAL on",
    runOne: () => timed(() => json(`http://${HOST}:${ingress}/chain5/run`, PAYLOAD)),
    stop,
  };
};

/** The admin port is available a moment before the node is. */
async function registered(admin: string, uri: string): Promise<void> {
  const giveUpAt = Date.now() + 30_000;
  for (;;) {
    try {
      await json(admin, { uri });
      return;
    } catch (error) {
      if (Date.now() > giveUpAt) throw error;
      await new Promise((done) => setTimeout(done, 200));
    }
  }
}
