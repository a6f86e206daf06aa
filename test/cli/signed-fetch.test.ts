/**
 * Requests to an API that needs the caller's identity. The signature is recomputed here from AWS's own
 * description.
 */

import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bearer } from '../../lib/api/authorization.ts';
import { createClient } from '../../lib/api/client.ts';
import { regionOf, signedFetch } from '../../cli/signed-fetch.ts';
import { steadfast } from './fake-api.ts';

interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const requests: Request[] = [];
const server = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    requests.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body });
    response.end(JSON.stringify({ items: [], executionId: 'e1' }));
  });
});
let url = '';
beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requests.length = 0;
});

const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
function signatureOf({ method, path, headers, body }: Request, signedNames: string, scope: string): string {
  const [pathname = '', query = ''] = path.split('?');
  const names = signedNames.split(';');
  const canonical = [
    method,
    pathname.split('/').map(encodeURIComponent).join('/'),
    query.split('&').sort().join('&'),
    ...names.map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    signedNames,
    hash(body),
  ].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, hash(canonical)].join('\n');
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${KEYS.secretAccessKey}`);
  return hmac(key, toSign).toString('hex');
}

it('signs each request for its region, its query and its body included', async () => {
  const client = createClient({ url, fetch: signedFetch({ region: 'eu-central-1', credentials: KEYS }) });
  await client.list({ status: 'running', limit: 5 });
  await client.start('orders', { idempotencyKey: 'k 1', input: { text: 'ä/b' } });
  expect(requests.map(({ method }) => method)).toEqual(['GET', 'POST']);
  for (const request of requests) {
    const authorization = String(request.headers.authorization);
    const match = /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/(.+), SignedHeaders=(.+), Signature=(.+)$/.exec(
      authorization,
    );
    const [, scope = '', names = '', signature = ''] = match ?? [];
    expect(scope).toMatch(/^\d{8}\/eu-central-1\/execute-api\/aws4_request$/);
    expect(names.split(';')).toEqual(expect.arrayContaining(['host', 'x-amz-date']));
    expect(signature).toBe(signatureOf(request, names, scope));
  }
});

it('without credentials says so, and what to set', async () => {
  const credentials = () => Promise.reject(new Error('the session has expired'));
  const client = createClient({ url, fetch: signedFetch({ region: 'eu-central-1', credentials }) });
  await expect(client.list()).rejects.toMatchObject({
    code: 'no-credentials',
    message: 'there are no AWS credentials to sign with: Error: the session has expired',
  });
  expect(requests).toEqual([]);
});

it('reads the region off the address that API Gateway gives', () => {
  expect(regionOf('https://abc123.execute-api.eu-central-1.amazonaws.com/')).toBe('eu-central-1');
  expect(regionOf('https://abc123.execute-api.cn-north-1.amazonaws.com.cn')).toBe('cn-north-1');
  for (const other of [
    'http://127.0.0.1:4510',
    'https://orders.example',
    'https://x.execute-api.eu-central-1.amazonaws.com.evil.example',
    'nothing',
  ])
    expect(regionOf(other)).toBeUndefined();
});

it('sends a token instead, which the command line takes from its environment and never prints', async () => {
  await createClient({ url, fetch: bearer('t-1')(fetch) }).list();
  const ran = await steadfast(['list', '--url', url, '--region', 'eu-central-1'], { STEADFAST_TOKEN: 't-2' });
  expect(ran.exitCode).toBe(0);
  expect(requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer t-1', 'Bearer t-2']);
  expect(ran.out + ran.err).not.toContain('t-2');
});

it('tells nobody who asks where nobody wants to know', async () => {
  await steadfast(['list', '--url', url]);
  expect(requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
});
