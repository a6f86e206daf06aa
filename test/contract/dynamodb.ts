/**
 * The state table on a DynamoDB-compatible server: the embedded one, or the one of AWS_ENDPOINT_URL_DYNAMODB.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTableCommand, DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { tableOf } from '../../bench/parts/table.ts';
import { type Transport, TRANSPORTS } from '../../lib/aws/names.ts';
import { transported } from '../../lib/aws/transport.ts';
import { EmbeddedDynamo } from '../../local/dynamodb/dynamo-process.ts';
import { Guardian } from '../../local/processes/guardian.ts';

export interface Dynamo {
  readonly client: DynamoDBClient;
  /** Makes a client with this transport. */
  readonly by: (transport: Transport) => DynamoDBClient;
  /** A new empty state table. */
  readonly table: () => Promise<{ name: string; drop: () => Promise<void> }>;
  readonly stop: () => Promise<void>;
}

/** @throws Error that says what to install or to set if no server can be started */
export async function startDynamo(): Promise<Dynamo> {
  const external = process.env['AWS_ENDPOINT_URL_DYNAMODB'];
  const server =
    external === undefined ? await embedded() : { endpoint: external, stop: async () => undefined };
  const aClient = (): DynamoDBClient =>
    new DynamoDBClient({
      endpoint: server.endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      maxAttempts: 1,
    });
  const client = aClient();
  const clients = new Map(
    TRANSPORTS.map((transport) => [transport, transported(aClient(), { transport, requestTimeout: 60_000 })]),
  );
  let tables = 0;
  return {
    client,
    by: (transport) => clients.get(transport) as DynamoDBClient,
    table: async () => {
      tables += 1;
      const name = `state-${process.pid}-${tables}`;
      await client.send(new CreateTableCommand(tableOf(name)));
      return {
        name,
        drop: async () => void (await client.send(new DeleteTableCommand({ TableName: name }))),
      };
    },
    stop: async () => {
      for (const one of [client, ...clients.values()]) one.destroy();
      await server.stop();
    },
  };
}

async function embedded(): Promise<{ endpoint: string; stop: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-dynamodb-'));
  const guardian = new Guardian();
  try {
    const server = new EmbeddedDynamo(folder, join(folder, 'server.log'), guardian, () => undefined);
    await server.start();
    return {
      endpoint: `http://${server.address.host}:${server.address.port}`,
      stop: async () => {
        await server.stop();
        await guardian.stop();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await guardian.stop();
    throw error;
  }
}
