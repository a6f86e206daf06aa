/**
 * Serves a mocked SDK client over real HTTP, so that a test defines AWS's answers by the mock, and both
 * transports must understand them.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Transport } from '../../lib/aws/names.ts';
import { transported } from '../../lib/aws/transport.ts';

interface Sender {
  send: (command: never) => Promise<unknown>;
}
interface Settings {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly maxAttempts: number;
}

/** Fields that the SDK adds to an exception, so they are not in the answer. */
const HIDDEN = new Set(['name', '$fault', '$metadata', '$service', 'stack']);

/**
 * Makes a client whose calls a mocked one of the same kind answers, from before the tests until after them.
 * @param mocked an instance: a mocked class would be the client's own
 * @param sdk the package whose commands are called
 * @param make a client of the same kind
 */
export function answeredBy<Client extends object>(
  mocked: Client,
  sdk: object,
  make: (settings: Settings) => Client,
  transport: Transport,
): Client {
  const commands = sdk as Readonly<Record<string, new (input: unknown) => never>>;
  const server = createServer((request, response) => void answer(request, response));
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const operation = String(request.headers['x-amz-target']).split('.').at(-1);
    const input: unknown = JSON.parse(await text(request));
    const Command = commands[`${operation}Command`] as new (input: unknown) => never;
    try {
      const output = (await (mocked as Sender).send(new Command(input))) ?? {};
      response.end(JSON.stringify(output));
    } catch (error) {
      const { name, message } = error as Error;
      if (name === 'TimeoutError') return void response.destroy();
      const fields = Object.entries(error as object).filter(([field]) => !HIDDEN.has(field));
      const body = { __type: `com.amazonaws#${name}`, message, ...Object.fromEntries(fields) };
      response.writeHead(400).end(JSON.stringify(body));
    }
  };
  const settings = {
    endpoint: 'http://127.0.0.1',
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 's' },
    maxAttempts: 1,
  };
  let client: Client | undefined;
  beforeAll(async () => {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    client = transported(make({ ...settings, endpoint }), { transport });
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const send: Sender['send'] = (command) => (client as Sender).send(command);
  return { send } as unknown as Client;
}
