/** The local API's answers to pages of other origins: allowed, refused, and preflights, as API Gateway's. */
import { request as send } from 'node:http';
import { HttpApis } from '../../local/http/http-api.ts';
import { type Listening, listen } from '../../local/http/servers.ts';
import type { ApiSpec, CorsSpec } from '../../local/template/routing-model.ts';

const ALLOWED = 'https://shop.example';
const CORS: CorsSpec = {
  allowOrigins: [ALLOWED, 'http://*'],
  allowMethods: ['GET', 'POST'],
  allowHeaders: ['authorization'],
  exposeHeaders: ['location'],
  allowCredentials: true,
  maxAgeSeconds: 600,
};
const PREFLIGHT = {
  method: 'OPTIONS',
  headers: { origin: ALLOWED, 'access-control-request-method': 'POST' },
};

const route = (routeKey: string, authorization: string): ApiSpec['routes'][number] => ({
  routeKey,
  functionName: 'web',
  integrationTimeoutMs: 29_000,
  authorization,
});
const BEHIND_IAM = [route('GET /orders', 'AWS_IAM'), route('$default', 'AWS_IAM')];
const OPEN = route('OPTIONS /{proxy+}', 'NONE');

let server: Listening;
let asked: string[] = [];
beforeEach(async () => {
  asked = [];
  server = await listen(0, 'the API');
});
afterEach(() => server.close());

/** Calls an API whose function sets its own CORS headers; an API with a CORS configuration removes them. */
async function ask(api: Partial<ApiSpec>, init: RequestInit, path = '/orders'): Promise<Response> {
  const spec: ApiSpec = { logicalId: 'Api', apiId: 'a', stage: '$default', cors: CORS, routes: [], ...api };
  const invoke = async (event: string) => {
    const { routeKey } = JSON.parse(event) as { routeKey: string };
    asked.push(routeKey);
    const headers = { 'Access-Control-Allow-Origin': 'https://own.example', location: '/x' };
    return { ok: true, payload: JSON.stringify({ statusCode: 204, headers }) } as const;
  };
  const web = { spec: { arn: 'arn' }, invoke } as never;
  const apis = new HttpApis(
    [spec],
    () => web,
    '0',
    () => true,
  );
  server.serve((request, response) => void apis.serve(request, response));
  return await fetch(`${server.url}${path}`, init);
}

const ofOrigins = (answer: Response): Record<string, string> =>
  Object.fromEntries([...answer.headers].filter(([name]) => name.startsWith('access-control-')));

test.each([
  ['AWS_IAM', 403],
  ['JWT', 401],
  ['CUSTOM', 401],
])(
  'a preflight that only a route with %s takes is refused: a browser signs none',
  async (authorization, status) => {
    const answer = await ask({ routes: [route('$default', authorization)] }, PREFLIGHT);
    expect([answer.status, ofOrigins(answer), asked]).toEqual([status, {}, []]);
  },
);

test('an open route for OPTIONS takes it before $default does, and the configuration answers', async () => {
  const answer = await ask({ routes: [...BEHIND_IAM, OPEN] }, PREFLIGHT);
  expect([answer.status, asked]).toEqual([204, ['OPTIONS /{proxy+}']]);
  expect(ofOrigins(answer)).toEqual({
    'access-control-allow-origin': ALLOWED,
    'access-control-allow-credentials': 'true',
    'access-control-allow-methods': 'GET,POST',
    'access-control-allow-headers': 'authorization',
    'access-control-expose-headers': 'location',
    'access-control-max-age': '600',
  });
});

test('without any route that takes it the API answers by itself, if it has a configuration', async () => {
  const answer = await ask({ routes: [route('GET /orders', 'AWS_IAM')] }, PREFLIGHT);
  expect([answer.status, ofOrigins(answer)['access-control-allow-origin'], asked]).toEqual([
    204,
    ALLOWED,
    [],
  ]);
  expect((await ask({ cors: undefined }, PREFLIGHT)).status).toBe(404);
});

test.each([
  [ALLOWED, ALLOWED],
  ['http://localhost:5173', 'http://localhost:5173'],
  ['https://shop.example.evil', undefined],
  ['https://own.example', undefined],
])('a call from %s is answered, for pages of %s', async (origin, allowed) => {
  const answer = await ask({ routes: BEHIND_IAM }, { headers: { origin } });
  expect([answer.status, answer.headers.get('location')]).toEqual([204, '/x']);
  const headers = ofOrigins(answer);
  expect([headers['access-control-allow-origin'], headers['access-control-allow-methods']]).toEqual([
    allowed,
    undefined,
  ]);
});

test('any origin is answered as any', async () => {
  const cors = { ...CORS, allowOrigins: ['*'], allowCredentials: false };
  const answer = await ask({ cors, routes: BEHIND_IAM }, { headers: { origin: 'https://a.example' } });
  expect(ofOrigins(answer)['access-control-allow-origin']).toBe('*');
});

test('without a configuration the function speaks for itself', async () => {
  const answer = await ask({ cors: undefined, routes: BEHIND_IAM }, { headers: { origin: ALLOWED } });
  expect(ofOrigins(answer)).toEqual({ 'access-control-allow-origin': 'https://own.example' });
});

const FORM = {
  method: 'POST',
  body: 'a=b',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
};

test.each([
  ['https://evil.example', 403],
  ['http://localhost.evil.example', 403],
  ['null', 403],
  [ALLOWED, 204],
  ['http://127.0.0.1:5173', 403],
  [undefined, 204],
])('a form of a page of %s is answered %i, for a browser asks nobody before it', async (origin, status) => {
  const headers = { ...FORM.headers, ...(origin === undefined ? {} : { origin }) };
  const cors = { ...CORS, allowOrigins: [ALLOWED] };
  const named = await ask({ cors, routes: BEHIND_IAM }, { ...FORM, headers });
  const unnamed = await ask({ cors: undefined, routes: BEHIND_IAM }, { ...FORM, headers });
  const isNamed = origin === ALLOWED;
  expect([named.status, unnamed.status]).toEqual([status, isNamed ? 403 : status]);
  expect(asked).toHaveLength(status === 403 ? 0 : isNamed ? 1 : 2);
});

test.each([
  ['a form of the page that the port itself serves', 'own', FORM.headers['content-type'], 204],
  ['a text of another port', 'http://localhost:5173', 'text/plain', 403],
  ['what names no type, of another port', 'http://localhost:5173', '', 403],
  [
    'JSON of another port, which a browser asks for first',
    'http://localhost:5173',
    'application/json; charset=utf-8',
    204,
  ],
  ['JSON of elsewhere', 'https://evil.example', 'application/json', 403],
])('%s is answered', async (_, origin, type, status) => {
  const headers = {
    origin: origin === 'own' ? `http://127.0.0.1:${server.port}` : origin,
    ...(type === '' ? {} : { 'content-type': type }),
  };
  const body = type === '' ? new Uint8Array([123, 125]) : '{}';
  const { status: answered } = await ask(
    { cors: undefined, routes: BEHIND_IAM },
    { method: 'POST', body, headers },
  );
  expect([answered, asked.length]).toEqual([status, status === 204 ? 1 : 0]);
});

/** Sends a foreign Host, as after DNS rebinding; `fetch` would correct it. */
const called = (host: string): Promise<number | undefined> =>
  new Promise((answered, failed) => {
    const { port } = server;
    send({ host: '127.0.0.1', port, path: '/orders', headers: { host } }, (answer) => {
      answer.resume();
      answered(answer.statusCode);
    })
      .on('error', failed)
      .end();
  });

test('this machine answers to its own names alone', async () => {
  await ask({ routes: BEHIND_IAM }, {});
  const port = String(server.port);
  const own = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, 'localhost'];
  expect(await Promise.all(own.map(called))).toEqual([204, 204, 204, 204]);
  asked = [];
  const others = [
    `evil.example:${port}`,
    `127.0.0.1.evil.example`,
    `localhost.evil.example:${port}`,
    '0.0.0.0',
  ];
  expect(await Promise.all(others.map(called))).toEqual([403, 403, 403, 403]);
  expect(asked).toEqual([]);
});
