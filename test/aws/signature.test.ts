/** Our request signature equals AWS's: checked with AWS's test case and with the SDK's signer. */

import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { amzDate, authorization, signedPlace } from '../../lib/aws/signature.ts';

const CREDENTIALS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};

it('is that of AWS’s own test case', () => {
  const headers = { host: 'example.amazonaws.com', 'x-amz-date': '20150830T123600Z' };
  expect(authorization(headers, '', CREDENTIALS, { service: 'service', region: 'us-east-1' })).toContain(
    'Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  );
});

it('of another address is the SDK’s: a path with signs, a query in any order', async () => {
  const url = new URL(
    "https://lambda.eu-west-1.amazonaws.com/2015-03-31/functions/arn%3Aaws%3Alambda%3Ax/it's(a)%20b?z=1&a=ä%20*&a=B",
  );
  const scope = { service: 'lambda', region: 'eu-west-1' };
  const signer = new SignatureV4({ ...scope, credentials: CREDENTIALS, sha256: Sha256 });
  const { headers } = await signer.sign({
    method: 'POST',
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    query: { z: '1', a: ['ä *', 'B'] },
    headers: { host: url.host },
    body: '{}',
  });
  const signed = /SignedHeaders=([^,]+)/.exec(headers['authorization'] ?? '')?.[1]?.split(';') ?? [];
  const own = Object.fromEntries(signed.map((name) => [name, String(headers[name])]));
  expect(authorization(own, '{}', CREDENTIALS, scope, signedPlace(url))).toBe(headers['authorization']);
});

it('has the time in the form that AWS wants', () => {
  expect(amzDate(Date.UTC(2026, 10, 21, 20, 9, 17, 123))).toBe('20261121T200917Z');
});
