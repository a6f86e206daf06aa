/**
 * Forwards one DynamoDB call to the server over keep-alive connections, byte for byte. Does not own: counting
 * and faults (the gateway), the meaning of a call.
 *
 * Invariants
 * - I1 the bodies of request and answer are passed on unread.
 * - I2 a call that broke off is not repeated here: it may have been executed, so only the caller can
 *   decide.
 */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import type { DynamoServer } from './dynamo-process.ts';

export interface ProxyAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** One access key for all callers: a server with one database per key would separate the functions' data. */
const FIXED_CREDENTIAL =
  'AWS4-HMAC-SHA256 Credential=local/20000101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=local';
const PASSED_BACK = ['content-type', 'x-amzn-requestid', 'x-amz-crc32'];

export class DynamoProxy {
  readonly #server: DynamoServer;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64, noDelay: true });

  constructor(server: DynamoServer) {
    this.#server = server;
  }

  /**
   * Forwards a call. Rejects if the connection fails; the caller then closes its own connection unanswered.
   */
  async forward(operation: string, body: Buffer): Promise<ProxyAnswer> {
    if (!this.#server.accepting) throw new Error('DynamoDB is down');
    await this.#server.ready();
    const { host, port } = this.#server.address;
    return await new Promise<ProxyAnswer>((resolve, reject) => {
      const headers = {
        'content-type': 'application/x-amz-json-1.0',
        'content-length': body.length,
        'x-amz-target': `DynamoDB_20120810.${operation}`,
        'x-amz-date': '20000101T000000Z',
        authorization: FIXED_CREDENTIAL,
      };
      const call = request(
        { host, port, method: 'POST', path: '/', agent: this.#agent, headers },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('error', reject);
          answer.on('end', () => {
            const whole = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
            resolve({
              statusCode: answer.statusCode ?? 500,
              headers: passedBack(answer.headers),
              body: whole,
            });
          });
        },
      );
      call.on('error', reject);
      call.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function passedBack(headers: IncomingHttpHeaders): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of PASSED_BACK) {
    const value = headers[name];
    if (typeof value === 'string') kept[name] = value;
  }
  return kept;
}
