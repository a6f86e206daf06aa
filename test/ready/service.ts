/** An HTTP service for tests, and a call of an agent with declared requests to it. */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod/mini';
import { perform } from '../../lib/agent/author-code.ts';
import type { Report } from '../../lib/core/decisions/events.ts';
import type { HttpAgentOptions } from '../../lib/index.ts';
import { declareHttp } from '../../lib/ready/http-agent.ts';
import type { CallKind } from '../../lib/ready/outcomes.ts';
import type { Net } from '../../lib/ready/send.ts';
import { httpWork } from '../../lib/ready/work.ts';

export interface Asked {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}
export type Answer = (response: ServerResponse, asked: Asked) => void;

export interface Service {
  readonly url: string;
  readonly port: number;
  readonly asked: Asked[];
  answer: Answer;
  readonly stop: () => Promise<void>;
}

export async function startService(answer: Answer): Promise<Service> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      const one = { method: request.method, path: request.url, headers: request.headers, body };
      asked.push(one);
      service.answer(response, one);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  const service: Service = { url: `http://127.0.0.1:${port}`, port, asked, answer, stop };
  return service;
}

export const gives =
  (status: number, body = '', headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };

export const Charge = z.object({ amount: z.number() });
export const Paid = z.object({ paymentId: z.string() });
type Options = HttpAgentOptions<z.infer<typeof Charge>, z.infer<typeof Paid>>;

/** Declared requests that post a charge, find it by its key, and delete it. */
export const charging = (url: string, more: Partial<Options> = {}): Options => ({
  input: Charge,
  output: Paid,
  effect: 'probed',
  idempotencyKey: 'idempotency-key',
  allowPrivateAddresses: true,
  execute: ({ input }) => ({
    method: 'POST',
    url: `${url}/charges`,
    body: { amount: input.amount },
    output: ({ body }) => ({ paymentId: body('id') }),
  }),
  probe: ({ idempotencyKey }) => ({
    method: 'GET',
    url: `${url}/charges`,
    path: [idempotencyKey],
    output: ({ body }) => ({ paymentId: body('id') }),
  }),
  undo: ({ idempotencyKey }) => ({ method: 'DELETE', url: `${url}/charges`, path: [idempotencyKey] }),
  ...more,
});

interface Calling {
  readonly call?: CallKind;
  readonly signal?: AbortSignal;
  readonly net?: Net;
  readonly token?: string;
}

/** Makes one call of the agent. @returns its report */
export async function called(options: Options, calling: Calling = {}): Promise<Report> {
  const { call = 'execute', signal = new AbortController().signal, net, token } = calling;
  const { declared, work } = declareHttp('charge', options);
  const quiet = (): void => undefined;
  const worker = { agent: declared as never, implementation: httpWork(work, net) };
  return await perform(worker, {
    mode: call,
    ctx: {
      executionId: 'e',
      step: 'charge',
      attempt: 1,
      idempotencyKey: 'e.charge.1',
      timeLeftMs: () => 20_000,
      signal,
      progress: quiet,
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      ...(token === undefined ? {} : { accepted: { token, at: 1 } }),
    },
    input: { amount: 5 },
    output: undefined,
  });
}

/** The outcome and code of a report. */
export function outcomeIn(report: Report): string {
  const code = 'failure' in report ? ` ${report.failure?.code ?? ''}` : '';
  if (report.kind === 'failed') return `${report.permanent ? 'permanent' : 'transient'}${code}`;
  return report.kind === 'found' ? `${report.verdict}${code}` : `${report.kind}${code}`;
}
