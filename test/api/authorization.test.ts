/** How an application's requests are authorized. The signature is compared with the AWS SDK's. */

import { SignatureV4 } from '@smithy/signature-v4';
import { Sha256 } from '@smithy/core/checksum';
import * as fc from 'fast-check';
import { type Authorization, awsSignature, bearer, createClient } from 'steadfast/client';

interface Sent {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
}

function recorder(): { readonly sent: Sent[]; readonly send: typeof fetch } {
  const sent: Sent[] = [];
  const send: typeof fetch = async (input, init = {}) => {
    const headers = Object.fromEntries(new Headers(init.headers));
    sent.push({ url: input as string, method: init.method ?? 'GET', headers });
    return new Response('{}');
  };
  return { sent, send };
}

const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG' };
const HOST = 'abc.execute-api.eu-central-1.amazonaws.com';

async function expected(
  { url, method, headers }: Sent,
  body: string,
  service = 'execute-api',
): Promise<string | undefined> {
  const { pathname, searchParams, host } = new URL(url);
  const query: Record<string, string[]> = {};
  for (const [name, value] of searchParams) (query[name] ??= []).push(value);
  const { authorization: _, ...given } = headers;
  const signer = new SignatureV4({
    service,
    region: 'eu-central-1',
    credentials: { ...credentials },
    sha256: Sha256,
    applyChecksum: false,
  });
  const date = headers['x-amz-date'] ?? '';
  const at = date.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z');
  const signed = await signer.sign(
    { method, protocol: 'https:', hostname: host, path: pathname, query, headers: { ...given, host }, body },
    { signingDate: new Date(at) },
  );
  return signed.headers['authorization'];
}

const words = fc.string({ maxLength: 12 });

it('signs as the SDK does, whatever is in path, query and body', async () => {
  const pairs = fc.uniqueArray(fc.tuple(fc.stringMatching(/^[a-z]{1,6}$/), words), {
    selector: ([name]) => name,
  });
  await fc.assert(
    fc.asyncProperty(words, pairs, words, async (segment, query, body) => {
      const { sent, send } = recorder();
      const search = query.length === 0 ? '' : `?${new URLSearchParams(query).toString()}`;
      const url = `https://${HOST}/executions/${encodeURIComponent(`x${segment}`)}/cancel${search}`;
      const call = awsSignature({ region: 'eu-central-1', credentials })(send);
      await call(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
      const [one] = sent as [Sent];
      expect(one.headers['authorization']).toBe(await expected(one, body));
      expect(one.headers['host']).toBeUndefined();
    }),
    { numRuns: 200 },
  );
});

it('asks for credentials before each request, and sends the session with them', async () => {
  const { sent, send } = recorder();
  let asked = 0;
  const call = awsSignature({
    region: 'eu-central-1',
    credentials: async () => {
      asked += 1;
      return { ...credentials, sessionToken: `session-${asked}` };
    },
  })(send);
  await call(`https://${HOST}/health`);
  await call(`https://${HOST}/health`);
  expect(sent.map(({ headers }) => headers['x-amz-security-token'])).toEqual(['session-1', 'session-2']);
  const [one] = sent as [Sent];
  expect(one.headers['authorization']).toContain('SignedHeaders=host;x-amz-date;x-amz-security-token, ');
  expect(one.headers['authorization']).toBe(await expected(one, ''));
});

it('signs for another service of AWS, whose names of operations are headers', async () => {
  const { sent, send } = recorder();
  const headers = {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': 'DynamoDB_20120810.ListTables',
  };
  const call = awsSignature({ region: 'eu-central-1', service: 'dynamodb', credentials })(send);
  const host = 'dynamodb.eu-central-1.amazonaws.com';
  await call(`https://${host}/`, { method: 'POST', body: '{}', headers });
  const [one] = sent as [Sent];
  expect(one.headers['authorization']).toContain('/eu-central-1/dynamodb/aws4_request, ');
  expect(one.headers['authorization']).toBe(await expected(one, '{}', 'dynamodb'));
});

it.each<[string, Authorization, string]>([
  [
    'credentials',
    awsSignature({ region: 'eu-central-1', credentials: () => Promise.reject(new Error('expired')) }),
    'there are no AWS credentials to sign with: Error: expired',
  ],
  ['token', bearer(() => Promise.reject(new Error('expired'))), 'there is no token to send: Error: expired'],
])(
  'sends nothing without its %s, and does not ask for them again and again',
  async (_, authorization, message) => {
    const { sent, send } = recorder();
    const client = createClient({ url: `https://${HOST}`, authorization, fetch: send });
    await expect(client.health()).rejects.toMatchObject({ code: 'no-credentials', message });
    expect(sent).toEqual([]);
  },
);

it('sends a bearer token, which may be asked for each time', async () => {
  const { sent, send } = recorder();
  await bearer('abc')(send)('https://api/health', { headers: { a: 'b' } });
  await bearer(async () => 'def')(send)('https://api/health');
  expect(sent.map(({ headers }) => headers)).toEqual([
    { a: 'b', authorization: 'Bearer abc' },
    { authorization: 'Bearer def' },
  ]);
});
