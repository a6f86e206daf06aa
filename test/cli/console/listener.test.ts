/** Which requests the console's server passes to the API, and which it refuses. */

import { request } from 'node:http';
import { join } from 'node:path';
import { CALLS } from '../../../lib/api/calls.ts';
import { MAX_LARGE_BODY_BYTES as API_TAKES } from '../../../lib/api/read-request.ts';
import { fileOf } from '../../../cli/console/files.ts';
import { Login } from '../../../cli/console/login.ts';
import { MAX_BODY_BYTES } from '../../../cli/console/listener.ts';
import { Writes } from '../../../cli/console/writes.ts';
import { builtPage, endAll, json, OUTSIDE, type Sent, serve, type Served } from './served.ts';

let one: Served;
let folder: string;
beforeAll(async () => {
  folder = builtPage();
  one = await serve({ folder, login: new Login() });
});
beforeEach(() => {
  one.asked.length = 0;
  one.answer = json(200, { ok: true });
});
afterAll(endAll);

const API = '/console/api';
const WRITE = `${API}/executions/e1/cancel`;
const routes = Object.keys(CALLS).map((route) => route.split(' ') as [method: string, path: string]);
/** Replaces the parameters of a path by names. */
const filled = (path: string): string => path.replaceAll(/\{\w+\}/g, '1');

/** Sends only the first byte of a write's body. @returns the status, or how the connection ended */
const begun = ({ port, cookie, token }: Served, more: Record<string, string>): Promise<unknown> =>
  new Promise((over) => {
    const headers = {
      'x-steadfast-console': token,
      origin: `http://127.0.0.1:${port}`,
      'content-type': 'application/json',
      ...(cookie === undefined ? {} : { cookie }),
      ...more,
    };
    const sent = request(
      { host: '127.0.0.1', port, path: WRITE, method: 'POST', headers },
      ({ statusCode }) => {
        over(statusCode);
        sent.destroy();
      },
    );
    sent.on('error', ({ code }: NodeJS.ErrnoException) => over(code));
    sent.write('{');
  });

describe('the page', () => {
  it('is served with what it is to send and what the server says of itself, and is never kept', async () => {
    const { status, headers, text } = await one.page('/console/');
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(one.token).toMatch(/^[\w-]{43}$/);
    expect(text).toContain(
      'content="{&#34;deployment&#34;:&#34;Shop&#34;,&#34;readOnly&#34;:false,&#34;local&#34;:false,&#34;tellsWrites&#34;:false,&#34;hasLogs&#34;:false}"',
    );
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    });
  });

  it('has files that are kept where their name has a hash, and not otherwise', async () => {
    const script = await one.page('/console/assets/index-Ab12Cd34.js');
    const icon = await one.page('/console/icon.svg', { method: 'HEAD' });
    expect([script.text, script.headers['content-type'], script.headers['cache-control']]).toEqual([
      'start();',
      'text/javascript; charset=utf-8',
      'public, max-age=31536000, immutable',
    ]);
    expect([icon.status, icon.text, icon.headers['cache-control']]).toEqual([200, '', 'no-store']);
    expect((await one.ask('/console')).headers.location).toBe('/console/');
  });

  it.each(['../outside.js', 'assets/../../outside.js', 'assets//../../outside.js', './index.html', '.env'])(
    'has no file that leads out of its folder, or is none of it: %s',
    async (name) => {
      expect(await fileOf(folder, name)).toBeUndefined();
    },
  );

  it('is given a hostile name as text', async () => {
    const settings = { deployment: '"><script>$&', readOnly: false, local: true };
    const other = await serve({ settings });
    const { text } = await other.ask('/console/');
    expect(text).toContain('{&#34;deployment&#34;:&#34;\\&#34;&#62;&#60;script&#62;$&#38;&#34;');
  });

  it('that is not built is said to be so', async () => {
    const other = await serve({ folder: join(folder, 'nowhere') });
    expect(await other.ask('/console/')).toMatchObject({
      status: 503,
      text: expect.stringContaining('npm run build:console'),
    });
  });
});

describe('a page on this machine', () => {
  it('hears of each write as soon as it is made', async () => {
    const writes = new Writes();
    const other = await serve({ folder, writes });
    const written = async (known: number): Promise<unknown> =>
      JSON.parse((await other.page(`/console/writes?known=${known}`)).text);
    expect((await other.ask('/console/')).text).toContain('&#34;tellsWrites&#34;:true');
    expect(await written(-1)).toEqual({ writes: 0 });
    const next = [written(0), written(0)];
    // By the time of this answer they are waiting, because they were sent before.
    await other.page(`${API}/health`);
    writes.add();
    expect(await Promise.all(next)).toEqual([{ writes: 1 }, { writes: 1 }]);
    expect(await written(0)).toEqual({ writes: 1 });
  });

  it('hears after a while that there was none, and nothing without its token or of a deployment', async () => {
    const other = await serve({ folder, writes: new Writes(), answerWithinMs: 20 });
    expect((await other.page('/console/writes?known=0')).text).toBe('{"writes":0}');
    expect((await other.ask('/console/writes?known=0')).code).toBe('forbidden');
    expect((await other.page('/console/writes?known=0', { method: 'POST' })).code).toBe('unknown-route');
    expect((await one.page('/console/writes?known=0')).code).toBe('unknown-route');
  });
});

describe('the API behind it', () => {
  it.each(routes.filter(([, path]) => !path.includes('{token}')))('is asked: %s %s', async (method, path) => {
    const { status, text, headers } = await one.page(`${API}${filled(path)}`, { method });
    expect([status, text]).toEqual([200, '{"ok":true}']);
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'application/json' });
    expect(one.asked).toMatchObject([{ method, path: filled(path), body: method === 'GET' ? '' : '{}' }]);
  });

  it('gets the query and the body as they were, and of the headers none of the page’s', async () => {
    const sent = {
      method: 'POST',
      body: '{"input":{"n":9007199254740993}}',
      headers: { 'x-local-user': 'eve' },
    };
    await one.page(`${API}/executions?workflow=a&cursor=%2B%26`);
    await one.page(`${API}/workflows/a/executions`, sent);
    expect(one.asked.map(({ path, body }) => [path, body])).toEqual([
      ['/executions?workflow=a&cursor=%2B%26', ''],
      ['/workflows/a/executions', sent.body],
    ]);
    for (const { headers } of one.asked)
      expect(Object.keys(headers).filter((name) => /cookie|origin|steadfast|local-user/.test(name))).toEqual(
        [],
      );
  });

  it('knows as whom a page of a laptop asks', async () => {
    const other = await serve({ settings: { deployment: 'dev', readOnly: false, local: true } });
    await other.page(`${API}/health`, { headers: { 'x-local-user': 'ann' } });
    expect(other.asked[0]?.headers['x-local-user']).toBe('ann');
  });

  it('keeps its headers to itself, but when to ask again, and its time', async () => {
    const own = {
      'retry-after': '7',
      date: 'Sun, 29 Nov 2026 12:00:00 GMT',
      'set-cookie': 'a=b',
      'access-control-allow-origin': '*',
      location: '/executions/e1',
      'x-amzn-requestid': 'r1',
    };
    one.answer = json(429, { error: { code: 'busy' } }, own);
    const { status, headers } = await one.page(`${API}/health`);
    expect([status, headers['retry-after'], headers['date']]).toEqual([429, '7', own.date]);
    for (const name of Object.keys(own).slice(2)) expect(headers).not.toHaveProperty(name);
  });

  it.each(['x-http-method-override', 'x-http-method', 'x-method-override'])(
    'is asked by the method that was checked, whatever %s says',
    async (name) => {
      await one.page(`${API}/executions?_method=POST`, { headers: { [name]: 'POST' } });
      expect(one.asked).toMatchObject([{ method: 'GET' }]);
      expect(one.asked[0]?.headers).not.toHaveProperty(name);
    },
  );
});

/** Refused requests, as differences from what the page sends. */
const REFUSED: readonly [what: string, target: string, sent: Sent, status: number, code: string][] = [
  ...['evil.example', '127.0.0.1', 'localhost:1', '127.0.0.1.evil.example', ''].map(
    (host): (typeof REFUSED)[number] => [
      `Host: ${host}`,
      `${API}/health`,
      { headers: { host } },
      403,
      'wrong-host',
    ],
  ),
  ['no cookie', `${API}/health`, { headers: { cookie: undefined } }, 401, 'forbidden'],
  ['another cookie', `${API}/health`, { headers: { cookie: 'steadfast-console=x' } }, 401, 'forbidden'],
  ['no token', `${API}/health`, { headers: { 'x-steadfast-console': undefined } }, 403, 'forbidden'],
  ['another token', `${API}/health`, { headers: { 'x-steadfast-console': 'x' } }, 403, 'forbidden'],
  ...['https://evil.example', 'http://127.0.0.1:1', 'null', undefined].map(
    (origin): (typeof REFUSED)[number] => [
      `a change from Origin ${origin}`,
      WRITE,
      { method: 'POST', headers: { origin } },
      403,
      'wrong-origin',
    ],
  ),
  ...[
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; x=application/json',
    undefined,
  ].map((type): (typeof REFUSED)[number] => [
    `a change as ${type}`,
    WRITE,
    { method: 'POST', headers: { 'content-type': type } },
    415,
    'wrong-content-type',
  ]),
  ['an unknown route', `${API}/table`, {}, 404, 'unknown-route'],
  ['another method', `${API}/executions`, { method: 'POST' }, 404, 'unknown-route'],
  ...['DELETE', 'PUT', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE'].map((method): (typeof REFUSED)[number] => [
    method,
    `${API}/executions/e1`,
    { method },
    404,
    method === 'HEAD' ? '' : 'unknown-route',
  ]),
  ['a change of the page', '/console/', { method: 'POST' }, 404, 'unknown-route'],
  ...[
    `${API}/../api/health`,
    `${API}/executions/../health`,
    `${API}/executions/..`,
    `${API}/executions/../why`,
    '/consolx/icon.svg',
    `${API}/executions/%2e%2e/health`,
    `${API}/executions/..%2fhealth`,
    `${API}/executions/a%2fb`,
    `${API}/executions/./e1`,
    `${API}//health`,
    `${API}/executions/e1\\..\\health`,
    `//127.0.0.1${API}/health`,
    `//evil.example${API}/health`,
    `http://evil.example${API}/health`,
    `https://x.execute-api.eu-central-1.amazonaws.com/health`,
    `/x/..${API}/health`,
    '/consoles/api/health',
    '/console/../outside.js',
    '/console/assets/../../outside.js',
    '/console/%2e%2e/outside.js',
    '/console/..%2foutside.js',
    '/console/assets/..%5c..%5coutside.js',
    '/console/.env',
    '/console/assets/none-Ab12Cd34.js',
    '/console/index.html/',
    `${API}/executions?${'x'.repeat(9_000)}`,
  ].map((target): (typeof REFUSED)[number] => [target.slice(0, 60), target, {}, 404, 'unknown-route']),
];

describe('what is refused, with nothing asked of the API', () => {
  it.each(REFUSED)('%s', async (_what, target, sent, status, code) => {
    const answer = await one.page(target, sent);
    expect([answer.status, answer.code ?? '']).toEqual([status, code]);
    expect(answer.text).not.toContain(OUTSIDE);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(one.asked).toEqual([]);
  });

  it.each(['/console/', '/console/index.html', '/console/assets/index-Ab12Cd34.js'])(
    '%s of a browser in which nobody has opened it, or called by another name',
    async (target) => {
      const stranger = await one.ask(target);
      const rebound = await one.page(target, { headers: { host: `evil.example:${one.port}` } });
      expect([stranger.status, rebound.status]).toEqual([401, 403]);
      expect(`${stranger.text}${rebound.text}`).not.toMatch(/steadfast-token|start\(\)/);
    },
  );

  it('a body that is larger than the API takes: at once where its length is said, else where it passes the limit', async () => {
    expect(MAX_BODY_BYTES).toBe(API_TAKES);
    const body = Buffer.alloc(MAX_BODY_BYTES + 1, ' ');
    // It is answered while the page is still sending.
    const said = await begun(one, { 'content-length': String(body.length) });
    const unsaid = await one.page(WRITE, {
      method: 'POST',
      body,
      headers: { 'transfer-encoding': 'chunked' },
    });
    expect([said, unsaid.status, unsaid.code, one.asked]).toEqual([413, 413, 'too-large', []]);
    await one.page(WRITE, { method: 'POST', body: body.subarray(1) });
    expect(one.asked).toHaveLength(1);
  });

  it('a body that does not come: the connection ends', async () => {
    const other = await serve({ answerWithinMs: 20 });
    expect(await begun(other, { 'content-length': '10' })).toBe('ECONNRESET');
    expect(other.asked).toEqual([]);
  });

  it('with --read-only whatever changes anything', async () => {
    const settings = { deployment: 'Shop', readOnly: true, local: false };
    const other = await serve({ settings });
    for (const [method, path] of routes.filter(([each]) => each !== 'GET')) {
      const { code } = await other.page(`${API}${filled(path)}`, { method });
      expect([path, code]).toEqual([path, 'read-only']);
    }
    expect(other.asked).toEqual([]);
    expect((await other.page(`${API}/executions`)).status).toBe(200);
  });
});

describe('what the API answers is not passed on', () => {
  it.each([301, 302, 303, 307, 308])('as a redirect (%i), nor followed', async (status) => {
    const { port } = one;
    one.answer = json(status, {}, { location: `http://127.0.0.1:${port}${API}/health` });
    const answer = await one.page(`${API}/executions`);
    expect([answer.status, answer.code, one.asked.length]).toEqual([502, 'not-steadfast', 1]);
    expect(answer.headers).not.toHaveProperty('location');
  });

  it('if it is not JSON', async () => {
    one.answer = (_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<script>alert(1)</script>');
    };
    expect(await one.page(`${API}/executions`)).toMatchObject({
      code: 'not-steadfast',
      text: expect.not.stringContaining('script'),
    });
  });

  it('where it comes too late, or not at all', async () => {
    const other = await serve({ answerWithinMs: 20 });
    other.answer = () => undefined;
    expect(await other.page(`${API}/executions`)).toMatchObject({ status: 504, code: 'no-answer' });
    const alone = await serve({ upstream: () => ({ url: 'http://127.0.0.1:1', fetch }) });
    expect(await alone.page(`${API}/executions`)).toMatchObject({ status: 502, code: 'no-answer' });
  });
});
