/** A fake API: gives the test's answers, and records the requests. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { run } from '../../cli/main.ts';

export interface Asked {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly body: unknown;
  /** The person named by the command, if it names one. */
  readonly as?: string;
}

export interface Answer {
  readonly status: number;
  /** A text is sent unchanged. */
  readonly body: unknown;
  /** The API's time. @default this machine's */
  readonly at?: number;
}

export interface FakeApi {
  readonly url: string;
  readonly asked: Asked[];
  /** The next answers, one for each request; afterwards 500. */
  readonly answers: Answer[];
  readonly stop: () => Promise<void>;
}

const dateOf = (answer: Answer | undefined): { readonly date?: string } =>
  answer?.at === undefined ? {} : { date: new Date(answer.at).toUTCString() };

export async function fakeApi(): Promise<FakeApi> {
  const asked: Asked[] = [];
  const answers: Answer[] = [];
  const server = createServer((request, response) => {
    // This API has no local cloud behind it.
    if (request.url?.startsWith('/_local/') === true) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    // The client sends this request only to read the API's time.
    if (request.url === '/live') {
      response.writeHead(204, dateOf(answers[0])).end();
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const body: unknown = text === '' ? undefined : JSON.parse(text);
      const as = request.headers['x-local-user'];
      const who = typeof as === 'string' ? { as } : {};
      asked.push({ method: request.method ?? '', path: request.url ?? '', body, ...who });
      const answer = answers.shift() ?? { status: 500, body: { message: 'the test gave no answer' } };
      response.writeHead(answer.status, { 'content-type': 'application/json', ...dateOf(answer) });
      response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const stop = (): Promise<void> =>
    new Promise((stopped) => {
      server.close(() => stopped());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, asked, answers, stop };
}

/** A new API for each test of a file. */
export function eachFakeApi(): FakeApi {
  const api = {} as FakeApi;
  beforeEach(async () => {
    Object.assign(api, await fakeApi());
  });
  afterEach(() => api.stop());
  return api;
}

export const ok = (body: unknown, status = 200): Answer => ({ status, body });

export interface Ran {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command in this process. */
export async function steadfast(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  let [out, err] = ['', ''];
  const exitCode = await run(args, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    env,
    isTTY: false,
  });
  return { exitCode, out, err };
}
