/**
 * An outside world: its services over HTTP, one ledger, and faults on request.
 *
 * Owns: HTTP, and the form of a misbehaviour on the wire. Does not own: what the services do
 * (`deeds.ts`), the process (`process.ts`).
 *
 *   GET /ledger · GET, POST, DELETE /behave · the services' own paths
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod/mini';
import { Behaviour, type Rule, RuleInput } from './behaviour.ts';
import { type Answer, type Call, type Deed, refuse, understand } from './deeds.ts';
import { type Entry, type Ledger, ledgerIn } from './ledger.ts';

export interface WorldOptions {
  /** 0 for any free one. */
  readonly port: number;
  readonly ledgerFile: string;
  readonly deeds: readonly Deed[];
}

export interface World {
  readonly url: string;
  readonly ledger: readonly Entry[];
  readonly stop: () => Promise<void>;
}

const MAX_BODY_BYTES = 100_000;

export async function startWorld(options: WorldOptions): Promise<World> {
  const ledger = ledgerIn(options.ledgerFile);
  const behaviour = new Behaviour(options.deeds);
  const timers = new Set<NodeJS.Timeout>();
  const wait = (ms: number, then: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      then();
    }, ms);
    timers.add(timer);
  };
  const server = createServer((request, response) => {
    serve({ ledger, behaviour, deeds: options.deeds, wait }, request, response).catch((error: unknown) => {
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
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, ledger: ledger.entries, stop };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((listening, failed) => {
    server.once('error', failed);
    server.listen(port, '127.0.0.1', () => listening());
  });
}

interface Inside {
  readonly ledger: Ledger;
  readonly behaviour: Behaviour;
  readonly deeds: readonly Deed[];
  readonly wait: (ms: number, then: () => void) => void;
}

async function serve(
  { ledger, behaviour, deeds, wait }: Inside,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://world');
  const path = url.pathname.split('/').filter(Boolean).map(decodeURIComponent);
  const method = request.method ?? 'GET';
  const body = await jsonBody(request);
  const own = ownEndpoint(ledger, behaviour, method, path, body);
  if (own !== undefined) return answer(response, own);
  const call = understand(deeds, ledger, { method, path, query: url.searchParams, body });
  // Not 404, which an agent may take for a missing entry.
  if (call === undefined)
    return answer(response, refuse(501, `there is no ${method} ${url.pathname}: ${placesOf(deeds)}`));
  behave(behaviour.take(call), call, wait, response);
}

/** Helps an author whose agent forgot the action, or uses a wrong name for its undo. */
const placesOf = (deeds: readonly Deed[]): string =>
  `world.ts has ${deeds.map(({ service, kind, undo }) => `/${service}/${kind}s${undo === undefined ? '' : ` (undo: ${undo.action})`}`).join(', ')}`;

function added(behaviour: Behaviour, rule: ReturnType<typeof RuleInput.safeParse>): Answer {
  if (rule.success) return { status: 201, body: behaviour.add(rule.data) };
  const wrong = rule.error.issues.map((issue) => {
    const { values, expected } = issue as { values?: readonly string[]; expected?: string };
    return `${issue.path.join('.')}: ${values === undefined ? `expected ${expected ?? issue.message}` : `allowed: ${values.join(', ')}`}`;
  });
  return refuse(400, wrong.join('; '));
}

/** Endpoints for scenes and tests, not for the agents. */
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
      return added(behaviour, z.safeParse(RuleInput, body));
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
      return answer(response, refuse(503, `the ${call.deed.service} service is unavailable`));
    case 'decline':
      return answer(response, refuse(call.deed.declines ?? 422, `the ${call.deed.service} service declines`));
    case 'drop-reply':
      call.perform();
      response.destroy();
      return;
    case 'hang':
      return;
  }
}

function answer(response: ServerResponse, { status, body }: Answer): void {
  // The caller may have disconnected.
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
