/**
 * Serves the built console as its servers do: under `/console/` with its policy, the API beside it, a token that every request
 * must carry. Tests have its API be slow or fail.
 */

import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';

const BUILT = join(import.meta.dirname, '..', '..', 'dist', 'console');

export const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

export interface PageServer {
  readonly url: string;
  /** What stands between the page and the API; each test begins without. */
  readonly weather: { delayMs: number; status: number; settings: object; page: (html: string) => string };
  /** Requests to the API, as 'GET /agents'. */
  readonly asked: string[];
  readonly close: () => Promise<void>;
}

export type Answering = (request: Request) => Promise<Response>;

/** An API that is reached by an address. */
export const behind =
  (apiUrl: string): Answering =>
  async (request) => {
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    const body = method === 'GET' ? undefined : await request.text();
    const contentType = headers.get('content-type');
    return fetch(`${apiUrl}${pathname}${search}`, {
      method,
      ...(body === undefined ? {} : { body }),
      headers: contentType === null ? {} : { 'content-type': contentType },
    });
  };

const TOKEN = 'a-token-of-this-run';
export const calm = (): PageServer['weather'] => ({
  delayMs: 0,
  status: 0,
  settings: { deployment: 'Steadfast-dev', readOnly: false, local: true },
  page: (html) => html,
});

export async function servePage(api: Answering): Promise<PageServer> {
  const weather = calm();
  const asked: string[] = [];
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const url = new URL(incoming.url ?? '/', 'http://127.0.0.1');
    const path = url.pathname.replace(/^\/console\//, '');
    if (path === 'api' || path.startsWith('api/')) await pass(url, incoming, outgoing);
    else serveFile(path === '' ? 'index.html' : path, weather, outgoing);
  };
  const pass = async (url: URL, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const target = `${url.pathname.replace(/^\/console\/api/, '')}${url.search}`;
    asked.push(`${incoming.method} ${target}`);
    const { status, delayMs } = weather;
    if (delayMs > 0) await new Promise((done) => setTimeout(done, delayMs));
    if (incoming.headers['x-steadfast-console'] !== TOKEN) return void outgoing.writeHead(403).end('{}');
    if (status > 0) return void outgoing.writeHead(status).end('{"message":"out of order"}');
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const response = await api(
      new Request(`http://api${target}`, {
        method: incoming.method ?? 'GET',
        headers: { 'content-type': incoming.headers['content-type'] ?? '' },
        ...(incoming.method === 'GET' ? {} : { body }),
      }),
    );
    outgoing.writeHead(response.status, { 'content-type': 'application/json' }).end(await response.text());
  };
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch((error: unknown) => outgoing.writeHead(502).end(String(error)));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/console/`,
    weather,
    asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function serveFile(name: string, { settings, page }: PageServer['weather'], outgoing: ServerResponse): void {
  const type = TYPES[extname(name)];
  if (type === undefined || name.includes('..')) return void outgoing.writeHead(404).end();
  let content: string;
  try {
    content = readFileSync(join(BUILT, name), 'utf8');
  } catch {
    return void outgoing.writeHead(404).end();
  }
  const escaped = JSON.stringify(settings).replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const shown = content.replace('%STEADFAST_TOKEN%', TOKEN).replace('%STEADFAST_SETTINGS%', escaped);
  outgoing
    .writeHead(200, {
      'content-type': type,
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
    })
    .end(name === 'index.html' ? page(shown) : shown);
}
