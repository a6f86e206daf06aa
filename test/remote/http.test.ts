/**
 * A remote agent over HTTP: which statuses and broken connections mean "not done", and which leave the
 * outcome unknown.
 */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createPlainServer } from 'node:net';
import { join } from 'node:path';
import type { RemoteTarget } from '../../lib/index.ts';
import { MAX_ANSWER_BYTES } from '../../lib/remote/contract.ts';
import { performed } from './performed.ts';

const DONE = '{"answer":"done","output":{"code":"P1"}}';
const ARN = 'arn:aws:lambda:eu-west-1:111111111111:function:parcels:live';

interface Asked {
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let server: Server;
let address: string;
let answer: (response: ServerResponse, request: IncomingMessage) => void;
let asked: Asked[];
beforeEach(async () => {
  asked = [];
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      asked.push({ path: request.url, headers: request.headers, body });
      answer(response, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: 'AKIA1',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_REGION: 'eu-west-1',
    AWS_ENDPOINT_URL_LAMBDA: address,
    STEADFAST_REMOTE_FUNCTION: ARN,
    PARCELS_TOKEN: 'Bearer t0ken',
  });
});
const SET = ['AWS_REGION', 'AWS_ENDPOINT_URL_LAMBDA', 'STEADFAST_REMOTE_FUNCTION', 'PARCELS_TOKEN'];
afterEach(async () => {
  for (const name of SET) delete process.env[name];
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const gives =
  (status: number, body = '', headers: Record<string, string> = {}) =>
  (response: ServerResponse): void => {
    response.writeHead(status, headers).end(body);
  };
const here = (): RemoteTarget => ({ url: `${address}/agent` });
/** The expected report if the outcome is unknown and the remote may still be at work. */
const unknown = (code: string, message = /is unknown/) => ({
  kind: 'unknown',
  codeReturned: false,
  failure: { code, message: expect.stringMatching(message) as string },
});
const notDone = (more: object = {}) => ({ kind: 'failed', permanent: false, ...more });

describe('to an address', () => {
  it('is one request with the effect key and the secret as headers', async () => {
    answer = gives(200, DONE);
    const target = { url: `${address}/agent?x=1`, secret: { header: 'Authorization', env: 'PARCELS_TOKEN' } };
    expect(await performed(target)).toEqual({ kind: 'done', codeReturned: true, output: { code: 'P1' } });
    expect(asked).toHaveLength(1);
    const [{ path, headers, body } = {} as Asked] = asked;
    expect(path).toBe('/agent?x=1');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'idempotency-key': 'e.book.abc',
      authorization: 'Bearer t0ken',
      'content-length': String(Buffer.byteLength(body)),
    });
    expect(JSON.parse(body)).toMatchObject({ version: 1, call: 'execute', idempotencyKey: 'e.book.abc' });
  });

  it('may be answered on several lines of one JSON', async () => {
    answer = gives(200, `{\n  "answer": "done",\n  "output": { "code": "P1" }\n}\n`);
    expect(await performed(here())).toMatchObject({ kind: 'done' });
  });

  it('may be answered by lines of progress and the answer', async () => {
    const progress: unknown[] = [];
    answer = gives(200, `{"progress":1}\n{"progress":2}\n${DONE}\n`, {
      'content-type': 'application/x-ndjson; charset=utf-8',
    });
    const report = await performed(here(), { progress: (token) => progress.push(token) });
    expect([report.kind, progress]).toEqual(['done', [1, 2]]);
  });

  it.each<[string, () => typeof answer, object]>([
    [
      '429 is not done',
      () => gives(429),
      notDone({ failure: { code: 'TransientError', message: expect.stringMatching(/answered 429/) } }),
    ],
    [
      '503 with a wish is not done',
      () => gives(503, '', { 'retry-after': '7' }),
      notDone({ retryAfterMs: 7_000 }),
    ],
    ['a bare 503 may come from a proxy', () => gives(503), unknown('http-503')],
    ['500', () => gives(500, 'card 4111'), unknown('http-500')],
    ['404', () => gives(404), unknown('http-404')],
    [
      'a redirect, which is not followed',
      () => gives(307, '', { location: 'https://elsewhere.example' }),
      unknown('http-307'),
    ],
    ['no JSON', () => gives(200, 'card 4111'), unknown('bad-answer')],
    ['nothing', () => gives(200), unknown('no-answer')],
    [
      'progress alone',
      () => gives(200, '{"progress":1}\n', { 'content-type': 'application/x-ndjson' }),
      unknown('no-answer'),
    ],
    ['too much', () => gives(200, ' '.repeat(MAX_ANSWER_BYTES + 1)), unknown('answer-too-large')],
    [
      'a reset before the answer',
      () => (_, request) => request.socket.resetAndDestroy(),
      unknown('ECONNRESET'),
    ],
    [
      'a reset in the answer',
      () => (response, request) =>
        void response
          .writeHead(200, { 'content-length': '99' })
          .write('{"ans', () => request.socket.destroy()),
      unknown('ECONNRESET'),
    ],
    [
      'that it cannot tell, which is its last word',
      () => gives(200, '{"answer":"cannotTell"}'),
      { kind: 'unknown', codeReturned: true },
    ],
    [
      'that it goes on',
      () => gives(200, '{"answer":"running"}'),
      { kind: 'unknown', codeReturned: false, failure: { code: 'running' } },
    ],
  ])('%s', async (_, given, report) => {
    answer = given();
    const got = await performed(here());
    expect(got).toMatchObject(report);
    expect(JSON.stringify(got)).not.toContain('4111');
    expect(asked).toHaveLength(1);
  });

  it.each([
    ['its answer', () => gives(200, '{"answer":"cannotTell","askAfterMs":60000}')],
    ['its header', () => gives(429, '', { 'retry-after': '60' })],
  ])('a probe that cannot tell is asked again no earlier than it wants, by %s', async (_, given) => {
    answer = given();
    const report = { kind: 'found', verdict: 'cannot-tell', askAfterMs: 60_000 };
    expect(await performed(here(), { call: 'probe' })).toMatchObject(report);
  });

  it.each(['probe', 'undo'] as const)('a %s that is reset says nothing either', async (call) => {
    answer = (_, request) => request.socket.resetAndDestroy();
    const report = await performed(here(), { call });
    expect(report).toMatchObject(
      call === 'probe' ? { kind: 'found', verdict: 'cannot-tell' } : unknown('ECONNRESET'),
    );
  });

  it('that is aborted is closed, and what became of it is unknown', async () => {
    const abort = new AbortController();
    const closed = new Promise((done) => {
      answer = (_, request) => {
        request.socket.once('close', done);
        abort.abort();
      };
    });
    expect(await performed(here(), { signal: abort.signal })).toMatchObject(unknown('aborted'));
    await closed;
  });

  it('that is aborted before sends nothing', async () => {
    expect(await performed(here(), { signal: AbortSignal.abort() })).toMatchObject(notDone());
    expect(asked).toEqual([]);
  });
});

describe('what was certainly not sent is not done', () => {
  const nothingSent = (message: RegExp) =>
    notDone({ failure: { code: 'TransientError', message: expect.stringMatching(message) } });

  it('to a port at which nobody listens', async () => {
    const free = createPlainServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as AddressInfo;
    free.close();
    await once(free, 'close');
    const report = await performed({ url: `http://127.0.0.1:${port}/` });
    expect(report).toMatchObject(nothingSent(/nothing was sent to 127\.0\.0\.1.*ECONNREFUSED/));
  });

  it('to a host that shows no certificate that is trusted', async () => {
    const tls = join(import.meta.dirname, '..', 'fixtures', 'tls');
    const secure = createTlsServer(
      { key: readFileSync(join(tls, 'localhost-key.pem')), cert: readFileSync(join(tls, 'localhost.pem')) },
      (_, response) => response.end(DONE),
    ).listen(0, '127.0.0.1');
    await once(secure, 'listening');
    const { port } = secure.address() as AddressInfo;
    const report = await performed({ url: `https://127.0.0.1:${port}/` });
    secure.close();
    expect(report).toMatchObject(nothingSent(/nothing was sent/));
  });

  it.each<[string, RemoteTarget, RegExp]>([
    ['an address', { url: { env: 'ABSENT' } }, /variable ABSENT is not set/],
    [
      'a secret',
      { url: 'https://parcels.example', secret: { header: 'x', env: 'ABSENT' } },
      /variable ABSENT/,
    ],
  ])('without %s in the environment', async (_, target, message) => {
    expect(await performed(target)).toMatchObject(nothingSent(message));
  });

  it('to an invalid address in the environment, which is not repeated', async () => {
    process.env['PARCELS_TOKEN'] = 'https://me:hunter2@parcels.example';
    const report = await performed({ url: { env: 'PARCELS_TOKEN' } });
    expect(report).toMatchObject(nothingSent(/holds a user or a password/));
    expect(JSON.stringify(report)).not.toContain('hunter2');
  });

  it('to a function that is not named', async () => {
    process.env['STEADFAST_REMOTE_FUNCTION'] = 'parcels';
    expect(await performed({ lambda: true })).toMatchObject(
      nothingSent(/is not the ARN of a Lambda function/),
    );
  });
});

describe('to a Lambda function', () => {
  it('is an invocation that is waited for, of exactly that function', async () => {
    answer = gives(200, DONE);
    expect(await performed({ lambda: true })).toMatchObject({ kind: 'done', output: { code: 'P1' } });
    const [{ path, headers, body } = {} as Asked] = asked;
    expect(path).toBe(`/2015-03-31/functions/${encodeURIComponent(ARN)}/invocations`);
    expect(headers).toMatchObject({ 'x-amz-invocation-type': 'RequestResponse' });
    expect(headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIA1\/\d{8}\/eu-west-1\/lambda\/aws4_request, /,
    );
    expect(JSON.parse(body)).toMatchObject({ call: 'execute', idempotencyKey: 'e.book.abc' });
  });

  const refused = (status: number, type: string, headers = {}) =>
    gives(status, '{"Message":"x"}', { 'x-amzn-errortype': type, ...headers });
  it.each<[string, () => typeof answer, object]>([
    [
      'a throttle is not done',
      () => refused(429, 'TooManyRequestsException', { 'retry-after': '2' }),
      notDone({ retryAfterMs: 2_000 }),
    ],
    ['no right to call it is not done', () => refused(403, 'AccessDeniedException'), notDone()],
    [
      'no such function is not done',
      () => refused(404, 'ResourceNotFoundException:http://x'),
      notDone({
        failure: {
          code: 'TransientError',
          message: 'Lambda answered 404 ResourceNotFoundException: the function was not run',
        },
      }),
    ],
    [
      'too large a call is not done, for good',
      () => refused(413, 'RequestTooLargeException'),
      { kind: 'failed', permanent: true },
    ],
    ['trouble of its own is unknown', () => refused(500, 'ServiceException'), unknown('http-500')],
    [
      'a function that ended with an error is unknown',
      () => gives(200, '{"errorMessage":"card 4111"}', { 'x-amz-function-error': 'Unhandled' }),
      unknown('function-error'),
    ],
    ['a return value that is no answer is unknown', () => gives(200, 'null'), unknown('bad-answer')],
  ])('%s', async (_, given, report) => {
    answer = given();
    const got = await performed({ lambda: true });
    expect(got).toMatchObject(report);
    expect(JSON.stringify(got)).not.toContain('4111');
  });
});

it('a signed address is signed as the function’s own role', async () => {
  answer = gives(200, DONE);
  process.env['AWS_SESSION_TOKEN'] = 'session';
  const report = await performed({ url: `${address}/agent`, sign: 'lambda' });
  delete process.env['AWS_SESSION_TOKEN'];
  expect(report).toMatchObject({ kind: 'done' });
  expect(asked[0]?.headers.authorization).toMatch(/SignedHeaders=[^,]*host;idempotency-key;x-amz-date[;,]/);
});

describe('accepted work', () => {
  it('is answered with its token and the time to ask', async () => {
    answer = gives(202, '{"answer":"accepted","token":"job-1","askAfterMs":30000}');
    const report = await performed(here(), { acceptedWithin: '1h' });
    expect(report).toMatchObject({
      kind: 'accepted',
      token: 'job-1',
      askAfterMs: 30_000,
      withinMs: 3_600_000,
    });
  });

  it('is not an answer of an agent without acceptedWithin, nor to a probe, nor with another token', async () => {
    answer = gives(200, '{"answer":"accepted"}');
    expect(await performed(here())).toMatchObject({ kind: 'wrong-answer' });
    expect(await performed(here(), { call: 'probe' })).toMatchObject({
      verdict: 'cannot-tell',
      failure: { message: expect.stringContaining('not one of those to probe') },
    });
    answer = gives(200, '{"answer":"accepted","token":7}');
    expect(await performed(here(), { acceptedWithin: '1h' })).toEqual(
      unknown('bad-answer', /'token' that is not a text/),
    );
  });

  it('is asked for with what is known of it, and says how far it is', async () => {
    answer = gives(200, '{"answer":"running","progress":0.5,"askAfterMs":60000}');
    const accepted = { token: 'job-1', at: 5, progress: 0.4 };
    const report = await performed(here(), { call: 'probe', acceptedWithin: '1h', accepted });
    expect(report).toMatchObject({ verdict: 'running', progress: 0.5, askAfterMs: 60_000 });
    expect(JSON.parse(asked[0]?.body ?? '')).toMatchObject({ call: 'probe', accepted });
  });
});
