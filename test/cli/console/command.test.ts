/** `steadfast console`: the API that it calls, its credentials, its output, its end. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Calls } from '../../../cli/aws/calls.ts';
import { apiUrlOf } from '../../../cli/console/api-url.ts';
import { CLOCK } from '../../../cli/io.ts';
import { run } from '../../../cli/main.ts';
import { steadfast } from '../fake-api.ts';
import { FakeAws } from '../fake-aws.ts';

const HEALTH = { status: 'ok', oldestOverdueMs: 0 };
const asked: { readonly path: string; readonly authorization: string }[] = [];
let status = 200;
const api = createServer((request, response) => {
  asked.push({ path: request.url ?? '', authorization: request.headers.authorization ?? '' });
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(status === 200 ? HEALTH : { message: 'Forbidden' }));
});
const aws = new FakeAws();
const former = { ...process.env };
let url = '';

beforeAll(async () => {
  await aws.open();
  await new Promise<void>((listening) => api.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
});
beforeEach(() => {
  asked.length = 0;
  status = 200;
  process.env['AWS_ACCESS_KEY_ID'] = 'AKIDEXAMPLE';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
});
afterAll(() => {
  process.env = { ...former };
  api.closeAllConnections();
  api.close();
  aws.close();
});

/** Runs the command until it is interrupted. @returns its output as it is printed */
function opened(...args: string[]): { readonly printed: Promise<string>; readonly ended: Promise<number> } {
  let ended: Promise<number> = Promise.resolve(0);
  const printed = new Promise<string>((out, failed) => {
    const io = { out, err: (text: string) => failed(new Error(text)), env: {}, isTTY: false };
    ended = run(['console', '--stack', 'Shop', '--port', '0', '--url', url, ...args], io);
  });
  return { printed, ended };
}

const cookieOf = async (address: string): Promise<string> =>
  (await fetch(address)).headers.get('set-cookie')?.split(';')[0] ?? '';

test('prints an address that opens it, asks the API as the operator, and ends when it is interrupted', async () => {
  const { printed, ended } = opened('--region', 'eu-central-1');
  const text = await printed;
  const [address = ''] = /http:\/\/127\.0\.0\.1:\d+\/console\/\?code=[\w-]+/.exec(text) ?? [];
  expect(text).toBe(
    `Console of Shop, API ${url}\nOpen it: ${address}\nThe address works once, within 2 minutes. Actions there are done in your name; --read-only prevents them.\nCtrl-C stops it.\n`,
  );
  expect(asked).toEqual([
    {
      path: '/health',
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\/execute-api\//,
      ),
    },
  ]);
  const cookie = await cookieOf(address);
  expect(cookie).toMatch(/^steadfast-console-\d+=/);
  const { origin } = new URL(address);
  // A page that was not built here has no token, so no more calls reach the API.
  expect((await fetch(`${origin}/console/api/health`, { headers: { cookie } })).status).toBe(403);
  process.emit('SIGINT');
  expect(await ended).toBe(0);
  await expect(fetch(origin)).rejects.toThrow();
  expect(asked).toHaveLength(1);
});

test('with a token in the environment it carries that, and --json says where it is', async () => {
  const io = { err: () => undefined, env: { STEADFAST_TOKEN: 'eyJ' }, isTTY: false };
  let ended: Promise<number> = Promise.resolve(0);
  const printed = await new Promise<string>((out) => {
    ended = run(['console', '--stack', 'Shop', '--port', '0', '--url', url, '--read-only', '--json'], {
      ...io,
      out,
    });
  });
  expect(JSON.parse(printed)).toEqual({
    url: expect.stringContaining('/console/?code='),
    api: url,
    readOnly: true,
  });
  expect(asked).toEqual([{ path: '/health', authorization: 'Bearer eyJ' }]);
  process.emit('SIGTERM');
  expect(await ended).toBe(0);
});

test('finds the API by the tags of the stack', async () => {
  const ran = (...args: string[]) =>
    steadfast(['console', '--port', '0', ...args], { AWS_ENDPOINT_URL: aws.url, AWS_REGION: 'eu-central-1' });
  const tagged = aws.tagged;
  const stage = (api_: string, region = 'eu-central-1'): readonly [string, string] => [
    `arn:aws:apigateway:${region}::/apis/${api_}/stages/$default`,
    'api',
  ];
  aws.tagged = [stage('a1'), stage('b2'), ...tagged.filter(([, part]) => part !== 'api')];
  expect(await ran('--stack', 'Shop')).toMatchObject({
    exitCode: 2,
    err: "stack 'Shop' has several APIs: choose one with --url: https://a1.execute-api.eu-central-1.amazonaws.com, https://b2.execute-api.eu-central-1.amazonaws.com\n",
  });
  aws.tagged = tagged.filter(([arn]) => !arn.includes('apigateway'));
  expect((await ran('--stack', 'Shop')).err).toBe(
    "no API is tagged with stack 'Shop': give its address with --url\n",
  );
  expect((await ran('--stack', 'Shoop')).err).toContain(
    "no stack named 'Shoop' holds a Steadfast deployment; there are Shop",
  );
  const calls = new Calls({ region: 'eu-central-1', endpoint: aws.url, clock: CLOCK });
  aws.tagged = tagged;
  expect(await apiUrlOf(calls, 'Shop')).toBe('https://a1.execute-api.eu-central-1.amazonaws.com');
  aws.tagged = [['arn:aws-cn:apigateway:cn-north-1::/apis/c3/stages/$default', 'api']];
  expect(await apiUrlOf(calls, 'Shop')).toBe('https://c3.execute-api.cn-north-1.amazonaws.com.cn');
  aws.tagged = tagged;
  expect(asked).toEqual([]);
});

test.each([
  [
    ['--stack', 'Shop', '--url', 'http://orders.example.com', '--region', 'eu-central-1'],
    'sent only over https:',
  ],
  [['--stack', 'Shop', '--url', 'https://orders.example.com'], 'add --region <region>'],
  [['--stack', 'no/stack'], 'not a stack name'],
  [['--stack', 'Shop', '--port', '70000'], 'give 0 to 65535'],
  [[], '--stack <name>'],
])('what is missing or wrong is said: %j', async (args, message) => {
  const { exitCode, err } = await steadfast(['console', ...args]);
  expect([exitCode, err]).toEqual([2, expect.stringContaining(message)]);
});

test('a caller who may not read learns it before the page is served', async () => {
  status = 403;
  const args = ['console', '--stack', 'Shop', '--port', '0', '--url', url, '--region', 'eu-central-1'];
  expect(await steadfast(args)).toMatchObject({
    exitCode: 1,
    out: '',
    err: expect.stringContaining('does not let this caller in'),
  });
});

test('with a server that has tokens it needs no stack, and sends the token', async () => {
  let ended: Promise<number> = Promise.resolve(0);
  const printed = new Promise<string>((out, failed) => {
    const env = { STEADFAST_TOKEN: 'a-token-of-the-server' };
    const io = { out, err: (text: string) => failed(new Error(text)), env, isTTY: false };
    ended = run(['console', '--port', '0', '--url', url], io);
  });
  expect(await printed).toContain(`Console of ${url}\nOpen it: http://127.0.0.1:`);
  expect(asked).toEqual([{ path: '/health', authorization: 'Bearer a-token-of-the-server' }]);
  process.emit('SIGINT');
  expect(await ended).toBe(0);
  const { err, exitCode } = await steadfast(['console', '--url', url]);
  expect([exitCode, err]).toEqual([2, expect.stringContaining('put one of its tokens into STEADFAST_TOKEN')]);
});
