/**
 * Hostile text in every part of a request is refused: no key of the table contains it, no prototype is
 * polluted, nothing is written. The app and the store are real; the table only records its requests.
 */

import {
  BatchGetItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { MAX_BODY_BYTES } from '../../lib/api/read-request.ts';
import { routes } from '../../lib/api/routes.ts';
import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import { createScheduler } from '../../lib/scheduler/start.ts';
import { memoryWorld } from '../../lib/memory/world.ts';
import { flow } from './app.ts';

const table = mockClient(DynamoDBClient);
afterAll(() => table.restore());
beforeEach(() => {
  table.reset();
  table.on(GetItemCommand).resolves({});
  table.on(QueryCommand).resolves({ Items: [] });
  table.on(BatchGetItemCommand).resolves({ Responses: {} });
});

const store = dynamoStore(new DynamoDBClient({ region: 'us-east-1' }), {
  table: 't',
  wakeShards: 1,
  pause: async () => undefined,
});
const scheduler = createScheduler({ ...memoryWorld({ seed: 1 }), store }, [flow as never], {
  hash: (text) => `h${text.length}`,
  newId: () => 'e-1',
});
const app = routes(scheduler);
/** Routes with their method and pattern, as the app has them. */
const ROUTES = app.routes
  .filter(({ method, path }) => ['GET', 'POST'].includes(method) && path !== '/*')
  .map(({ method, path }) => [method, path] as const);

const HOSTILE = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'exec#e-1',
  'e-1#exec',
  'e-1/exec',
  '../../health',
  'plan#h',
  'incident#open',
  'wake#0',
  'flow#0',
  'e-1.step.key#',
  '__proto__.constructor.x',
  'e-1.__proto__.x',
  'e-1.constructor.x',
  '\u0000',
  'e-1\n',
  "' OR 1=1",
  '{"S":"x"}',
  '${jndi:ldap://x}',
  'E-1',
  'é',
  '💥',
  'x'.repeat(5_000),
];

const ask = async (path: string, init: RequestInit): Promise<{ status: number; text: string }> => {
  const response = await app.request(path, init);
  return { status: response.status, text: await response.text() };
};

/** The key values of the requests to the table. */
function keysAsked(): string[] {
  const values: string[] = [];
  const collect = (value: unknown, name: string): void => {
    if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) collect(inner, key === 'S' ? name : key);
    } else if (['pk', 'sk', ':pk', ':key', ':k', ':sk'].includes(name)) values.push(String(value));
  };
  for (const call of table.calls()) collect(call.args[0].input, '');
  return values;
}

const LEGAL_KEY =
  /^(exec#[a-z0-9.-]+|plan#[a-z0-9-]+|exec|plan|incident#open#\d|step#|incident#|flow#\d|wake#\d|(failed|compensated|canceled)#\d)$/;
const writes = (): number =>
  table.commandCalls(PutItemCommand).length + table.commandCalls(TransactWriteItemsCommand).length;

function expectUntouched(): void {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect(keysAsked().filter((key) => !LEGAL_KEY.test(key))).toEqual([]);
  expect(writes()).toBe(0);
}

const bodyFor = (path: string): string => {
  if (path.endsWith('/executions')) return '{"input":{"orderId":"o"}}';
  return path.endsWith('/resolve') ? '{"choice":"skip"}' : '{}';
};

it('there are routes to be hostile to', () => {
  expect(ROUTES.length).toBeGreaterThan(12);
});

it.each(['/executions/e-1', '/callbacks/secret/complete', '/nothing', '/__proto__', '/health'])(
  'OPTIONS %s says nothing, reads nothing and looks at no size: it may be open to everybody',
  async (path) => {
    const headers = { origin: 'https://shop.example', 'content-length': String(MAX_BODY_BYTES + 1) };
    const answer = await app.request(path, { method: 'OPTIONS', headers });
    expect([answer.status, await answer.text(), [...answer.headers.keys()]]).toEqual([204, '', []]);
    expect(table.calls()).toHaveLength(0);
  },
);

describe.each(ROUTES)('%s %s', (method, pattern) => {
  const body = method === 'POST' ? { body: bodyFor(pattern) } : {};

  if (pattern.includes(':')) {
    it('makes no key of a hostile name in its path, and finds nothing', async () => {
      for (const value of HOSTILE) {
        const path = pattern.replaceAll(/:\w+/g, encodeURIComponent(value));
        const { status, text } = await ask(path, { method, ...body });
        expect([value, status >= 400 && status < 500]).toEqual([value, true]);
        expect(text).not.toMatch(/\bat .*\.ts:\d/);
      }
      expectUntouched();
    });
  }

  it('makes no key of a hostile query or header', async () => {
    const path = pattern.replaceAll(/:\w+/g, 'nobody');
    for (const value of HOSTILE) {
      const text = encodeURIComponent(value);
      const query = ['workflow', 'status', 'cursor', 'limit', 'wait', '__proto__', 'constructor[prototype]'];
      for (const name of query) {
        const { status } = await ask(`${path}?${encodeURIComponent(name)}=${text}`, { method, ...body });
        // 503: the health endpoint says that no supervisor has swept yet.
        expect([name, value, status < 500 || status === 503]).toEqual([name, value, true]);
      }
      const headers = {
        'idempotency-key': text,
        'x-amzn-trace-id': text,
        'content-type': text.slice(0, 100),
      };
      expect((await ask(path, { method, headers, ...body })).status).not.toBe(500);
    }
    expectUntouched();
  });

  if (method === 'POST') {
    it('refuses a body that says that it is too large before it is read', async () => {
      const path = pattern.replaceAll(/:\w+/g, 'nobody');
      const headers = { 'content-length': String(MAX_BODY_BYTES + 1) };
      const { status, text } = await ask(path, { method, headers, body: '{' });
      expect([status, JSON.parse(text).error.code]).toEqual([413, 'too-large']);
      expect(table.calls()).toHaveLength(0);
    });

    it('refuses whole numbers that would be rounded, and invalid Unicode, and names the place', async () => {
      const path = pattern.replaceAll(/:\w+/g, 'nobody');
      const bodies = [
        ['{"input":{"orderId":"o","n":[1,9007199254740993]}}', 'unsafe-number', "'input.n.1'"],
        ['{"output":{"id":-18446744073709551615}}', 'unsafe-number', "'output.id'"],
        ['{"reason":9007199254740992}', 'unsafe-number', "'reason'"],
        ['{"input":{"orderId":"o\\ud83d"}}', 'bad-json', '/input/orderId'],
        ['{"output":["\\udc00"]}', 'bad-json', '/output/0'],
        ['{"reason":"\\ud83d","idempotencyKey":"k"}', 'bad-json', '/reason'],
        ['{"idempotencyKey":"\\ud800","input":{"orderId":"o"}}', 'bad-json', '/idempotencyKey'],
        ['{"tags":{"t\\ud800":"x"},"input":{"orderId":"o"}}', 'bad-json', 'a key of /tags'],
      ] as const;
      for (const [text, code, where] of bodies) {
        const { status, text: answer } = await ask(path, { method, body: text });
        const { error } = JSON.parse(answer) as { error: { code: string; message: string } };
        // A heartbeat has no body, so none of it is read.
        if (pattern.endsWith('/heartbeat')) expect(status).toBe(404);
        else
          expect([text, status, error.code, error.message]).toEqual([
            text,
            400,
            code,
            expect.stringContaining(where),
          ]);
      }
      expectUntouched();
    });

    it('is polluted by no body, and writes none', async () => {
      const path = pattern.replaceAll(/:\w+/g, 'nobody');
      const bodies = [
        '{"__proto__":{"polluted":1}}',
        '{"constructor":{"prototype":{"polluted":1}}}',
        '{"input":{"__proto__":{"polluted":1}},"output":{"__proto__":{"polluted":1}}}',
        '{"output":{"a":[{"prototype":{"polluted":1}}]}}',
        '{"tags":{"__proto__":"polluted"},"input":{"orderId":"o"}}',
        '{"choice":"__proto__","commandId":"__proto__","reason":"__proto__"}',
        '{"code":"__proto__#","message":"x"}',
        '[]',
        '"__proto__"',
        'null',
      ];
      for (const text of bodies) {
        const { status } = await ask(path, { method, body: text });
        expect([text, status >= 400 && status < 500]).toEqual([text, true]);
      }
      expectUntouched();
    });
  }
});

describe('a start with hostile texts where texts are free', () => {
  it('keeps them as values: no key and no name is made of them', async () => {
    table.on(PutItemCommand).resolves({});
    for (const value of HOSTILE.filter((each) => each.length <= 200)) {
      const given = { input: { orderId: value, note: value }, idempotencyKey: value, tags: { tag: value } };
      const { status, text } = await ask('/workflows/flow/executions', {
        method: 'POST',
        body: JSON.stringify(given),
      });
      expect([value, status]).toEqual([value, 202]);
      expect(JSON.parse(text).executionId).toMatch(/^h\d+$/);
    }
    expect(keysAsked()).toContain('exec');
    expect(keysAsked().filter((key) => !LEGAL_KEY.test(key))).toEqual([]);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});
