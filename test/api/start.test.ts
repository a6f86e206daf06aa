/** `POST /workflows/{name}/executions` and `/runs`: what they accept, and how they refuse all else. */

import { MAX_BODY_BYTES } from '../../lib/api/read-request.ts';
import { JSON_LIMITS } from '../../lib/core/values/json.ts';
import { client } from './app.ts';

const START = '/workflows/flow/executions';
const input = { orderId: 'o-1' };
const refusal = (code: string, message: RegExp) => ({
  error: expect.objectContaining({ code, message: expect.stringMatching(message) }),
});

describe('a run', () => {
  const RUN = '/workflows/flow/runs';

  it('starts, and answers at the end', async () => {
    const { post, run, clock } = client();
    const body = { input, idempotencyKey: 'k', tags: { team: 'a' } };
    const asked = post(RUN, body);
    const { executionId } = (await post(START, body)).body;
    await run(String(executionId), { supervised: false });
    clock.advanceTo(clock.now() + 20_000);
    const answer = await asked;
    expect(answer).toMatchObject({
      status: 200,
      body: { executionId, status: 'succeeded', output: { order: 'o-1' }, tags: { team: 'a' } },
    });
    expect(await post(RUN, body)).toEqual(answer);
  });

  it('answers without the end when its time is over', async () => {
    const { post, clock } = client();
    const asked = post(RUN, { input, wait: '2s' });
    while (clock.nextWakeAt() === undefined) await new Promise(setImmediate);
    clock.advanceTo(clock.now() + 2_000);
    expect(await asked).toMatchObject({ status: 200, body: { status: 'running', workflow: 'flow' } });
  });

  it('with a wait that is refused has started nothing', async () => {
    const { post, get } = client();
    const answer = await post(RUN, { input, wait: 'soon' });
    expect(answer).toMatchObject({ status: 400, body: refusal('bad-duration', /the body's wait/) });
    expect((await get('/executions?workflow=flow')).body['items']).toEqual([]);
  });
});

describe('a start', () => {
  it('is accepted, and says where the execution is', async () => {
    const { post, get, run } = client();
    const answer = await post(START, { input, tags: { team: 'a' } });
    expect(answer).toMatchObject({
      status: 202,
      body: { status: 'running', executionId: expect.any(String) },
    });
    expect(answer.location).toBe(`/executions/${String(answer.body['executionId'])}`);
    await run(String(answer.body['executionId']));
    expect(await get(answer.location ?? '')).toMatchObject({
      status: 200,
      body: { status: 'succeeded', output: { order: 'o-1' }, tags: { team: 'a' } },
    });
  });

  it.each([
    ['in the body', { input, idempotencyKey: 'k' }, {}],
    ['in the header', { input }, { 'Idempotency-Key': 'k' }],
    ['in the header, in quotes', { input }, { 'Idempotency-Key': '"k"' }],
    ['in both', { input, idempotencyKey: 'k' }, { 'Idempotency-Key': 'k' }],
    ['in both, in quotes', { input, idempotencyKey: 'k' }, { 'Idempotency-Key': '"k"' }],
  ])('with a key %s is the same execution when repeated (S11)', async (_, body, headers) => {
    const { post } = client();
    const first = await post(START, { input, idempotencyKey: 'k' });
    const second = await post(START, body, headers);
    expect(second).toEqual(first);
  });

  it('in the body is taken literally; in the header quotes are not part of it, unless escaped', async () => {
    const { post } = client();
    const idOf = async (body: object, headers: Record<string, string> = {}) =>
      (await post(START, { input, ...body }, headers)).body['executionId'];
    const plain = await idOf({ idempotencyKey: 'k' });
    const quoted = await idOf({ idempotencyKey: '"k"' });
    expect(quoted).not.toBe(plain);
    expect(await idOf({}, { 'Idempotency-Key': '"\\"k\\""' })).toBe(quoted);
    expect(await idOf({}, { 'Idempotency-Key': '"k' })).not.toBe(plain);
  });

  it.each<[string, string | object, object]>([
    ['that differs in header and body', { input, idempotencyKey: 'k' }, { 'Idempotency-Key': 'other' }],
    ['whose header was sent twice', { input }, { 'Idempotency-Key': 'k, k' }],
    ['whose header is beyond ASCII', { input }, { 'Idempotency-Key': 'k-\u00e9' }],
    ['of bytes that were no UTF-8', { input, idempotencyKey: 'caf\uFFFD' }, {}],
  ])('with a key %s is refused, and starts nothing (S11)', async (_, body, headers) => {
    const { post } = client();
    const answer = await post(START, body, headers as Record<string, string>);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'bad-request' } } });
  });

  it('with a body that is not UTF-8 is refused, however it came (S11)', async () => {
    const { ask } = client();
    const bytes = Buffer.from('{"idempotencyKey":"caf\xe9","input":{"orderId":"o-1"}}', 'latin1');
    const answer = await ask(START, { method: 'POST', body: bytes });
    expect(answer).toMatchObject({ status: 400, body: refusal('bad-json', /^the body is not UTF-8$/) });
  });

  it('is refused in few words, however much is wrong', async () => {
    const { post } = client();
    const keys = Array.from({ length: 10_000 }, (_, at) => [`key-${at}`, 1]);
    const answer = await post(START, Object.fromEntries(keys));
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain('and 9990 more');
    expect(JSON.stringify(answer.body).length).toBeLessThan(5_000);
    const tags = Object.fromEntries(keys.map(([key]) => [`${key} no tag`, 1]));
    const tagged = await post(START, { input, tags });
    expect(tagged.status).toBe(400);
    expect(JSON.stringify(tagged.body).length).toBeLessThan(20_000);
  });

  it('with the same key and another body is refused, naming the execution', async () => {
    const { post } = client();
    const { body } = await post(START, { input, idempotencyKey: 'k' });
    const again = await post(START, { input: { orderId: 'o-2' }, idempotencyKey: 'k' });
    expect(again).toMatchObject({ status: 409, body: refusal('key-reused', /another body/) });
    expect(again.body['error']).toMatchObject({ details: { executionId: body['executionId'] } });
  });

  it('with an unknown workflow lists the known ones', async () => {
    const { post } = client();
    for (const name of ['nobody', 'constructor', '__proto__', 'FLOW', 'x'.repeat(2_000)]) {
      const answer = await post(`/workflows/${name}/executions`, { input });
      expect(answer).toMatchObject({ status: 404, body: refusal('unknown-workflow', /there are: flow/) });
    }
  });

  it.each([
    ['null', null, ''],
    ['a text', 'o-1', ''],
    ['an empty id', { orderId: '' }, 'orderId'],
    ['a number as id', { orderId: 5 }, 'orderId'],
    ['a bad item', { orderId: 'o', items: [{ sku: 'a' }, { sku: null }] }, 'items.1.sku'],
  ])('with %s as input names the path that does not fit', async (_, given, path) => {
    const { post, sent } = client();
    const answer = await post(START, { input: given });
    expect(answer).toMatchObject({ status: 400, body: refusal('bad-input', /does not fit workflow 'flow'/) });
    expect(answer.body['error']).toMatchObject({
      details: { issues: [{ path, message: expect.any(String) }] },
    });
    expect(sent).toEqual([]);
  });
});

describe('a body', () => {
  const big = (bytes: number): string => JSON.stringify({ input: { orderId: 'o', note: 'x'.repeat(bytes) } });

  it.each([
    ['says so', big(MAX_BODY_BYTES), { 'content-length': String(MAX_BODY_BYTES + 100) }],
    ['does not say so', big(MAX_BODY_BYTES), {}],
    ['lies about it', big(MAX_BODY_BYTES), { 'content-length': '5' }],
    ['says nonsense about it', big(MAX_BODY_BYTES), { 'content-length': 'many' }],
    ['is small in characters and large in bytes', `{"input":"${'€'.repeat(MAX_BODY_BYTES / 3)}"}`, {}],
    ['only says so', '{}', { 'content-length': '999999999999' }],
  ])('that is too large and %s is refused with the limit', async (_, body, headers) => {
    const { post } = client();
    const answer = await post(START, body, headers);
    expect(answer).toMatchObject({ status: 413, body: refusal('too-large', /at most 262144 are allowed/) });
  });

  it('of exactly the limit is accepted', async () => {
    const { post } = client();
    const empty = JSON.stringify({ input: { orderId: 'o', note: '' } }).length;
    expect((await post(START, big(MAX_BODY_BYTES - empty))).status).toBe(202);
  });

  it.each(['{', '{"input":', 'input=1', "{'a':1}", '{"a":1,}', '\u0000', 'undefined', '[1', '{}{}'])(
    '%j is refused as no JSON',
    async (body) => {
      const { post } = client();
      expect(await post(START, body)).toMatchObject({ status: 400, body: refusal('bad-json', /not JSON/) });
    },
  );

  it.each([
    '{"input":{"__proto__":{"admin":true}}}',
    '{"__proto__":{"input":1}}',
    '{"input":{"a":[{"constructor":{"__proto__":1}}]}}',
    '{"tags":{"__proto__":"x"},"input":{}}',
    '{"input":{"\\u005f\\u005fproto__":1}}',
  ])('%s is refused for its key', async (body) => {
    const { post } = client();
    expect(await post(START, body)).toMatchObject({
      status: 400,
      body: refusal('bad-json', /is not allowed/),
    });
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
  });

  it('that is nested too deep, or has too many values, is refused', async () => {
    const { post } = client();
    for (const levels of [JSON_LIMITS.depth + 1, 5_000, JSON_LIMITS.nodes - 9]) {
      const deep = `{"input":${'['.repeat(levels)}${']'.repeat(levels)}}`;
      expect(await post(START, deep)).toMatchObject({
        status: 400,
        body: refusal('bad-json', /nested deeper/),
      });
    }
    // Refused without parsing, however deep it is.
    const deepest = `{"input":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(await post(START, deepest)).toMatchObject({
      status: 413,
      body: refusal('too-many-values', /more than 60000/),
    });
    const many = JSON.stringify({ input: Array.from({ length: JSON_LIMITS.nodes }, () => 0) });
    expect(await post(START, many)).toMatchObject({
      status: 413,
      body: refusal('too-many-values', /more than 60000/),
    });
  });

  it.each<[string, unknown, string]>([
    ['a list', [], ''],
    ['a number', 5, ''],
    ['null', null, ''],
    ['no input', {}, 'input'],
    ['an unknown field', { input, inptu: {} }, 'unknown: inptu'],
    ['an empty key', { input, idempotencyKey: '' }, 'idempotencyKey'],
    ['a key of 201 characters', { input, idempotencyKey: 'k'.repeat(201) }, 'idempotencyKey'],
    ['a key that is not a text', { input, idempotencyKey: 5 }, 'idempotencyKey'],
    ['tags that are a list', { input, tags: ['a'] }, 'tags'],
    ['a tag with an illegal name', { input, tags: { 'a b': 'x' } }, 'tags'],
    ['a tag that is not a text', { input, tags: { a: 1 } }, 'tags.a'],
    ['a tag that is too long', { input, tags: { a: 'x'.repeat(201) } }, 'tags.a'],
  ])('of another shape (%s) is refused, saying where', async (_, body, where) => {
    const { post } = client();
    const answer = await post(START, JSON.stringify(body));
    expect(answer).toMatchObject({ status: 400, body: refusal('bad-request', /body is not acceptable/) });
    expect(JSON.stringify(answer.body)).toContain(where);
  });

  it.each(['', 'k'.repeat(201)])('with the key %j in its header is refused', async (key) => {
    const { post } = client();
    const answer = await post(START, { input }, { 'Idempotency-Key': key });
    expect(answer).toMatchObject({ status: 400, body: refusal('bad-request', /header is not acceptable/) });
  });
});
