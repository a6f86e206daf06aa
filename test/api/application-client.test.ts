/** The client that applications import: its types by workflow, and repeating a call under the same key. */

import { agent, workflow } from 'steadfast';
import { ApiError, createClient } from 'steadfast/client';
import * as z from 'zod/mini';
import { repeated } from '../../lib/api/again.ts';

const echo = agent('echo', {
  input: z.object({ text: z.string() }),
  output: z.object({ said: z.string() }),
  effect: 'idempotent',
  undo: 'none',
});
const speech = workflow('speech', { input: z.object({ text: z.string() }), within: '1h' }, (w) => {
  const it = w.step('it', echo, { text: w.input.text });
  return { said: it.output.said };
});

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** An API that answers each call with the next answer. */
function answering(...answers: (readonly [number, unknown] | Error)[]) {
  const requests: Request[] = [];
  const send: typeof fetch = async (input, init = {}) => {
    const { pathname } = new URL(input as string);
    const body = JSON.parse(typeof init.body === 'string' ? init.body : '{}') as Request['body'];
    requests.push({ method: init.method ?? 'GET', path: pathname, body });
    const answer = answers[requests.length - 1] ?? new Error('no more answers');
    if (answer instanceof Error) throw answer;
    return new Response(JSON.stringify(answer[1]), { status: answer[0] });
  };
  const client = createClient<{ speech: typeof speech }>({ url: 'http://api', fetch: send });
  return { requests, client };
}

const started = [202, { executionId: 'e1', status: 'running' }] as const;
const broken = [500, { error: { code: 'internal', message: 'try it again' } }] as const;
const busy = [429, { message: 'Too Many Requests' }] as const;
const down = [503, { message: 'Service Unavailable' }] as const;

it('has inputs and outputs by workflow', async () => {
  const view = { executionId: 'e1', status: 'succeeded', steps: [], output: { said: 'hello' } };
  const { client, requests } = answering(started, [200, view]);
  const { executionId } = await client.start('speech', { input: { text: 'hello' } });
  const { output } = await client.waitForEnd(executionId);
  const said: string | undefined = output?.said;
  expect(said).toBe('hello');
  expect(requests.map(({ path }) => path)).toEqual(['/workflows/speech/executions', '/executions/e1']);
  const wrong = () => [
    // @ts-expect-error the input does not fit
    client.start('speech', { input: { words: 'hello' } }),
    // @ts-expect-error the workflow does not exist
    client.start('song', { input: { text: 'hello' } }),
    // @ts-expect-error the output has no such field
    output?.sung,
  ];
  expect(wrong).toBeInstanceOf(Function);
});

it('makes a call without an answer again, under the same key', async () => {
  const { client, requests } = answering(new TypeError('fetch failed'), broken, busy, started);
  await client.start('speech', { input: { text: 'a' } });
  expect(requests).toHaveLength(4);
  const keys = new Set(requests.map(({ body }) => body['idempotencyKey']));
  expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
});

it('keeps the key that it is given, and gives commands one of their own', async () => {
  const { client, requests } = answering(started, down, started);
  await client.start('speech', { input: { text: 'a' }, idempotencyKey: 'order-1' });
  await client.cancel('e1', { reason: 'typing error' });
  expect(requests.map(({ body }) => body['idempotencyKey'] ?? body['commandId'])).toEqual([
    'order-1',
    expect.stringMatching(/^[0-9a-f-]{36}$/),
    requests[1]?.body['commandId'],
  ]);
});

it('has an id of its own also where the given one is undefined', async () => {
  const accepted = [202, { executionId: 'e1', id: 'm', order: 1, at: 1 }] as const;
  const { client, requests } = answering(accepted, started);
  const none = { id: undefined } as unknown as { id: string };
  await client.send({ executionId: 'e1' }, 'paid', 7, none);
  const keyless = { input: { text: 'a' }, idempotencyKey: undefined };
  await client.start('speech', keyless as unknown as { input: { text: string } });
  const own = expect.stringMatching(/^[0-9a-f-]{36}$/);
  expect(requests.map(({ body }) => body['id'] ?? body['idempotencyKey'])).toEqual([own, own]);
});

it('sends a message again under an id of its own, also where others sent at that moment', async () => {
  const accepted = [202, { executionId: 'e1', id: 'm', order: 1, at: 1 }] as const;
  const atOnce = [429, { error: { code: 'busy', message: 'send it again' } }] as const;
  const { client, requests } = answering(new TypeError('fetch failed'), atOnce, accepted, accepted, accepted);
  await client.send({ executionId: 'e1' }, 'paid', { amount: 1 });
  const startWith = { input: { text: 'a' } };
  await client.send({ workflow: 'speech', key: 'o-1', startWith }, 'paid');
  await client.send({ executionId: 'e1' }, 'paid', 7, { id: 'm-1' });
  const [first, , third, fourth, fifth] = requests;
  const own = expect.stringMatching(/^[0-9a-f-]{36}$/);
  expect(first).toEqual({
    method: 'POST',
    path: '/executions/e1/messages',
    body: { name: 'paid', body: { amount: 1 }, id: own },
  });
  expect(third?.body).toEqual(first?.body);
  expect(fourth).toEqual({
    method: 'POST',
    path: '/workflows/speech/messages',
    body: { name: 'paid', key: 'o-1', id: own, startWith },
  });
  expect(fourth?.body['id']).not.toBe(first?.body['id']);
  expect(fifth?.body).toEqual({ name: 'paid', body: 7, id: 'm-1' });
  // @ts-expect-error it takes no other option
  await expect(client.send({ executionId: 'e1' }, 'paid', 7, { key: 'x' })).rejects.toMatchObject({
    code: 'bad-option',
  });
});

it.each<[string, readonly [number, unknown]]>([
  ['a refusal', [400, { error: { code: 'bad-input', message: 'no' } }]],
  ['whoever may not', [403, { message: 'Forbidden' }]],
])('does not repeat %s', async (_, answer) => {
  const { client, requests } = answering(answer);
  await expect(client.start('speech', { input: { text: 'a' } })).rejects.toBeInstanceOf(ApiError);
  expect(requests).toHaveLength(1);
});

it('gives up when the time for that is over, and outlasts a restart until then', async () => {
  const { requests } = answering();
  let calls = 0;
  const send: typeof fetch = async () => {
    calls += 1;
    throw new TypeError('fetch failed');
  };
  const client = createClient({ url: 'http://api', fetch: send, retryForMs: 0 });
  await expect(client.health()).rejects.toMatchObject({ code: 'no-answer' });
  expect([calls, requests.length]).toEqual([1, 0]);
});

it('says of one that does not answer that it took the call', async () => {
  const send: typeof fetch = async () => {
    throw new DOMException('', 'TimeoutError');
  };
  const client = createClient({ url: 'http://api', fetch: send, retryForMs: 0 });
  await expect(client.health()).rejects.toMatchObject({
    code: 'no-answer',
    message:
      'http://api took the call and has not answered within 30 s: see whether its process is frozen or overloaded, and its log',
  });
});

it('makes every other call again, of whatever route', async () => {
  const paused = [202, { workflow: 'speech' }] as const;
  const { client, requests } = answering(down, [200, { workflow: 'speech', steps: [] }], down, paused);
  await client.workflows.get('speech');
  await client.workflows.pause('speech');
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    ...Array.from({ length: 2 }, () => 'GET /workflows/speech'),
    ...Array.from({ length: 2 }, () => 'POST /workflows/speech/pause'),
  ]);
});

it('does not resolve an incident twice: what came of the first is asked first', async () => {
  const { client, requests } = answering(down);
  await expect(client.questions.resolve('e1', 1, { choice: 'retry' })).rejects.toMatchObject({
    code: 'unavailable',
  });
  expect(requests).toHaveLength(1);
});

it('approves and rejects by execution and step, and again where no answer came', async () => {
  const steps = [
    { name: 'release', kind: 'approval', status: 'waiting', after: [], token: 'e1.release.secret' },
    { name: 'later', kind: 'approval', status: 'pending', after: ['release'] },
    { name: 'paid', kind: 'callback', status: 'waiting', after: [], token: 'e1.paid.secret' },
  ];
  const view = [200, { executionId: 'e1', status: 'waiting', steps }] as const;
  const closed = [200, { status: 'completed' }] as const;
  const { client, requests } = answering(view, new TypeError('fetch failed'), view, closed, view, view, view);
  await client.questions.approve('e1', 'release', { comment: 'fine' });
  expect(requests.slice(2)).toMatchObject([
    { method: 'GET', path: '/executions/e1' },
    { path: '/callbacks/e1.release.secret/complete', body: { output: { comment: 'fine' } } },
  ]);
  await expect(client.questions.reject('e1', 'later')).rejects.toMatchObject({
    code: 'not-open',
    message: "'later' cannot be answered now: it comes after release",
  });
  await expect(client.questions.reject('e1', 'paid')).rejects.toMatchObject({
    code: 'not-an-approval',
    details: { kind: 'callback', token: 'e1.paid.secret' },
  });
  await expect(client.questions.approve('e1', 'none')).rejects.toMatchObject({
    code: 'unknown-step',
    message: "execution e1 has no step 'none'. Its approvals are: release, later",
  });
  // Calls that are refused here are not repeated.
  expect(requests).toHaveLength(7);
});

it('calls a laptop’s API under a name', async () => {
  const names: (string | null)[] = [];
  const send: typeof fetch = async (_input, init) => {
    names.push(new Headers(init?.headers).get('x-local-user'));
    return Response.json({ status: 'completed' });
  };
  await createClient({ url: 'http://api', fetch: send, as: 'ann' }).callbacks.complete('t');
  await createClient({ url: 'http://api', fetch: send }).callbacks.complete('t');
  expect(names).toEqual(['ann', null]);
});

it('makes a call again for a minute, and no longer', async () => {
  const away = new ApiError('no-answer', 'the connection was refused');
  let now = 0;
  const pause = { now: () => now, random: () => 1, sleep: async (ms: number) => void (now += ms) };
  const back = 50_000;
  const call = async (): Promise<string> => (now < back ? Promise.reject(away) : 'answered');
  expect(await repeated(call, 60_000, pause)).toBe('answered');
  now = 0;
  await expect(repeated(() => Promise.reject(away), 60_000, pause)).rejects.toBe(away);
  expect(now).toBeGreaterThan(50_000);
  expect(now).toBeLessThan(60_000);
});
