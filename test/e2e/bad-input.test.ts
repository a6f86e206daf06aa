/**
 * Bad input through the real gateway and function never leads to a stack trace or a 500. Also tests the calls
 * of the console's page there.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '../../lib/api/client.ts';
import { consoleListener } from '../../cli/console/listener.ts';
import { builtPage, endAll } from '../cli/console/served.ts';
import { order, setStage, type Stage } from './stage.ts';

let stage: Stage;
const folder = builtPage();
beforeAll(async () => {
  const settings = { deployment: 'dev', readOnly: false, local: true };
  const upstream = (port: number) => ({ url: `http://127.0.0.1:${port}`, fetch });
  stage = await setStage({
    schedules: false,
    beside: { '/console': consoleListener({ folder, settings, upstream }) },
  });
});
afterAll(async () => {
  await endAll();
  await stage.strike();
});

const START = '/workflows/order-fulfilment/executions';

describe('bad input', () => {
  const cases: [string, () => ReturnType<Stage['request']>, number, string, RegExp][] = [
    [
      'an unknown workflow',
      () => stage.request('POST', '/workflows/nope/executions', { input: {} }),
      404,
      'unknown-workflow',
      /nope.*order-fulfilment/,
    ],
    [
      'an input that does not fit',
      () => stage.request('POST', START, { input: { ...order('x'), total: -1 } }),
      400,
      'bad-input',
      /total/,
    ],
    [
      'a nested field that does not fit',
      () => stage.request('POST', START, { input: { ...order('x'), items: [{ sku: 7, quantity: 1 }] } }),
      400,
      'bad-input',
      /items\.0\.sku: .*expected string, received number/,
    ],
    ['no JSON', () => stage.request('POST', START, '{"input":'), 400, 'bad-json', /not JSON/],
    ['no input', () => stage.request('POST', START, {}), 400, 'bad-request', /./],
    [
      'a forbidden key',
      () => stage.request('POST', START, '{"input":{"__proto__":{"polluted":true}}}'),
      400,
      'bad-json',
      /__proto__/,
    ],
    [
      'an unknown field',
      () => stage.request('POST', START, { input: order('x'), extra: 1 }),
      400,
      'bad-request',
      /extra/,
    ],
    [
      'a body over 4 MB',
      () => stage.request('POST', START, { input: { pad: 'x'.repeat(4_300_000) } }),
      413,
      'too-large',
      /4194304/,
    ],
    [
      'an unknown execution',
      () => stage.request('GET', '/executions/nothing-here'),
      404,
      'unknown-execution',
      /nothing-here/,
    ],
    [
      'an id with key characters',
      () => stage.request('GET', '/executions/a%23b'),
      404,
      'unknown-execution',
      /a#b/,
    ],
    ['a bad wait', () => stage.request('GET', '/executions/x?wait=soon'), 400, 'bad-duration', /soon/],
    ['a bad limit', () => stage.request('GET', '/executions?limit=0'), 400, 'bad-request', /limit/],
    ['a bad cursor', () => stage.request('GET', '/executions?cursor=zzz'), 400, 'bad-cursor', /cursor/],
    ['a bad status', () => stage.request('GET', '/executions?status=lost'), 400, 'bad-request', /status/],
    ['an unknown route', () => stage.request('GET', '/nowhere'), 404, 'unknown-route', /nowhere/],
  ];
  it.each(cases)('%s is refused with a code and a reason', async (_what, send, status, code, message) => {
    const answer = await send();
    expect([answer.status, answer.body?.error?.code]).toEqual([status, code]);
    expect(answer.body.error.message).toMatch(message);
    expect(answer.text).not.toMatch(/\bat .*\.(m?js|ts):\d+/);
  });

  it('the same key with the same body is the same execution, with another body a conflict', async () => {
    const send = (total: number): ReturnType<Stage['request']> =>
      stage.request('POST', START, { input: { ...order('same'), total }, idempotencyKey: 'same' });
    const [first, again, other] = [await send(100), await send(100), await send(200)];
    expect([first.status, again.status, other.status]).toEqual([202, 202, 409]);
    expect(again.body.executionId).toBe(first.body.executionId);
    expect(other.body.error).toMatchObject({
      code: 'key-reused',
      details: { executionId: first.body.executionId },
    });
  });

  it('an execution that has ended cannot be canceled, and the answer says why', async () => {
    const executionId = await stage.startOrder('ended');
    await stage.ended(executionId);
    const answer = await stage.request('POST', `/executions/${executionId}/cancel`, { reason: 'too late' });
    expect(answer.status).toBe(409);
    expect(answer.body.error).toMatchObject({
      code: 'not-cancelable',
      message: expect.stringContaining('succeeded'),
    });
  });
});

it('answers what calls there are with the contract that is documented', async () => {
  const { status, body } = await stage.request('GET', '/openapi.json');
  const document = join(import.meta.dirname, '..', '..', 'docs', 'openapi.json');
  expect([status, body]).toEqual([200, JSON.parse(readFileSync(document, 'utf8'))]);
});

it('has a console whose page starts executions and reads them, and whose API takes nothing from another page', async () => {
  const { text } = await stage.request('GET', '/console/');
  const [, token = ''] = /name="steadfast-token" content="([^"]*)"/.exec(text) ?? [];
  const pageOf =
    (origin: string): typeof fetch =>
    (url, init) =>
      fetch(url, { ...init, headers: { ...Object(init?.headers), origin, 'x-steadfast-console': token } });
  const url = `${stage.cloud.apiUrl}/console/api`;
  const page = createClient({ url, fetch: pageOf(stage.cloud.apiUrl), as: 'ann' });
  const { executionId } = await page.start('order-fulfilment', { input: order('by-hand') as never });
  const view = await page.waitForEnd(executionId);
  expect([view.status, view.startedBy]).toEqual(['succeeded', { kind: 'local', name: 'ann' }]);
  expect((await page.list()).items.map((item) => item.executionId)).toContain(executionId);
  const other = createClient({ url, fetch: pageOf('http://127.0.0.1:5173') });
  await expect(other.start('order-fulfilment', { input: order('forged') as never })).rejects.toMatchObject({
    code: 'wrong-origin',
  });
  await expect(createClient({ url }).list()).rejects.toMatchObject({ code: 'forbidden' });
});
