/**
 * Large values over S3's HTTP: the SDK's signature, a limited number of tries, and "absent" only if S3 is
 * certain.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { s3Values, type S3Options, valuesIn } from '../../lib/aws/s3-values.ts';

const CREDENTIALS = { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: 'token' };
const KEY = 'e-1.step/life/step.rooms.3/abc_-/w(1)';

type Respond = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

async function withServer(
  respond: Respond,
  run: (values: ReturnType<typeof s3Values>, address: string) => Promise<void>,
  options: Partial<S3Options> = {},
): Promise<number> {
  let calls = 0;
  const server = createServer((request, response) => {
    calls += 1;
    void buffer(request).then((body) => respond(request, response, body));
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const region = async (): Promise<string> => 'eu-west-1';
  const credentials = async () => CREDENTIALS;
  try {
    await run(s3Values({ bucket: 'values', endpoint, region, credentials, ...options }), endpoint);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return calls;
}

const error =
  (status: number, code: string, said = ''): Respond =>
  (_request, response) => {
    const text = `<Error><Code>${code}</Code><Message>${said}</Message></Error>`;
    response.writeHead(status).end(`<?xml version="1.0"?>\n${text}`);
  };
const message = (action: string): string =>
  `User: arn:aws:sts::1:assumed-role/r/s is not authorized to perform: ${action} on resource: "arn:aws:s3:::values" because no identity-based policy allows the ${action} action`;

it.each(['put', 'get', 'list', 'remove', 'erase'] as const)(
  'signs %s as the SDK would',
  async (operation) => {
    let seen: IncomingMessage | undefined;
    let sent: Buffer | undefined;
    await withServer(
      (request, response, body) => {
        seen = request;
        sent = body;
        response.end('<ListBucketResult></ListBucketResult>');
      },
      async (values) => {
        if (operation === 'put') await values.put(KEY, '"ä"');
        if (operation === 'get') await values.get(KEY);
        if (operation === 'list') await values.list('e-1/', 'e-1/l/input/a b/w');
        if (operation === 'remove') await values.remove([KEY]);
        if (operation === 'erase') await values.erase?.([KEY]);
      },
    );
    const { method = '', url = '', headers } = seen!;
    const [path = '', query = ''] = url.split('?');
    const signer = new SignatureV4({
      service: 's3',
      region: 'eu-west-1',
      credentials: CREDENTIALS,
      sha256: Sha256,
      uriEscapePath: false,
    });
    const signedNames = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? [];
    const signed = await signer.sign(
      {
        method,
        protocol: 'http:',
        hostname: '127.0.0.1',
        path,
        query: Object.fromEntries(new URLSearchParams(query)),
        headers: Object.fromEntries(
          signedNames
            .filter((name) => name !== 'x-amz-security-token')
            .map((name) => [name, String(headers[name])]),
        ),
        body: sent!,
      },
      { signingDate: dateIn(String(headers['x-amz-date'])) },
    );
    expect(signed.headers['authorization']).toBe(headers.authorization);
  },
);

const dateIn = (text: string): Date =>
  new Date(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));

it('goes on after S3 was busy, and gives up after the third try, without a key in what it says', async () => {
  let left = 2;
  const calls = await withServer(
    (request, response, body) => {
      left -= 1;
      if (left >= 0) error(503, 'SlowDown')(request, response, body);
      else response.end();
    },
    (values) => values.put(KEY, '1'),
  );
  expect(calls).toBe(3);
  const failed = await withServer(error(500, 'InternalError'), async (values) => {
    await expect(values.get(KEY)).rejects.toMatchObject({ name: 'InternalError' });
    await expect(values.get(KEY)).rejects.not.toThrow('e-1');
  });
  expect(failed).toBe(6);
});

it('reports a missing value only if S3 says that the key does not exist', async () => {
  await withServer(error(404, 'NoSuchKey'), async (values) => {
    expect(await values.get(KEY)).toBeUndefined();
  });
  // A role that may read objects but not list them gets this answer for a missing one.
  await withServer(error(403, 'AccessDenied', message('s3:ListBucket')), async (values) => {
    expect(await values.get(KEY)).toBeUndefined();
  });
  await withServer(error(403, 'AccessDenied', message('s3:GetObject')), async (values) => {
    await expect(values.get(KEY)).rejects.toThrow('GetObject of a large value: AccessDenied');
  });
  for (const [status, code] of [
    [404, 'NoSuchBucket'],
    [403, 'AccessDenied'],
    [301, 'PermanentRedirect'],
  ] as const) {
    const calls = await withServer(error(status, code), async (values) => {
      await expect(values.get(KEY)).rejects.toThrow(`GetObject of a large value: ${code}`);
    });
    expect(calls).toBe(1);
  }
});

it('erases a value with each version of it, after the mark that a replica is sent', async () => {
  const asked: string[] = [];
  const of = (key: string, id: string): string => `<Key>${key}</Key><VersionId>${id}</VersionId>`;
  const versions = `<ListVersionsResult><DeleteMarker>${of(KEY, 'mark')}</DeleteMarker><Version>${of(KEY, 'v2')}</Version><Version>${of(KEY, 'v1')}</Version><Version>${of(`${KEY}0`, 'v3')}</Version></ListVersionsResult>`;
  await withServer(
    ({ method, url = '' }, response) => {
      const { pathname, searchParams } = new URL(url, 'http://s3');
      asked.push(
        `${method} ${decodeURIComponent(pathname)} ${[...searchParams].map((pair) => pair.join('=')).join(' ')}`,
      );
      response.end(method === 'GET' ? versions : '');
    },
    async (values) => values.erase?.([KEY]),
  );
  expect(asked).toEqual([
    `DELETE /values/${KEY} `,
    `GET /values/ versions= prefix=${KEY}`,
    `DELETE /values/${KEY} versionId=v2`,
    `DELETE /values/${KEY} versionId=v1`,
  ]);
});

it('does not wait for ever, nor take a part for the whole', async () => {
  await withServer(
    () => undefined,
    async (values) => expect(values.get(KEY)).rejects.toThrow('no answer of S3 within 20 ms'),
    { requestTimeout: 20 },
  );
  await withServer(
    (_request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => response.destroy());
    },
    async (values) => expect(values.get(KEY)).rejects.toThrow(),
  );
});

it('has a bucket only where the environment names one', () => {
  const client = { config: { region: async () => 'eu-west-1', credentials: async () => CREDENTIALS } };
  expect(valuesIn({}, client)).toBeUndefined();
  expect(valuesIn({ STEADFAST_VALUES: '' }, client)).toBeUndefined();
  expect(valuesIn({ STEADFAST_VALUES: 'values' }, client)).toBeDefined();
});
