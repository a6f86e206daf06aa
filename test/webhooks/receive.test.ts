/**
 * A third party's request, on ports in memory: it has one effect however often it comes, and none if it is
 * forged.
 */

import * as z from 'zod/mini';
import { onWebhook } from '../../lib/author/triggers/trigger-declaration.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { callbackToken } from '../../lib/core/records/state.ts';
import { start } from '../../lib/scheduler/start.ts';
import { startFrom } from '../../lib/scheduler/starter.ts';
import { MAX_WEBHOOK_BYTES, receiver, type Receive, type WebhookAnswer } from '../../lib/webhooks/receive.ts';
import { compiledWebhook } from '../../serve/webhooks.ts';
import { anAgent, harness, type Harness } from '../engine/harness.ts';
import { hmac, NOW, SECRET, SENDERS, type Sent } from './senders.ts';

const worker = anAgent('worker');
const input = z.object({ orderId: z.string().check(z.minLength(1)) });
const flow = workflow('flow', { input, within: '1h' }, (w) => {
  const paid = w.callback('paid', { within: '30m', output: z.object({ status: z.string() }) });
  w.step('a', worker, {}, { after: [paid] });
  return paid.output;
});

const { payments, 'code-host': codeHost, form } = SENDERS;
const WEBHOOKS = [
  onWebhook(flow, {
    name: 'payments',
    verify: payments.verify,
    input: { orderId: '$.body.order' },
    idempotencyKey: '$.body.id',
  }),
  onWebhook(flow, { name: 'code-host', verify: codeHost.verify, input: { orderId: '$.body.order' } }),
  onWebhook(flow, { name: 'form', verify: form.verify, body: 'form', input: { orderId: '$.body.order' } }),
  onWebhook(flow, {
    name: 'answers',
    verify: payments.verify,
    answers: 'paid',
    token: '$.body.token',
    output: { status: '$.body.status' },
  }),
  onWebhook(flow, {
    name: 'in-url',
    verify: payments.verify,
    answers: 'paid',
    output: { status: '$.body.status' },
  }),
];

interface World extends Harness {
  readonly posts: (path: string, sent: Sent, method?: string) => Promise<WebhookAnswer>;
  readonly count: () => Promise<number>;
  readonly logged: string[];
  readonly asked: string[];
}

interface Change {
  readonly secret?: () => Promise<string>;
  readonly isAway?: true;
}

function world(change: Change = {}): World {
  const own = harness(flow as Workflow, {
    worker: { execute: async () => ({}), undo: async () => undefined },
  });
  const logged: string[] = [];
  const asked: string[] = [];
  const triggers = new Map(WEBHOOKS.map((one) => [one.options.name ?? '', compiledWebhook(one)]));
  const receive: Receive = receiver({
    webhooks: WEBHOOKS.map(({ options: { name = '', verify } }) => ({ name, verify })),
    now: () => NOW,
    secretOf: async ({ env }) => {
      asked.push(env);
      return (await change.secret?.()) ?? SECRET;
    },
    keep: async ({ name, ...message }) => {
      if (change.isAway === true) throw new Error('away');
      const outcome = await startFrom(own.scheduler, triggers.get(name)!, { id: name, ...message });
      return outcome.kind === 'refused' ? outcome.code : undefined;
    },
    log: (what, fields) => logged.push(`${what} ${Object.values(fields).join(' ')}`),
  });
  const posts: World['posts'] = (path, { headers, body }, method = 'POST') =>
    receive({ method, path, header: (name) => headers[name], body: Buffer.from(body) });
  const count = async (): Promise<number> =>
    (await own.store.list({ workflows: ['flow'], limit: 99 })).items.length;
  return { ...own, posts, count, logged, asked };
}

const BODY = {
  payments: '{"id":"e-1","order":"o-1"}',
  'code-host': '{"order":"o-1"}',
  form: 'order=o-1&note=a+b',
};
const CASES = Object.entries(SENDERS).map(
  ([name, sender]) => [name, sender, BODY[name as keyof typeof BODY]] as const,
);

describe.each(CASES)('%s', (name, sender, body) => {
  it('starts one execution, whose input and starter it is, however often it comes (S11)', async () => {
    const { posts, count, store } = world();
    for (let n = 0; n < 5; n += 1)
      expect(await posts(`/webhooks/${name}`, sender.sends(body))).toMatchObject({ status: 200 });
    expect(await count()).toBe(1);
    const [item] = (await store.list({ workflows: ['flow'], limit: 9 })).items;
    expect(await store.readExecution(item!.id)).toMatchObject({
      input: { orderId: 'o-1' },
      tags: { trigger: name },
      startedBy: { kind: 'trigger', name },
    });
  });

  it('starts no second one when its sender signs the same message again, later', async () => {
    const { posts, count } = world();
    const later = sender.sends(body, NOW + 60_000);
    expect([
      await posts(`/webhooks/${name}`, sender.sends(body)),
      await posts(`/webhooks/${name}`, later),
    ]).toEqual([
      { status: 200, body: '{"status":"accepted"}' },
      { status: 200, body: '{"status":"accepted"}' },
    ]);
    expect(await count()).toBe(1);
  });

  it('writes nothing of a forged request, and all of them get one answer', async () => {
    const { posts, count } = world();
    const sent = sender.sends(body);
    const path = `/webhooks/${name}`;
    const forged: [string, Sent][] = [
      [path, { ...sent, headers: {} }],
      [path, { ...sent, body: body.replace('o-1', 'o-2') }],
      [path, { ...sent, body: `${body} ` }],
      [path, { ...sender.sends(body), headers: { ...sent.headers, [sender.verify.header]: 'v1=00,t=1' } }],
      ...(sender.verify.time === undefined
        ? []
        : [[path, sender.sends(body, NOW - 301_000)] as [string, Sent]]),
      ['/webhooks/nobodys', sent],
      ['/webhooks/constructor', sent],
      ['/webhooks', sent],
      ['/webhooks/', sent],
      [`${path}/`, sent],
      [`${path}/a/b`, sent],
      [`${path}/%2e%2e`, sent],
    ];
    const answers = new Set<string>();
    for (const [at, one] of forged) answers.add(JSON.stringify(await posts(at, one)));
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])
      answers.add(JSON.stringify(await posts(path, sent, method)));
    expect([...answers]).toEqual([
      '{"status":401,"body":"{\\"error\\":{\\"code\\":\\"forbidden\\",\\"message\\":\\"the request is not signed as it must be\\"}}"}',
    ]);
    expect(await count()).toBe(0);
  });
});

it('K2 works as much for an unknown name as for a wrong signature, and takes nothing for it', async () => {
  const [known, unknown] = [world(), world()];
  const { headers } = codeHost.sends(BODY['code-host']);
  for (let n = 0; n < 3; n += 1) {
    const forged = { headers, body: '{}' };
    expect(await known.posts('/webhooks/code-host', forged)).toMatchObject({ status: 401 });
    expect(await unknown.posts('/webhooks/nobodys', forged)).toMatchObject({ status: 401 });
  }
  expect(known.asked.length).toBeGreaterThan(3);
  expect(unknown.asked).toEqual(known.asked);
  const signed = { headers: { signature: hmac('{}') }, body: '{}' };
  expect(await unknown.posts('/webhooks/nobodys', signed)).toMatchObject({ status: 401 });
  expect(await unknown.count()).toBe(0);
});

it('counts an id once, even if the rest of the message differs', async () => {
  const { posts, count } = world();
  await posts('/webhooks/payments', payments.sends('{"id":"e-1","order":"o-1"}'));
  await posts('/webhooks/payments', payments.sends('{"id":"e-1","order":"o-1","pending":2}'));
  await posts('/webhooks/payments', payments.sends('{"id":"e-2","order":"o-1"}'));
  expect(await count()).toBe(2);
});

it('tells a sender with a valid signature why nothing starts, and takes the message once it can', async () => {
  const { posts, count, logged } = world();
  const codes = async (body: string): Promise<unknown> => {
    const { status, body: said } = await posts('/webhooks/code-host', codeHost.sends(body));
    return [status, (JSON.parse(said) as { error: { code: string } }).error.code];
  };
  expect(await codes('{"order":""}')).toEqual([422, 'bad-input']);
  expect(await codes('{}')).toEqual([422, 'bad-input']);
  expect(await codes('order=o-1')).toEqual([422, 'bad-event']);
  expect(await codes('')).toEqual([400, 'bad-event']);
  expect(await codes('{"order":"\uffff"}')).toEqual([400, 'bad-event']);
  expect(logged).toContain('webhook-refused code-host bad-input');
  expect(await count()).toBe(0);
});

it('reads no body that is too long, even for an unknown webhook', async () => {
  const { posts, count, asked } = world();
  const long = `{"order":"${'x'.repeat(MAX_WEBHOOK_BYTES)}"}`;
  for (const name of ['code-host', 'nobodys'])
    expect(await posts(`/webhooks/${name}`, codeHost.sends(long))).toMatchObject({ status: 413 });
  expect(asked).toEqual([]);
  expect(await count()).toBe(0);
});

it('is not taken while its secret cannot be read', async () => {
  const lost = world({ secret: () => Promise.reject(new Error('away')) });
  expect(await lost.posts('/webhooks/form', form.sends(BODY.form))).toMatchObject({ status: 503 });
  expect(lost.logged).toEqual(['webhook-failed form Error']);
});

it('is not taken while it cannot be written', async () => {
  const away = world({ isAway: true });
  expect(await away.posts('/webhooks/form', form.sends(BODY.form))).toMatchObject({ status: 503 });
  expect(await away.posts('/webhooks/nobodys', form.sends(BODY.form))).toMatchObject({ status: 401 });
});

describe('a callback', () => {
  const waiting = async (own: World): Promise<{ id: string; token: string }> => {
    const { id } = await start(own.scheduler, { workflow: 'flow', input: { orderId: 'o-1' } });
    const execution = await own.store.readExecution(id);
    return { id, token: callbackToken(execution!, 'paid') ?? '' };
  };
  const stepOf = async (own: World, id: string) => (await own.store.read(id))?.steps['paid'];

  it.each(['answers', 'in-url'])(
    'is answered once, by its token in the body or the URL: %s',
    async (name) => {
      const own = world();
      const { id, token } = await waiting(own);
      const place = name === 'in-url' ? `/webhooks/in-url/${token}` : '/webhooks/answers';
      const body = JSON.stringify({ status: 'paid', ...(name === 'in-url' ? {} : { token }) });
      for (let n = 0; n < 5; n += 1)
        expect(await own.posts(place, payments.sends(body))).toMatchObject({ status: 200 });
      expect(await stepOf(own, id)).toMatchObject({
        status: 'done',
        output: { status: 'paid' },
        by: { kind: 'trigger', name },
      });
    },
  );

  it('stays open for another step’s token, an invalid token, and an answer that does not fit', async () => {
    const own = world();
    const { id, token } = await waiting(own);
    const other = token.replace('.paid.', '.else.');
    const says = async (given: string, status: unknown): Promise<unknown> => {
      const { body } = await own.posts(
        '/webhooks/answers',
        payments.sends(JSON.stringify({ token: given, status })),
      );
      return (JSON.parse(body) as { error?: { code: string } }).error?.code;
    };
    expect(await says(other, 'paid')).toBe('bad-event');
    expect(await says(`${token}x`, 'paid')).toBe('unknown-callback');
    expect(await says(token, 5)).toBe('bad-output');
    expect((await stepOf(own, id))?.status).not.toBe('done');
    expect(await says(token, 'paid')).toBeUndefined();
    expect(await says(token, 'refunded')).toBe('already-closed');
    expect(await stepOf(own, id)).toMatchObject({ output: { status: 'paid' } });
  });
});

it('gives no approval, with any token (S19)', async () => {
  const release = workflow('release', { input: z.object({}), within: '1h' }, (w) => {
    w.approval('paid', { within: '30m', by: 'another' });
  });
  const { scheduler, store } = harness(release as Workflow, {});
  const by = { kind: 'local', name: 'ann' } as const;
  const { id } = await start(scheduler, { workflow: 'release', input: {}, by });
  const token = callbackToken((await store.readExecution(id))!, 'paid');
  const body = JSON.stringify({ token, status: 'paid' });
  const answers = compiledWebhook(WEBHOOKS[3]!);
  const asked = { ...answers, input: {} };
  expect(await startFrom(scheduler, asked, { id: 'm', body, attributes: {} })).toMatchObject({
    kind: 'refused',
    code: 'unknown-callback',
  });
  expect((await store.read(id))?.steps['paid']?.status).not.toBe('done');
});

it('is refused where it is declared', () => {
  const { verify } = codeHost;
  const declared = (options: object) => () => onWebhook(flow, options as never);
  const all = { verify, input: { orderId: '$.body.id' } };
  expect(declared(all)).not.toThrow();
  expect(declared({ ...all, verify: undefined })).toThrow('verify must say how the sender signs');
  expect(declared({ ...all, body: 'xml' })).toThrow("body is 'xml'; allowed: 'json', 'form'");
  expect(declared({ verify })).toThrow('input is missing');
  expect(declared({ ...all, answers: 'paid' })).toThrow('it has input and idempotencyKey to start');
  expect(declared({ verify, answers: 'paid' })).toThrow('output is missing');
  expect(declared({ verify, answers: 'a', output: {} })).toThrow(
    "it answers 'a', and the workflow has no such callback; there are paid",
  );
});

it('a secret that changes again is read again, too', async () => {
  const clock = { at: NOW };
  let value = 'the first one';
  const kept: string[] = [];
  const receive = receiver({
    webhooks: [{ name: 'code-host', verify: codeHost.verify }],
    now: () => clock.at,
    secretOf: async (_, isFresh) => (isFresh === true ? (value = SECRET) : value),
    keep: async ({ body }) => void kept.push(body),
    log: () => undefined,
  });
  const post = async (): Promise<number> => {
    const { headers, body } = codeHost.sends('{}');
    const header = (name: string) => headers[name];
    return (await receive({ method: 'POST', path: '/webhooks/code-host', header, body: Buffer.from(body) }))
      .status;
  };
  expect(await post()).toBe(200);
  value = 'the second one';
  expect(await post()).toBe(401);
  clock.at += 10_000;
  expect(await post()).toBe(200);
  expect(kept).toHaveLength(2);
});

it('a changed secret is read again for the next request, but not for each wrong one', async () => {
  const [name, sender, body] = CASES[0]!;
  let reads = 0;
  const { posts, asked } = world({ secret: async () => ((reads += 1) === 1 ? 'the one before' : SECRET) });
  expect(await posts(`/webhooks/${name}`, sender.sends(body))).toMatchObject({ status: 200 });
  expect(asked).toHaveLength(2);
  for (let n = 0; n < 5; n += 1)
    expect(await posts(`/webhooks/${name}`, { ...sender.sends(body), body: '{}' })).toMatchObject({
      status: 401,
    });
  // Each request reads the secret once, and none reads it again within ten seconds.
  expect(asked).toHaveLength(7);
});
