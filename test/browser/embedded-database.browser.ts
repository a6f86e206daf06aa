/**
 * Proves a weakness in docs/SECURITY.md: a page of another origin that finds the embedded database's port can
 * read and write it, because the binary checks neither Host nor Origin. If this test fails, correct that
 * document.
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedDynamo } from '../../local/dynamodb/dynamo-process.ts';
import { Guardian } from '../../local/processes/guardian.ts';
import { startBrowser } from './browser.ts';

const directory = mkdtempSync(join(tmpdir(), 'steadfast-origin-'));
const guardian = new Guardian();
const dynamo = new EmbeddedDynamo(directory, join(directory, 'log'), guardian, () => undefined);
const elsewhere = createServer((_request, response) =>
  response.end('<!doctype html><title>elsewhere</title>'),
);

beforeAll(async () => {
  await dynamo.start();
  await new Promise<void>((done) => elsewhere.listen(0, '127.0.0.1', done));
});
afterAll(async () => {
  elsewhere.close();
  await dynamo.stop();
  await guardian.stop();
  rmSync(directory, { recursive: true, force: true });
});

test('a page of another origin that has the port reads it, and SECURITY says so', async () => {
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(`http://localhost:${(elsewhere.address() as AddressInfo).port}/`);
    const answer = await page.evaluate(async (url) => {
      const headers = {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-date': '20260101T000000Z',
        'x-amz-target': 'DynamoDB_20120810.ListTables',
        authorization:
          'AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=x',
      };
      const response = await fetch(url, { method: 'POST', headers, body: '{}' });
      return { status: response.status, text: await response.text() };
    }, `http://127.0.0.1:${dynamo.address.port}/`);
    expect(answer).toEqual({ status: 200, text: expect.stringContaining('TableNames') });
    const said = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'SECURITY.md'), 'utf8');
    expect(said).toContain(
      'except [the embedded database](LOCAL-CLOUD.md#the-embedded-database), if it finds the port',
    );
  } finally {
    await browser.close();
  }
});
