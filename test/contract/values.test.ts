/**
 * The stores of large values pass their contract: the folder of `serve`, the store in memory, and the client
 * of S3 over the local cloud's buckets.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type S3Options, s3Values } from '../../lib/aws/s3-values.ts';
import { readAwsCall } from '../../local/gateway/aws-call.ts';
import { systemClock } from '../../local/clock.ts';
import { Buckets } from '../../local/s3/buckets.ts';
import { folderValues, valuesOf } from '../../serve/folder-values.ts';
import { emptied } from '../../cli/verify/throwaway.ts';
import { IN_MEMORY } from '../../serve/sqlite/file.ts';
import { describeValues, PAGE } from './values.contract.ts';

const folder = (): string => mkdtempSync(join(tmpdir(), 'steadfast-values-'));

describeValues('in a folder', async () => {
  const path = folder();
  return { values: folderValues(path, PAGE), close: async () => rmSync(path, { recursive: true }) };
});

describeValues('in memory', async () => ({
  values: await valuesOf(IN_MEMORY),
  close: async () => undefined,
}));

async function bucket() {
  const path = folder();
  const spec = { logicalId: 'Values', bucketName: 'values', tellsEventBridge: false };
  const bus = { tell: () => undefined } as never;
  const buckets = new Buckets([spec], bus, systemClock, { folder: path, accountId: '1' });
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const call = readAwsCall(request.headers, body, request);
      if (call.object === undefined) throw new Error('no call of S3');
      const answer = buckets.serve(call.object, call.body, request.headers);
      response.writeHead(answer.statusCode, { ...answer.headers });
      response.end(answer.body);
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  const options: S3Options = {
    bucket: 'values',
    page: PAGE,
    endpoint: `http://127.0.0.1:${port}`,
    region: async () => 'us-east-1',
    credentials: async () => ({ accessKeyId: 'a', secretAccessKey: 's' }),
  };
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    rmSync(path, { recursive: true });
  };
  return { values: s3Values(options), options, close };
}

describeValues('in a bucket', bucket);

it('of a stack that goes is emptied, page by page', async () => {
  const { values, close } = await bucket();
  for (let n = 0; n < PAGE + 5; n += 1) await values.put(`e-${n}/l/input/a/w`, '1');
  await emptied(values);
  expect(await values.list('')).toEqual({ items: [] });
  await close();
});
