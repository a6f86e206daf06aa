/** An API that answers what a test tells it to, and remembers what it was asked. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { run } from '../../cli/main.ts';

export interface Asked {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body: unknown;
  /** As whom, where the command says so. */
  readonly as?: string;
}

export interface Answer {
  readonly status: number;
  /** A text is sent as it is. */
  readonly body: unknown;
  /** What it says the time is. @default this machine's */
  readonly at?: number;
}

export interface FakeApi {
  readonly url: string;
  readonly asked: Asked[];
  /** The next answers, one each; afterwards 500. */
  readonly answers: Answer[];
  readonly stop: () => Promise<void>;
}

const dateOf = (answer: Answer | undefined): { readonly date?: string } =>
  answer?.at === undefined ? {} : { date: new Date(answer.at).toUTCString() };

export async function fakeApi(): Promise<FakeApi> {
  const asked: Asked[] = [];
  const answers: Answer[] = [];
  const server = createServer((request, response) => {
    // No local cloud is behind it.
    if (request.url?.startsWith('/_local/') === true) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    // It is asked for its time alone.
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
