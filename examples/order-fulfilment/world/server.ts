/**
 * The outside world as a process of its own: four services over HTTP, one ledger, and faults on request.
 *
 * Owns: HTTP, how a misbehaviour looks on the wire, and the process's life. Does not own: what the services do
 * (`services.ts`).
 *
 *   npx tsx examples/order-fulfilment/world/server.ts [--port 4520] [--ledger .steadfast/world.jsonl] [--with-stdin]
 *
 * Started with an IPC channel, it ends when the channel closes; with `--with-stdin`, when its standard input does.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as z from 'zod/mini';
import { Behaviour, type Rule, RuleInput } from './behaviour.ts';
import { Ledger } from './ledger.ts';
import { type Answer, type Call, refuse, understand } from './services.ts';

export interface WorldOptions {
  /** 0 for any free one. */
  readonly port: number;
  readonly ledgerFile: string;
}

export interface World {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

const MAX_BODY_BYTES = 100_000;

export async function startWorld(options: WorldOptions): Promise<World> {
  const ledger = new Ledger(options.ledgerFile);
  const behaviour = new Behaviour();
  const timers = new Set<NodeJS.Timeout>();
  const wait = (ms: number, then: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      then();
    }, ms);
    timers.add(timer);
  };
  const server = createServer((request, response) => {
    serve(ledger, behaviour, wait, request, response).catch((error: unknown) => {
      const known = [z.core.$ZodError, SyntaxError, URIError].some((type) => error instanceof type);
      answer(response, refuse(known ? 400 : 500, error instanceof Error ? error.message : 'unknown error'));
    });
  });
  await listen(server, options.port);
  const stop = (): Promise<void> =>
    new Promise((stopped) => {
      for (const timer of timers) clearTimeout(timer);
      server.close(() => stopped());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((listening, failed) => {
    server.once('error', failed);
    server.listen(port, '127.0.0.1', () => listening());
  });
}

async function serve(
  ledger: Ledger,
  behaviour: Behaviour,
  wait: (ms: number, then: () => void) => void,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://world');
  const path = url.pathname.split('/').filter(Boolean).map(decodeURIComponent);
  const method = request.method ?? 'GET';
  const body = await jsonBody(request);
  const own = ownEndpoint(ledger, behaviour, method, path, body);
  if (own !== undefined) return answer(response, own);
  const call = understand(ledger, { method, path, query: url.searchParams, body });
  if (call === undefined) return answer(response, refuse(404, `there is no ${method} ${url.pathname}`));
  behave(behaviour.take(call), call, wait, response);
}

/** What is there for the audience, not for the agents. */
function ownEndpoint(
  ledger: Ledger,
  behaviour: Behaviour,
  method: string,
  path: readonly string[],
  body: unknown,
): Answer | undefined {
  switch (`${method} /${path.join('/')}`) {
    case 'GET /ledger':
      return { status: 200, body: { entries: ledger.entries } };
    case 'GET /behave':
      return { status: 200, body: { rules: behaviour.rules } };
    case 'POST /behave':
      return { status: 201, body: behaviour.add(z.parse(RuleInput, body)) };
    case 'DELETE /behave':
      behaviour.clear();
      return { status: 200, body: { rules: [] } };
    default:
      return undefined;
  }
}

function behave(
  rule: Rule | undefined,
  call: Call,
  wait: (ms: number, then: () => void) => void,
  response: ServerResponse,
): void {
  switch (rule?.mode) {
    case undefined:
      return answer(response, call.perform());
    case 'slow':
      return wait(rule?.ms ?? 1_000, () => answer(response, call.perform()));
    case 'slow-reply': {
      const late = call.perform();
      return wait(rule?.ms ?? 1_000, () => answer(response, late));
    }
    case 'unavailable':
      if (rule?.retryAfter !== undefined) response.setHeader('retry-after', rule.retryAfter);
      return answer(response, refuse(503, `the ${call.service} service is unavailable`));
    case 'decline':
      return answer(
        response,
        refuse(call.service === 'payment' ? 402 : 422, `the ${call.service} service declines`),
      );
    case 'drop-reply':
      call.perform();
      response.destroy();
      return;
    case 'hang':
      return;
  }
}

function answer(response: ServerResponse, { status, body }: Answer): void {
  // The caller may have hung up meanwhile.
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function jsonBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new SyntaxError(`a body may have ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return bytes === 0 ? undefined : (JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '4520' },
      ledger: { type: 'string', default: '.steadfast/world.jsonl' },
      'with-stdin': { type: 'boolean', default: false },
    },
  });
  const world = await startWorld({ port: Number(values.port), ledgerFile: resolve(values.ledger) });
  const end = (): void => {
    void world.stop().then(() => process.exit(0));
  };
  process.once('SIGINT', end).once('SIGTERM', end);
  // A parent that was killed cannot stop its children; they must notice.
  if (process.connected) process.once('disconnect', end);
  if (values['with-stdin']) process.stdin.once('end', end).resume();
  process.send?.({ url: world.url });
  process.stdout.write(`The outside world is at ${world.url}; its ledger is ${values.ledger}\n`);
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await main().catch((error: unknown) => {
    process.stderr.write(
      `The outside world cannot start: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    process.exitCode = 1;
  });
}
