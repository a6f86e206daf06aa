/** Two secrets: the console's login token, and callback tokens, which the console never shows. */

import { CALLS } from '../../../lib/api/calls.ts';
import { freshId } from '../../../lib/aws/fresh-id.ts';
import { CODE_WITHIN_MS, Login } from '../../../cli/console/login.ts';
import { builtPage, endAll, json, serve, type Served } from './served.ts';

let one: Served;
let folder: string;
beforeAll(async () => {
  folder = builtPage();
  one = await serve({ folder, login: new Login() });
});
beforeEach(() => {
  one.asked.length = 0;
});
afterAll(endAll);

const API = '/console/api';

describe('the address that opens it', () => {
  const refused = { status: 401, headers: expect.not.objectContaining({ 'set-cookie': expect.anything() }) };

  it('works once, and its cookie is for no script and for requests of no other page', async () => {
    const login = new Login();
    const other = await serve({ folder, login }, false);
    const address = `/console/?code=${login.code}`;
    expect(await other.ask(`${address}x`)).toMatchObject(refused);
    expect(await other.ask(address, { method: 'HEAD' })).toMatchObject(refused);
    const rebound = await other.ask(address, { headers: { host: `evil.example:${other.port}` } });
    expect(rebound.status).toBe(403);
    const { status, headers, text } = await other.ask(address);
    expect([status, text]).toEqual([200, expect.stringContaining('url=/console/')]);
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(
        new RegExp(`^steadfast-console-${other.port}=[\\w-]{43}; Path=/console; HttpOnly; SameSite=Strict$`),
      ),
    ]);
    expect(await other.ask(address)).toMatchObject(refused);
    // Another console's cookie, at another port, does not open this one.
    const cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    expect((await other.ask('/console/', { headers: { cookie: `a=b; ${cookie}` } })).status).toBe(200);
    expect((await one.ask('/console/', { headers: { cookie } })).status).toBe(401);
    const [name = '', value = ''] = cookie.split('=');
    for (const forged of [`${name}=`, `${name}=x${value}`, `x${name}=${value}`, value])
      expect((await other.ask('/console/', { headers: { cookie: forged } })).status).toBe(401);
  });

  it('leads to the page again in the browser that it has opened, and in no other', async () => {
    const login = new Login();
    const other = await serve({ folder, login }, false);
    const address = `/console/?code=${login.code}`;
    const first = await other.ask(address);
    const cookie = first.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    const again = await other.ask(address, { headers: { cookie } });
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(again.headers).toEqual(refused.headers);
    expect(await other.ask(address, { headers: { cookie: `${cookie}x` } })).toMatchObject(refused);
  });

  it('works for two minutes', async () => {
    let now = 0;
    const login = new Login(() => now);
    const other = await serve({ folder, login }, false);
    now = CODE_WITHIN_MS + 1;
    expect(await other.ask(`/console/?code=${login.code}`)).toMatchObject(refused);
    now = CODE_WITHIN_MS;
    expect((await other.ask(`/console/?code=${login.code}`)).status).toBe(200);
  });
});

describe('a token of a callback', () => {
  const reads = Object.keys(CALLS).flatMap((route) => (route.startsWith('GET ') ? [route.slice(4)] : []));
  const id = '0f343b0931126a20f133d67c2b018a3b';
  const key = freshId();
  const token = `${id}.parts.3.paid.${key}`;
  const view = {
    steps: [{ name: 'paid', token }],
    output: { link: `https://pay.example/?t=${token}`, list: [`(${token})`], [token]: token },
  };

  it.each(reads)('is in no answer of GET %s', async (path) => {
    for (const status of [200, 409]) {
      one.answer = json(status, { ...view, error: { code: 'x', message: `no ${token} here` } });
      const { text } = await one.page(`${API}${path.replaceAll(/\{\w+\}/g, '1')}`);
      expect(text).not.toContain(key);
      expect(text).toContain(`${id}.parts.3.paid.console-`);
    }
  });

  it('is known by what the page shows in its place, in this console alone', async () => {
    const other = await serve({ folder });
    one.answer = json(200, view);
    const { text } = await one.page(`${API}/executions/${id}`);
    const { steps, output } = JSON.parse(text) as typeof view;
    const handle = steps[0]?.token ?? '';
    expect(output.list).toEqual([`(${handle})`]);
    for (const what of ['complete', 'fail', 'heartbeat']) {
      const target = `${API}/callbacks/${handle}/${what}`;
      expect((await one.page(target, { method: 'POST', body: '{"comment":"fine"}' })).status).toBe(200);
      expect(one.asked.at(-1)).toMatchObject({
        path: `/callbacks/${token}/${what}`,
        body: '{"comment":"fine"}',
      });
      expect((await other.page(target, { method: 'POST' })).code).toBe('unknown-callback');
    }
    expect(other.asked).toEqual([]);
  });

  it('is hidden where the API shows it, whatever it is made of', async () => {
    one.answer = json(200, { steps: [{ token: 'e-1.paid.key-7' }] });
    const { text } = await one.page(`${API}/executions/e-1`);
    const [, handle = ''] = /"token":"(e-1\.paid\.console-[\w-]{22})"/.exec(text) ?? [];
    await one.page(`${API}/callbacks/${handle}/fail`, { method: 'POST' });
    expect(one.asked.at(-1)?.path).toBe('/callbacks/e-1.paid.key-7/fail');
  });

  it('is taken from no page', async () => {
    const answer = await one.page(`${API}/callbacks/${token}/complete`, { method: 'POST' });
    expect([answer.status, answer.code, one.asked]).toEqual([404, 'unknown-callback', []]);
    expect(answer.text).not.toContain(key);
  });

  it('is taken for nothing else, and numbers stay as they were', async () => {
    const text =
      '{"n":9007199254740993,"file":"report.v1.final-version-of-may-26","of":"www.shop.example","token":"eyJ.eyJ.x"}';
    one.answer = (_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(text);
    };
    expect((await one.page(`${API}/executions/e1`)).text).toBe(text);
  });
});
