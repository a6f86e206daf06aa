/** The outcome of each answer and of each missing answer, over a real server, as in docs/HTTP-AGENTS.md. */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { concat, eq, type HttpAnswer } from '../../lib/index.ts';
import { OUTCOMES } from '../../lib/ready/outcomes.ts';
import { type Answer, called, charging, gives, outcomeIn, type Service, startService } from './service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService(gives(200));
});
afterAll(() => service.stop());

const OK = '{"id":"p-1"}';
const cutsAfter =
  (status: number, sent: string): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': '100' });
    response.write(sent, () => response.destroy());
  };
const closes: Answer = (response) => response.destroy();
const abort = new AbortController();
const hangs: Answer = () => abort.abort();

/** An answer, and its outcome for execute, probe and undo of a service with a probe. */
const ANSWERS: readonly (readonly [string, Answer, string, string, string])[] = [
  ['200', gives(200, OK), 'done', 'done', 'compensated'],
  ['201', gives(201, OK), 'done', 'done', 'compensated'],
  ['204', gives(204), 'wrong-answer bad-output', 'wrong-answer bad-output', 'compensated'],
  ['202', gives(202, OK), 'unknown http-202', 'running', 'unknown http-202'],
  ['300', gives(300), 'permanent http-300', 'cannot-tell cannot-tell', 'permanent http-300'],
  ['301', gives(301), 'unknown http-301', 'cannot-tell cannot-tell', 'unknown http-301'],
  ['304', gives(304), 'permanent http-304', 'cannot-tell cannot-tell', 'permanent http-304'],
  ['400', gives(400), 'permanent http-400', 'cannot-tell cannot-tell', 'permanent http-400'],
  ['401', gives(401), 'permanent http-401', 'cannot-tell cannot-tell', 'permanent http-401'],
  ['402', gives(402), 'permanent http-402', 'cannot-tell cannot-tell', 'permanent http-402'],
  ['403', gives(403), 'permanent http-403', 'cannot-tell cannot-tell', 'permanent http-403'],
  ['404', gives(404), 'permanent http-404', 'not-done', 'compensated'],
  ['408', gives(408), 'unknown http-408', 'cannot-tell cannot-tell', 'unknown http-408'],
  ['409', gives(409), 'unknown http-409', 'cannot-tell cannot-tell', 'unknown http-409'],
  ['410', gives(410), 'permanent http-410', 'not-done', 'compensated'],
  ['412', gives(412), 'unknown http-412', 'cannot-tell cannot-tell', 'unknown http-412'],
  ['422', gives(422), 'permanent http-422', 'cannot-tell cannot-tell', 'permanent http-422'],
  ['425', gives(425), 'transient http-425', 'cannot-tell cannot-tell', 'transient http-425'],
  ['429', gives(429), 'transient http-429', 'cannot-tell cannot-tell', 'transient http-429'],
  ['500', gives(500), 'unknown http-500', 'cannot-tell cannot-tell', 'unknown http-500'],
  ['501', gives(501), 'unknown http-501', 'cannot-tell cannot-tell', 'unknown http-501'],
  ['502', gives(502), 'unknown http-502', 'cannot-tell cannot-tell', 'unknown http-502'],
  ['503', gives(503), 'unknown http-503', 'cannot-tell cannot-tell', 'unknown http-503'],
  [
    '503 with Retry-After',
    gives(503, '', { 'retry-after': '3' }),
    'transient http-503',
    'cannot-tell cannot-tell',
    'transient http-503',
  ],
  ['504', gives(504), 'unknown http-504', 'cannot-tell cannot-tell', 'unknown http-504'],
  ['599', gives(599), 'unknown http-599', 'cannot-tell cannot-tell', 'unknown http-599'],
  ['no answer, closed', closes, 'unknown ECONNRESET', 'cannot-tell cannot-tell', 'unknown ECONNRESET'],
  [
    'a body that is cut',
    cutsAfter(200, '{"id":'),
    'unknown broken-connection',
    'cannot-tell cannot-tell',
    'compensated',
  ],
  ['no JSON', gives(200, '<html>'), 'unknown bad-answer', 'cannot-tell cannot-tell', 'compensated'],
  [
    'HTML of a proxy',
    gives(200, '<html>', { 'content-type': 'text/html' }),
    'unknown bad-answer',
    'cannot-tell cannot-tell',
    'compensated',
  ],
  [
    'a body that is too large',
    gives(200, JSON.stringify({ id: 'x'.repeat(300_000) })),
    'unknown answer-too-large',
    'cannot-tell cannot-tell',
    'compensated',
  ],
  [
    'a compressed body, which was not asked for',
    gives(200, OK, { 'content-encoding': 'gzip' }),
    'unknown bad-answer',
    'cannot-tell cannot-tell',
    'compensated',
  ],
  [
    'a refusal whose body is cut',
    cutsAfter(400, '{'),
    'permanent http-400',
    'cannot-tell cannot-tell',
    'permanent http-400',
  ],
];

describe('S6 an answer to a probed agent', () => {
  it.each(ANSWERS)('%s', async (_name, answer, execute, probe, undo) => {
    service.answer = answer;
    const options = charging(service.url);
    const outcomes = [];
    for (const call of ['execute', 'probe', 'undo'] as const)
      outcomes.push(outcomeIn(await called(options, { call })));
    expect(outcomes).toEqual([execute, probe, undo]);
  });
});

describe('S6 a body of which a whole number that is read would be rounded', () => {
  const BIG = '{"id":9007199254740993,"seen":1,"state":"paid"}';
  const reading = (more: object = {}) => ({ method: 'POST' as const, url: service.url, ...more });
  const text = ({ body }: HttpAnswer) => ({ paymentId: concat('p-', body<number>('id')) });
  beforeEach(() => {
    service.answer = gives(200, BIG);
  });
  it('is no output', async () => {
    const probed = charging(service.url, { execute: reading({ output: text }) });
    const report = await called(probed);
    expect(outcomeIn(report)).toBe('unknown unsafe-number');
    expect(JSON.stringify(report)).toContain('the service must send it as text');
    expect(outcomeIn(await called(charging(service.url, { execute: reading() })))).toBe(
      'unknown unsafe-number',
    );
    const probe = { ...reading({ output: text }), method: 'GET' as const };
    expect(outcomeIn(await called(charging(service.url, { probe }), { call: 'probe' }))).toMatch(
      /^cannot-tell/,
    );
  });
  it('decides no rule, and is no token', async () => {
    const outcomes = ({ body }: HttpAnswer) => [
      { when: eq(body<number>('id'), 1), is: 'permanent' as const },
    ];
    const output = () => ({ paymentId: 'p' });
    const ruled = charging(service.url, { execute: reading({ outcomes, output }) });
    expect(outcomeIn(await called(ruled))).toBe('unknown unsafe-number');
    service.answer = gives(202, BIG);
    const execute = reading({ token: ({ body }: HttpAnswer) => body('id') });
    const accepting = await called(charging(service.url, { acceptedWithin: '1h', execute }));
    expect(accepting).toMatchObject({ kind: 'accepted' });
    expect(accepting).not.toHaveProperty('token');
  });
  it('is read otherwise', async () => {
    const output = ({ body }: HttpAnswer) => ({ paymentId: body('state') });
    const report = await called(charging(service.url, { execute: reading({ output }) }));
    expect(report).toMatchObject({ kind: 'done', output: { paymentId: 'paid' } });
    expect(outcomeIn(await called(charging(service.url), { call: 'undo' }))).toBe('compensated');
  });
});

it.each([
  ['idempotent', 409, 'unknown http-409'],
  ['idempotent', 412, 'unknown http-412'],
  ['unsafe', 409, 'permanent http-409'],
  ['unsafe', 412, 'permanent http-412'],
] as const)('of effect %s %d is: %s', async (effect, status, outcome) => {
  service.answer = gives(status);
  const { probe: _probe, ...options } = charging(service.url, { effect });
  expect(outcomeIn(await called(options))).toBe(outcome);
});

it.each([
  ['redirected by 303 after a POST', 'POST', 303, 'unknown http-303'],
  ['redirected by 302 to another host, of a GET', 'GET', 302, 'permanent http-302'],
  ['redirected by 307 to another host, of a POST', 'POST', 307, 'permanent http-307'],
  ['redirected by 308 to another host, of a POST', 'POST', 308, 'permanent http-308'],
  ['deleted, and gone', 'DELETE', 404, 'done'],
  ['put, and no such place', 'PUT', 404, 'permanent http-404'],
] as const)('%s', async (_name, method, status, outcome) => {
  service.answer = gives(status, '', { location: 'http://elsewhere.example/' });
  const output = () => ({ paymentId: 'p' });
  const execute = { method, url: service.url, output };
  expect(outcomeIn(await called(charging(service.url, { execute })))).toBe(outcome);
  expect(service.asked.at(-1)).toMatchObject({ method });
});

it.each([
  [302, 404, 'cannot-tell cannot-tell'],
  [303, 410, 'cannot-tell cannot-tell'],
  [302, 200, 'done'],
  [301, 404, 'not-done'],
  [307, 404, 'not-done'],
] as const)('S6 a probe that %d sends on, and that ends with %d: %s', async (status, last, outcome) => {
  service.answer = (response, asked) =>
    (asked.path === '/login' ? gives(last, OK) : gives(status, '', { location: '/login' }))(response, asked);
  expect(outcomeIn(await called(charging(service.url), { call: 'probe' }))).toBe(outcome);
});

describe('nothing was sent', () => {
  it('where the connection is refused', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    other.close();
    await once(other, 'close');
    const options = charging(`http://127.0.0.1:${port}`);
    expect(outcomeIn(await called(options))).toBe('transient ECONNREFUSED');
    expect(outcomeIn(await called(options, { call: 'undo' }))).toBe('transient ECONNREFUSED');
    expect(outcomeIn(await called(options, { call: 'probe' }))).toBe('cannot-tell cannot-tell');
  });

  it('if the name does not exist', async () => {
    const resolve = (): Promise<never> =>
      Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
    const net = { resolve, isPublic: () => true };
    expect(outcomeIn(await called(charging('http://pay.example'), { net }))).toBe('transient ENOTFOUND');
  });

  it('where the time is over before the name is known', async () => {
    const late = new AbortController();
    const resolve = (): Promise<never> => (queueMicrotask(() => late.abort()), new Promise(() => undefined));
    const net = { resolve, isPublic: () => true };
    const report = await called(charging('http://pay.example'), { net, signal: late.signal });
    expect(outcomeIn(report)).toBe('transient AbortError');
  });

  it('where the certificate, or TLS at all, is not there', async () => {
    expect(outcomeIn(await called(charging(service.url.replace('http:', 'https:'))))).toMatch(/^transient /);
  });

  it('where the time was over before there was a connection', async () => {
    expect(outcomeIn(await called(charging(service.url), { signal: AbortSignal.abort() }))).toBe(
      'transient AbortError',
    );
  });
});

it('S6 leaves the outcome unknown where the time is over after the request was sent', async () => {
  service.answer = hangs;
  const report = await called(charging(service.url), { signal: abort.signal });
  expect(outcomeIn(report)).toBe('unknown AbortError');
});

describe('what its author says of an answer', () => {
  const judging = (outcomes: NonNullable<ReturnType<typeof charging>['execute']>) =>
    charging(service.url, { execute: outcomes });
  const post = { method: 'POST', url: '' } as const;

  it('is said by status', async () => {
    service.answer = gives(409, '{"id":"p-2"}');
    const output = ({ body }: HttpAnswer) => ({ paymentId: body('id') });
    const execute = { ...post, url: service.url, outcomes: { 409: 'done' }, output } as const;
    expect(await called(judging(execute))).toMatchObject({ kind: 'done', output: { paymentId: 'p-2' } });
  });

  it('is said by the body, the first rule that holds', async () => {
    const execute = {
      ...post,
      url: service.url,
      outcomes: ({ body }: HttpAnswer) => [
        { when: eq(body('state'), 'declined'), is: 'permanent' as const },
        { when: eq(body('state'), 'busy'), is: 'transient' as const },
      ],
    };
    service.answer = gives(200, '{"state":"declined"}');
    expect(outcomeIn(await called(judging(execute)))).toBe('permanent http-200');
    service.answer = gives(200, '{"state":"busy"}', { 'retry-after': '7' });
    expect(await called(judging(execute))).toMatchObject({ permanent: false, retryAfterMs: 7_000 });
  });

  it('S6 counts only if what it reads of the body is there', async () => {
    const execute = {
      ...post,
      url: service.url,
      outcomes: ({ body }: HttpAnswer) => [{ when: eq(body('code'), 'duplicate'), is: 'done' as const }],
    };
    service.answer = cutsAfter(400, '{"code":"dup');
    expect(outcomeIn(await called(judging(execute)))).toBe('unknown broken-connection');
  });
});

describe('Retry-After', () => {
  const wishOf = async (headers: Record<string, string>, status = 429): Promise<unknown> => {
    service.answer = (response) => {
      response.sendDate = headers['date'] === undefined;
      gives(status, '', headers)(response, service.asked[0] as never);
    };
    return ((await called(charging(service.url))) as { retryAfterMs?: number }).retryAfterMs;
  };
  it('counts in seconds', async () => expect(await wishOf({ 'retry-after': '120' })).toBe(120_000));
  it('counts as a date by the clock of the service', async () => {
    const date = 'Wed, 21 Oct 2015 07:28:00 GMT';
    expect(await wishOf({ 'retry-after': 'Wed, 21 Oct 2015 07:28:30 GMT', date }, 503)).toBe(30_000);
  });
  it.each([
    ['execute', 429, { kind: 'failed', retryAfterMs: 60_000 }],
    ['execute', 504, { kind: 'unknown', retryAfterMs: 60_000 }],
    ['probe', 429, { kind: 'found', verdict: 'cannot-tell', askAfterMs: 60_000 }],
    ['probe', 202, { kind: 'found', verdict: 'running', askAfterMs: 60_000 }],
    ['undo', 503, { kind: 'failed', retryAfterMs: 60_000 }],
    ['undo', 500, { kind: 'unknown', retryAfterMs: 60_000 }],
  ] as const)('counts for each call: %s, %d', async (call, status, report) => {
    service.answer = gives(status, '', { 'retry-after': '60' });
    expect(await called(charging(service.url), { call })).toMatchObject(report);
  });
  it('is ignored if it is past, or neither a number nor a date', async () => {
    expect(await wishOf({ 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' })).toBeUndefined();
    expect(await wishOf({ 'retry-after': 'soon' })).toBeUndefined();
  });
});

describe('accepted work', () => {
  const accepting = () =>
    charging(service.url, {
      acceptedWithin: '1h',
      execute: { method: 'POST', url: service.url, token: ({ body }) => body('job') },
      probe: ({ token }) => ({
        method: 'GET',
        url: service.url,
        query: { job: token },
        progress: ({ body }) => body<number>('percent'),
      }),
    });
  it('has a token, and the time after which the service wants to be asked', async () => {
    service.answer = gives(202, '{"job":"j-1"}', { 'retry-after': '30' });
    expect(await called(accepting())).toMatchObject({ kind: 'accepted', token: 'j-1', askAfterMs: 30_000 });
    service.answer = gives(202, '{"job":"j-1"}', { 'retry-after': '1' });
    expect(await called(accepting())).toMatchObject({ askAfterMs: 5_000 });
  });
  it('is asked for by the token, and advances', async () => {
    service.answer = gives(202, '{"percent":40}', { 'retry-after': '99999' });
    const report = await called(accepting(), { call: 'probe', token: 'j-1' });
    expect(report).toMatchObject({ verdict: 'running', progress: 40, askAfterMs: 3_600_000 });
    expect(service.asked.at(-1)?.path).toBe('/?job=j-1');
    await called(accepting(), { call: 'probe' });
    expect(service.asked.at(-1)?.path).toBe('/');
  });
});

it('says in docs/HTTP-AGENTS.md what the table says', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/HTTP-AGENTS.md'), 'utf8');
  const printed = page.split('\n').filter((line) => /^\| .* \| `\w+` \| `\w+` \| `\w+` \|$/.test(line));
  const rows = OUTCOMES.map(
    ([answer, , says]) => `| ${answer} | ${says.map((outcome) => `\`${outcome}\``).join(' | ')} |`,
  );
  expect(printed).toEqual(rows);
});
