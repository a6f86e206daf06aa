/** What a table may have while an import is under way, or after one that broke off. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../cli/main.ts';

/** As the file has them: by their keys. */
const KEYS = [
  ['exec#child', 'exec', 'parent'],
  ['exec#child', 'step#work'],
  ['exec#grandchild', 'exec', 'child'],
  ['exec#grandchild', 'step#work'],
  ['exec#parent', 'exec'],
  ['exec#parent', 'incident#1'],
  ['exec#parent', 'step#begin'],
  ['plan#p', 'plan'],
] as const;
const lines = KEYS.map(([pk, sk, parent]) =>
  JSON.stringify({
    pk: { S: pk },
    sk: { S: sk },
    ...(parent === undefined ? {} : { parent: { S: JSON.stringify({ executionId: parent }) } }),
  }),
);

let folder: string;
const put: string[] = [];
/** The key that cannot be put. */
let refused: string | undefined;
const table = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    const { Item } = JSON.parse(body) as { readonly Item: Record<'pk' | 'sk', { readonly S: string }> };
    const key = `${Item.pk.S} ${Item.sk.S}`;
    if (key === refused) response.writeHead(400);
    else put.push(key);
    response.end(key === refused ? '{"__type":"ValidationException","message":"no"}' : '{}');
  });
});
beforeAll(() => new Promise<void>((ready) => table.listen(0, '127.0.0.1', ready)));
afterAll(() => table.close());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'steadfast-import-'));
  put.length = 0;
  refused = undefined;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function imported(text: string): Promise<{ readonly code: number; readonly said: string }> {
  const from = join(folder, 'items.jsonl');
  writeFileSync(from, text);
  const env = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${(table.address() as AddressInfo).port}`,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'operator',
    AWS_SECRET_ACCESS_KEY: 'local',
  };
  Object.assign(process.env, env);
  let said = '';
  const say = (line: string): void => {
    said += line;
  };
  const code = await run(['import', from, '--table', 'state'], { out: say, err: say, env, isTTY: false });
  return { code, said };
}

const isBefore = (one: string, other: string): boolean => put.indexOf(one) < put.indexOf(other);

it('has an execution only with all that is its own, and with those that it has begun', async () => {
  expect(await imported(`${lines.join('\n')}\n`)).toMatchObject({ code: 0 });
  expect([...put].sort()).toEqual(KEYS.map(([pk, sk]) => `${pk} ${sk}`).sort());
  for (const own of ['incident#1', 'step#begin'])
    expect(isBefore(`exec#parent ${own}`, 'exec#parent exec')).toBe(true);
  expect(isBefore('exec#grandchild exec', 'exec#child step#work')).toBe(true);
  expect(isBefore('exec#child exec', 'exec#parent incident#1')).toBe(true);
  expect(put[0]).toBe('plan#p plan');
});

it('has none whose step could not be put', async () => {
  refused = 'exec#child step#work';
  expect((await imported(`${lines.join('\n')}\n`)).code).not.toBe(0);
  expect(put.filter((key) => key.endsWith(' exec'))).toEqual(['exec#grandchild exec']);
});

it('has nothing of a file that is cut short', async () => {
  const { code, said } = await imported(lines.join('\n').slice(0, -9));
  expect(code).not.toBe(0);
  expect(said).toContain('line 8 of');
  expect(said).toContain('is not one of an export: copy the file again');
  expect(put).toEqual([]);
});

describe('an export that says how long it is', () => {
  const whole = ['{"export":{"format":1}}', ...lines, `{"export":{"lines":${lines.length}}}`];

  it('is taken in, without a warning', async () => {
    const { code, said } = await imported(`${whole.join('\n')}\n`);
    expect(code).toBe(0);
    expect(said).toBe(`${KEYS.length} items were imported; 0 already existed.\n`);
    expect(put).toHaveLength(KEYS.length);
  });

  it.each([
    ['cut at the end of a line', whole.slice(0, 5)],
    ['cut before its last line', whole.slice(0, -1)],
    ['without a line of its middle', whole.toSpliced(4, 1)],
    ['nothing but its first line', whole.slice(0, 1)],
    ['two, one after the other', [...whole, ...whole]],
  ])('is refused before the first item where it is %s', async (_, some) => {
    const { code, said } = await imported(`${some.join('\n')}\n`);
    expect(code).not.toBe(0);
    expect(said).toContain('is incomplete: copy the file again');
    expect(put).toEqual([]);
  });
});

it.each(['{"export":null}', '{"export":1}', '{"pk":{"S":7}}', 'null'])(
  'has nothing of a file with %s',
  async (odd) => {
    const { code, said } = await imported(`${[odd, ...lines].join('\n')}\n`);
    expect(code).not.toBe(0);
    expect(said).toContain('is not one of an export: copy the file again');
  },
);

it('says of an export without its length that it may be cut', async () => {
  const { code, said } = await imported(`${lines.join('\n')}\n`);
  expect(code).toBe(0);
  expect(said).toContain('an earlier release wrote it, without its length: compare it with its original');
});

it('has nothing of an empty file', async () => {
  const { code, said } = await imported('');
  expect(code).not.toBe(0);
  expect(said).toContain('is incomplete: copy the file again');
});
