/** Requests that are sent once or again: redirects, a secret that ages; also texts and tokens as meant. */

import { type HttpAnswer, secret } from '../../lib/index.ts';
import { forget } from '../../lib/ready/secret.ts';
import { called, charging, gives, outcomeIn, type Service, startService } from './service.ts';

let service: Service;
const OK = '{"id":"p-1"}';
const output = ({ body }: HttpAnswer) => ({ paymentId: body('id') });
beforeAll(async () => {
  service = await startService(gives(200, OK));
});
beforeEach(() => {
  service.asked.length = 0;
  service.answer = gives(200, OK);
});
afterAll(() => service.stop());

it.each([301, 302, 303])(
  'S6 a POST that is redirected by %d, also to its own host, is sent once',
  async (status) => {
    service.answer = gives(status, '', { location: '/elsewhere' });
    expect(outcomeIn(await called(charging(service.url)))).toBe(`unknown http-${status}`);
    expect(service.asked).toHaveLength(1);
  },
);

it('a text is a JSON text, unless its content type is another', async () => {
  const post = { method: 'POST', url: service.url, body: 'plain', output } as const;
  await called(charging(service.url, { execute: post }));
  await called(charging(service.url, { execute: { ...post, headers: { 'content-type': 'text/plain' } } }));
  expect(service.asked.map(({ body }) => body)).toEqual(['"plain"', 'plain']);
});

it('a token that is a number is kept as a text', async () => {
  service.answer = gives(202, '{"job":17}');
  const execute = {
    method: 'POST',
    url: service.url,
    token: ({ body }: HttpAnswer) => body('job'),
  } as const;
  const report = await called(charging(service.url, { acceptedWithin: '1h', execute }));
  expect(report).toMatchObject({ kind: 'accepted', token: '17' });
});

it('a secret is read again once five minutes have passed', async () => {
  const auth = secret('PAY_TOKEN', { parameter: '/shop/token' });
  const set = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'AKIA1', AWS_SECRET_ACCESS_KEY: 's' };
  Object.assign(process.env, set, { AWS_ENDPOINT_URL: service.url });
  let reads = 0;
  service.answer = (response, asked) => {
    const isRead = 'x-amz-target' in asked.headers;
    if (isRead) reads += 1;
    gives(200, isRead ? `{"Parameter":{"Value":"t-${reads}"}}` : OK)(response, asked);
  };
  const { now } = Date;
  const began = now();
  try {
    for (const ms of [0, 299_000, 301_000]) {
      Date.now = () => began + ms;
      await called(charging(service.url, { auth }));
    }
  } finally {
    Date.now = now;
    forget(auth);
    for (const name of ['AWS_ENDPOINT_URL', ...Object.keys(set)]) delete process.env[name];
  }
  const sent = service.asked.flatMap(({ headers }) =>
    'x-amz-target' in headers ? [] : [headers.authorization],
  );
  expect(sent).toEqual(['Bearer t-1', 'Bearer t-1', 'Bearer t-2']);
});
