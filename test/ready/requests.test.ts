/** Which requests a declared agent sends and refuses to send: addresses, redirects, encoding, secrets. */

import { concat, type HttpAgentOptions, secret } from '../../lib/index.ts';
import { isPublic } from '../../lib/ready/addresses.ts';
import { forget } from '../../lib/ready/secret.ts';
import type { Net } from '../../lib/ready/send.ts';
import { type Asked, called, charging, gives, outcomeIn, type Service, startService } from './service.ts';

let service: Service;
const OK = '{"id":"p-1"}';
const LOCAL = [{ address: '127.0.0.1', family: 4 }];
beforeAll(async () => {
  service = await startService(gives(200, OK));
});
beforeEach(() => {
  service.asked.length = 0;
  service.answer = gives(200, OK);
});
afterAll(() => service.stop());

type Options = ReturnType<typeof charging>;
/** Makes one charge. @returns the request */
async function sent(execute: Options['execute'], more: Partial<Options> = {}): Promise<Asked | string> {
  const report = await called(charging(service.url, { execute, ...more }));
  return report.kind === 'done' || report.kind === 'wrong-answer'
    ? (service.asked[0] as Asked)
    : `${outcomeIn(report)}: ${'failure' in report ? report.failure?.message : ''}`;
}

describe('H1 an address', () => {
  const at = (host: string): string => `http://${host}:${service.port}`;
  const HOSTS = ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', '[::1]', '127.1'];
  it.each(HOSTS)('is refused where it is private: %s', async (host) => {
    const options = charging(at(host), { allowPrivateAddresses: false });
    expect(outcomeIn(await called(options))).toBe('permanent private-address');
    expect(outcomeIn(await called(options, { call: 'undo' }))).toBe('permanent private-address');
    expect(outcomeIn(await called(options, { call: 'probe' }))).toBe('cannot-tell cannot-tell');
    expect(service.asked).toEqual([]);
  });

  it('is refused where a name has a private one beside a public one', async () => {
    const resolve = async () => [{ address: '1.1.1.1', family: 4 }, ...LOCAL];
    const options = charging(at('pay.example'), { allowPrivateAddresses: false });
    const report = await called(options, { net: { resolve, isPublic } });
    expect(outcomeIn(report)).toBe('permanent private-address');
    expect(service.asked).toEqual([]);
  });

  it('of a name is one that may be reached, where private ones may', async () => {
    const found = [{ address: 'fe80::1', family: 6 }, ...LOCAL];
    const net: Net = { resolve: async () => found, isPublic };
    expect((await called(charging(at('pay.example')), { net })).kind).toBe('done');
    found.pop();
    expect(outcomeIn(await called(charging(at('pay.example')), { net }))).toBe('permanent private-address');
    expect(service.asked).toHaveLength(1);
  });

  it('is the one that was checked: the name is asked for once', async () => {
    let times = 0;
    const resolve = async () => ((times += 1), LOCAL);
    const net: Net = { resolve, isPublic: (address) => address === '127.0.0.1' && times === 1 };
    const report = await called(charging(at('pay.example'), { allowPrivateAddresses: false }), { net });
    expect([report.kind, times]).toEqual(['done', 1]);
    expect(service.asked[0]?.headers.host).toBe(`pay.example:${service.port}`);
  });

  it('is checked again after a redirect on the same host', async () => {
    let times = 0;
    const resolve = async () => ((times += 1), LOCAL);
    const net: Net = { resolve, isPublic: () => times === 1 };
    service.answer = gives(307, '', { location: '/moved' });
    const report = await called(charging(at('pay.example'), { allowPrivateAddresses: false }), { net });
    expect(outcomeIn(report)).toBe('permanent private-address');
    expect(service.asked).toHaveLength(1);
  });
});

describe('a redirect', () => {
  it.each([307, 308])('by %d to the same host is followed, with the body', async (status) => {
    service.answer = (response, { path }) =>
      path === '/charges'
        ? gives(status, '', { location: '/v2/charges' })(response, service.asked[0] as Asked)
        : gives(200, OK)(response, service.asked[0] as Asked);
    expect((await called(charging(service.url))).kind).toBe('done');
    expect(service.asked.map(({ path, body }) => [path, body])).toEqual([
      ['/charges', '{"amount":5}'],
      ['/v2/charges', '{"amount":5}'],
    ]);
  });

  it.each([
    ['another host', (url: string) => url.replace('127.0.0.1', 'localhost')],
    ['another port', () => 'http://127.0.0.1:1/'],
    ['another scheme', (url: string) => url.replace('http:', 'https:')],
    ['a user', (url: string) => url.replace('//', '//user:secret@')],
    ['nowhere', () => 'http://'],
  ])('to %s is not', async (_name, to) => {
    service.answer = gives(307, '', { location: to(service.url) });
    expect(outcomeIn(await called(charging(service.url)))).toBe('permanent http-307');
    expect(service.asked).toHaveLength(1);
  });

  it('in a circle ends', async () => {
    service.answer = gives(308, '', { location: '/charges' });
    expect(outcomeIn(await called(charging(service.url)))).toBe('permanent http-308');
    expect(service.asked).toHaveLength(6);
  });
});

describe('H3 a value of the input', () => {
  const input = { amount: 5 };
  const named = (name: string): Promise<Asked | string> => {
    const execute: Options['execute'] = () => ({
      method: 'GET',
      url: `${service.url}/v1/`,
      path: ['orders', concat(name, '')],
      query: { q: concat(name, '&x=1'), none: undefined, many: ['a', 1, true] },
      output: { paymentId: 'p' } as never,
    });
    return sent({ ...(execute as () => object)(), output: () => ({ paymentId: 'p' }) } as never);
  };
  it('is one segment of the path, and one value of the query', async () => {
    expect(await named('a/../b?c#d')).toMatchObject({
      method: 'GET',
      path: '/v1/orders/a%2F..%2Fb%3Fc%23d?q=a%2F..%2Fb%3Fc%23d%26x%3D1&many=a&many=1&many=true',
      body: '',
    });
    expect(input).toEqual({ amount: 5 });
  });
  it.each(['', '.', '..'])('that names no segment is not sent: %j', async (name) => {
    expect(await named(name)).toBe(
      'permanent bad-request: nothing was sent: path[1] is not a text or a number that names one thing',
    );
  });
  it('cannot become a second header', async () => {
    const headers = { 'x-note': concat('a\r\nx-admin: 1') };
    const execute = { method: 'POST', url: service.url, headers } as const;
    expect(await sent(execute)).toContain("bad-request: nothing was sent: header 'x-note'");
    expect(service.asked).toEqual([]);
  });
});

it('sends JSON, a form or a text, as the content type says', async () => {
  const url = service.url;
  const body = { a: 'x y', list: [1, 2] };
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  expect(await sent({ method: 'POST', url, body })).toMatchObject({ body: JSON.stringify(body) });
  service.asked.length = 0;
  expect(await sent({ method: 'PUT', url, body, headers: form })).toMatchObject({
    body: 'a=x+y&list=1&list=2',
  });
  service.asked.length = 0;
  const headers = { 'Content-Type': 'text/plain' };
  expect(await sent({ method: 'PATCH', url, body: 'plain', headers })).toMatchObject({ body: 'plain' });
});

it('takes an address from the environment, which may name this machine', async () => {
  const execute = { method: 'POST', url: { env: 'PAY_URL' } } as const;
  expect(await sent(execute)).toContain(
    'transient bad-request: nothing was sent: the environment variable PAY_URL',
  );
  process.env['PAY_URL'] = `${service.url}/here`;
  expect(await sent(execute, { allowPrivateAddresses: false })).toMatchObject({ path: '/here' });
  process.env['PAY_URL'] = service.url.replace('127.0.0.1', '127.0.0.2');
  expect(await sent(execute, { allowPrivateAddresses: false })).toContain('private-address');
  delete process.env['PAY_URL'];
});

describe('S17 a secret', () => {
  const SSM = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'AKIA1', AWS_SECRET_ACCESS_KEY: 's' };
  const auth = secret('PAY_TOKEN', { parameter: '/shop/token' });
  const vault = secret('VAULT_TOKEN', { secretsManager: 'shop', field: 'token', header: 'x-api-key' });
  afterEach(() => {
    for (const name of ['PAY_TOKEN', 'AWS_ENDPOINT_URL', ...Object.keys(SSM)]) delete process.env[name];
    for (const one of [auth, vault]) forget(one);
  });
  const aws = (): void => void Object.assign(process.env, SSM, { AWS_ENDPOINT_URL: service.url });
  /** Answers for AWS and for the service, with one server. */
  const answering = (value: () => string, status = () => 200): void => {
    service.answer = (response, one) => {
      const call = one.headers['x-amz-target'];
      if (call === undefined) return gives(status(), OK)(response, one);
      const isSsm = call === 'AmazonSSM.GetParameter';
      const token = value();
      const body = isSsm ? { Parameter: { Value: token } } : { SecretString: JSON.stringify({ token }) };
      gives(200, JSON.stringify(body))(response, one);
    };
  };
  const authorised = (): unknown[] =>
    service.asked.flatMap(({ headers: { 'x-amz-target': call, authorization, 'x-api-key': key } }) =>
      call === undefined ? [authorization ?? key] : [],
    );

  it('is sent with each request, from the environment', async () => {
    process.env['PAY_TOKEN'] = 't-1\n';
    for (const call of ['execute', 'probe', 'undo'] as const)
      await called(charging(service.url, { auth }), { call });
    expect(authorised()).toEqual(Array(3).fill('Bearer t-1'));
  });

  it('is read from Systems Manager once', async () => {
    aws();
    answering(() => 't-2');
    await called(charging(service.url, { auth }));
    await called(charging(service.url, { auth }));
    expect(authorised()).toEqual(['Bearer t-2', 'Bearer t-2']);
    const reads = service.asked.filter(({ headers }) => 'x-amz-target' in headers);
    expect(reads.map(({ body }) => body)).toEqual(['{"Name":"/shop/token","WithDecryption":true}']);
  });

  it('is read from Secrets Manager by its key', async () => {
    aws();
    answering(() => 't-3');
    await called(charging(service.url, { auth: vault }));
    expect(authorised()).toEqual(['t-3']);
    expect(service.asked[0]?.body).toBe('{"SecretId":"shop"}');
  });

  it('is read again where the service refuses it, and the request sent once more', async () => {
    aws();
    const values = ['old', 'new'];
    answering(
      () => values.shift() ?? 'none',
      () => (authorised().at(-1) === 'Bearer new' ? 200 : 401),
    );
    expect((await called(charging(service.url, { auth }))).kind).toBe('done');
    expect(authorised()).toEqual(['Bearer old', 'Bearer new']);
  });

  it('that cannot be read, or sent, is in no failure', async () => {
    const report = await called(charging(service.url, { auth }));
    expect(outcomeIn(report)).toBe('transient no-secret');
    aws();
    service.answer = gives(400, '{"__type":"com.amazonaws.ssm#ParameterNotFound"}');
    expect(JSON.stringify(await called(charging(service.url, { auth })))).toContain(
      'the secret /shop/token cannot be read: ssm answered 400 ParameterNotFound',
    );
    process.env['PAY_TOKEN'] = 'bad\nt0ken';
    const refused = await called(charging(service.url, { auth }));
    expect(outcomeIn(refused)).toBe('permanent bad-request');
    expect(JSON.stringify(refused)).not.toContain('t0ken');
    service.answer = gives(403);
    process.env['PAY_TOKEN'] = 't0ken';
    expect(JSON.stringify(await called(charging(service.url, { auth })))).not.toContain('t0ken');
  });
});

describe('a declaration is refused', () => {
  const url = 'https://pay.example/charges';
  const execute = { method: 'POST', url } as const;
  const probe = { method: 'GET', url, query: { a: 'b' } } as const;
  const REFUSED: readonly (readonly [string, object, string])[] = [
    ['for an unknown option', { retries: 3 }, "'retries' is not an option"],
    ['without execute', { execute: undefined }, 'execute: it is missing'],
    ['without undo', { undo: undefined }, 'undo is missing'],
    ['for a method', { execute: { ...execute, method: 'SEND' } }, 'method is "SEND"'],
    ['for a word of a request', { execute: { ...execute, data: 1 } }, "execute: 'data' is not an option"],
    ['for a body of a GET', { execute: { ...execute, method: 'GET', body: {} } }, 'a GET has no body'],
    ['for an address', { execute: { ...execute, url: 'pay.example' } }, 'the url is not an address'],
    ['for a password', { execute: { ...execute, url: 'https://a:b@pay.example' } }, 'holds a user'],
    ['for a header', { execute: { ...execute, headers: { host: 'a' } } }, "header 'host' cannot be set"],
    ['for a date', { execute: { ...execute, body: new Date(0) } }, 'execute: body: '],
    ['for a probe that changes', { probe: { ...probe, method: 'DELETE' } }, 'a probe must change nothing'],
    [
      'for a blind probe',
      { probe: { method: 'GET', url }, idempotencyKey: undefined },
      'probe asks for nothing',
    ],
    ['for a blind probe by POST', { probe: { ...probe, method: 'POST' } }, 'probe asks for nothing'],
    ['for a blind undo', { undo: { method: 'POST', url } }, 'undo names nothing of this call'],
    [
      'for an outcome',
      { execute: { ...execute, outcomes: { 409: 'ok' } } },
      "'ok' is not an outcome; there are done",
    ],
    ['for accepting', { execute: { ...execute, outcomes: { 202: 'accepted' } } }, 'declare acceptedWithin'],
    ['for a status', { execute: { ...execute, outcomes: { 4: 'done' } } }, 'a key is not a status'],
    [
      'for an outcome of another call',
      { probe: { ...probe, outcomes: { 409: 'transient' } } },
      'not an outcome',
    ],
    ['for an idempotent POST without a key', { effect: 'idempotent', idempotencyKey: undefined }, 'by a key'],
    ['for no probe', { probe: undefined }, 'probe is missing'],
    ['for a useless probe', { effect: 'unsafe' }, 'cannot be probed; leave probe out'],
    ['for a secret in the code', { auth: 'Bearer abc' }, 'auth must be secret(…)'],
    [
      'for a secret over http',
      { auth: secret('A'), execute: { ...execute, url: 'http://pay.example' } },
      'unencrypted',
    ],
    [
      'for a secret to whom the input names',
      {
        auth: secret('A'),
        execute: ({ input }: { input: { amount: never } }) => ({ ...execute, url: input.amount }),
      },
      'a secret would go wherever they say',
    ],
    ['for a size', { maxAnswerBytes: 0 }, 'maxAnswerBytes is 0; allowed: 1 to 1048576'],
    ['for a key that is no header', { idempotencyKey: 'a b' }, 'idempotencyKey is "a b"'],
  ];
  it.each(REFUSED)('%s', async (_name, more, text) => {
    const options = { ...charging('https://pay.example', more), ...more } as HttpAgentOptions<never, never>;
    await expect(async () => called(options as never)).rejects.toMatchObject({
      code: 'bad-agent',
      message: expect.stringContaining(text),
    });
  });

  it.each([
    ['sk_live_4242!', {}, 'not its value'],
    ['A', { header: 'host' }, "header is 'host'"],
    ['A', { parameter: '/a', secretsManager: 'a' }, 'in one of them'],
    ['A', { field: 'a' }, 'field goes with secretsManager'],
    ['A', { name: 'a' }, "'name' is not an option"],
  ])('of a secret %s %j', (env, options, text) => {
    expect(() => secret(env, options as never)).toThrow(text);
  });
});
