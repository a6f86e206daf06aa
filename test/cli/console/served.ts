/**
 * Serves the console before a fake API. Requests are sent as raw bytes, because `fetch` would correct them.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import {
  createServer,
  type IncomingHttpHeaders,
  request,
  type RequestListener,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConsoleOptions, consoleListener } from '../../../cli/console/listener.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The code, if the answer has the API's form. */
  readonly code: string | undefined;
}

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Buffer;
}

export interface Served {
  readonly port: number;
  /** The API's requests, in order. */
  readonly asked: Asked[];
  /** How the API answers. @default `{"ok":true}` */
  answer: RequestListener;
  /** The page's token. */
  readonly token: string;
  readonly cookie: string | undefined;
  /** Sends a request exactly as given, adding only `host`. */
  readonly ask: (target: string, sent?: Sent) => Promise<Answer>;
  /** Sends a request as the page does; a header that is undefined is left out. */
  readonly page: (target: string, sent?: Sent) => Promise<Answer>;
}

export const OUTSIDE = 'what no page may have';

const open: Server[] = [];
const folders: string[] = [];

/** Closes all servers of a test file, even after a failure. */
export async function endAll(): Promise<void> {
  await Promise.all(open.splice(0).map(closed));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
}

/** Writes a built page, and beside its folder a file that must not be served. */
export function builtPage(): string {
  const around = mkdtempSync(join(tmpdir(), 'steadfast-console-'));
  folders.push(around);
  const folder = join(around, 'console');
  mkdirSync(join(folder, 'assets'), { recursive: true });
  const metas = [
    '<meta name="steadfast-token" content="%STEADFAST_TOKEN%" />',
    '<meta name="steadfast-settings" content="%STEADFAST_SETTINGS%" />',
  ];
  writeFileSync(join(folder, 'index.html'), `<!doctype html>${metas.join('')}`);
  writeFileSync(join(folder, 'assets', 'index-Ab12Cd34.js'), 'start();');
  writeFileSync(join(folder, 'icon.svg'), '<svg/>');
  writeFileSync(join(folder, '.env'), OUTSIDE);
  writeFileSync(join(folder, '..', 'outside.js'), OUTSIDE);
  return folder;
}

/** @param isOpened whether a browser has opened it, if a login is needed */
export async function serve(options: Partial<ConsoleOptions> = {}, isOpened = true): Promise<Served> {
  const asked: Asked[] = [];
  const api = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url = '', headers } = incoming;
      asked.push({ method, path: url, headers, body: Buffer.concat(chunks).toString() });
      served.answer(incoming, response);
    });
  });
  const apiPort = await listening(api);
  const folder = options.folder ?? builtPage();
  const settings = { deployment: 'Shop', readOnly: false, local: false };
  const upstream = () => ({ url: `http://127.0.0.1:${apiPort}`, fetch });
  const server = createServer(consoleListener({ folder, settings, upstream, ...options }));
  const port = await listening(server);
  const ask: Served['ask'] = (target, sent) => raw(port, target, sent);
  const cookie = isOpened ? await opened(ask, options) : undefined;
  const { text } = await ask('/console/', { headers: { cookie } });
  const token = /name="steadfast-token" content="([^"]*)"/.exec(text)?.[1] ?? '';
  const own = {
    cookie,
    'x-steadfast-console': token,
    origin: `http://127.0.0.1:${port}`,
    'content-type': 'application/json',
  };
  const served: Served = {
    port,
    asked,
    answer: json(200, { ok: true }),
    token,
    cookie,
    ask,
    page: (target, sent = {}) =>
      ask(target, {
        ...(sent.method === 'POST' ? { body: '{}' } : {}),
        ...sent,
        headers: { ...own, ...sent.headers },
      }),
  };
  return served;
}

async function opened(ask: Served['ask'], { login }: Partial<ConsoleOptions>): Promise<string | undefined> {
  if (login === undefined) return undefined;
  const { headers } = await ask(`/console/?code=${login.code}`);
  return headers['set-cookie']?.[0]?.split(';')[0];
}

/** The API's answer as JSON. */
export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };

async function listening(server: Server): Promise<number> {
  open.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
}

const closed = (server: Server): Promise<void> =>
  new Promise((done) => {
    server.close(() => done());
    server.closeAllConnections();
  });

function raw(
  port: number,
  target: string,
  { method = 'GET', headers = {}, body }: Sent = {},
): Promise<Answer> {
  const given = Object.entries({ host: `127.0.0.1:${port}`, ...headers }).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  return new Promise((answered, failed) => {
    const sent = request(
      { host: '127.0.0.1', port, path: target, method, headers: Object.fromEntries(given), setHost: false },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('error', failed);
        response.on('end', () => {
          const { statusCode: status = 0, headers: heard } = response;
          answered({ status, headers: heard, text, code: codeIn(text) });
        });
      },
    );
    sent.on('error', failed);
    sent.end(body);
  });
}

function codeIn(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { error?: { code?: string } }).error?.code;
  } catch {
    return undefined;
  }
}
