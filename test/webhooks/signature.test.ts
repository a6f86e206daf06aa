/** A request is accepted only if its signature matches the received bytes. */

import { hmacSha256, type HmacOptions } from '../../lib/author/triggers/webhook.ts';
import { isSigned } from '../../lib/webhooks/signature.ts';
import { refusalOf } from '../author/refusals.ts';
import { hmac, NOW, SECRET, type Sender, SENDERS, type Sent, STANDARD_KEY, standard } from './senders.ts';

const BODY = '{"id":"e-1","data":{"order":"o-1","name":"Zoë"}}';
const MINUTE_MS = 60_000;

const counts = (
  { verify }: Pick<Sender, 'verify'>,
  { headers, body }: Sent,
  now = NOW,
  secret = SECRET,
): boolean => isSigned(verify, { header: (name) => headers[name], body: Buffer.from(body) }, secret, now);
const { payments, 'code-host': codeHost, form } = SENDERS;
const withHeaders = (sent: Sent, change: (text: string, name: string) => string): Sent => ({
  ...sent,
  headers: Object.fromEntries(Object.entries(sent.headers).map(([name, text]) => [name, change(text, name)])),
});

describe.each(Object.entries(SENDERS))('of %s', (_, sender) => {
  const sent = sender.sends(BODY);
  it('is right as it was sent', () => expect(counts(sender, sent)).toBe(true));
  it('is wrong with another secret, or none', () => {
    expect(counts(sender, sent, NOW, 'another')).toBe(false);
    expect(counts(sender, sent, NOW, '')).toBe(false);
  });
  it('is wrong when one byte is another', () => {
    for (let at = 0; at < BODY.length; at += 1) {
      const body = `${BODY.slice(0, at)}${BODY[at] === 'x' ? 'y' : 'x'}${BODY.slice(at + 1)}`;
      expect(counts(sender, { ...sent, body })).toBe(false);
    }
    expect(counts(sender, { ...sent, body: `${BODY}\n` })).toBe(false);
  });
  it('is wrong in another encoding of the same text, or written again as the same JSON', () => {
    const { headers } = sent;
    const body = Buffer.from(BODY, 'latin1');
    expect(isSigned(sender.verify, { header: (name) => headers[name], body }, SECRET, NOW)).toBe(false);
    expect(counts(sender, { ...sent, body: JSON.stringify(JSON.parse(BODY), null, 1) })).toBe(false);
  });
  it('is wrong when its header is absent, empty, cut or in another alphabet', () => {
    expect(counts(sender, { headers: {}, body: BODY })).toBe(false);
    for (const change of [
      () => '',
      (text: string) => text.replace(/[0-9a-f]{64}/g, (hex) => hex.slice(1)),
      (text: string) => text.replace(/[0-9a-f]{64}/g, (hex) => `${hex}0`),
      (text: string) => text.replace(/[0-9a-f]{64}/g, (hex) => `${hex.slice(0, -1)}g`),
      (text: string) => text.replace(/[0-9a-f]{64}/g, (hex) => Buffer.from(hex, 'hex').toString('base64')),
      (text: string) => text.replace(/[0-9a-f]{64}/g, ''),
    ])
      expect(counts(sender, withHeaders(sent, change))).toBe(false);
  });
});

it('is wrong with an empty secret, even signed by it', () => {
  const headers = { 'x-code-signature-256': `sha256=${hmac(BODY, '')}` };
  expect(counts(codeHost, { headers, body: BODY }, NOW, '')).toBe(false);
});

it('is over bytes, even if they are not text', () => {
  const body = Buffer.from([0xff, 0xfe, 0x7b, 0x7d]);
  const headers: Sent['headers'] = { 'x-code-signature-256': `sha256=${hmac(body)}` };
  expect(isSigned(codeHost.verify, { header: (name) => headers[name], body }, SECRET, NOW)).toBe(true);
  const replaced = Buffer.from(body.toString('utf8'));
  expect(isSigned(codeHost.verify, { header: (name) => headers[name], body: replaced }, SECRET, NOW)).toBe(
    false,
  );
});

it('is right in capitals, for hex has no case', () => {
  const sent = codeHost.sends(BODY);
  const [, hex = ''] = sent.headers['x-code-signature-256']?.split('=') ?? [];
  const headers = { 'x-code-signature-256': `sha256=${hex.toUpperCase()}` };
  expect(counts(codeHost, { ...sent, headers })).toBe(true);
});

it.each([
  ['payments', payments],
  ['form', form],
])('has an age, to either side: %s', (_, sender) => {
  const at = (ms: number): boolean => counts(sender, sender.sends(BODY, NOW + ms));
  expect([at(-5 * MINUTE_MS), at(5 * MINUTE_MS)]).toEqual([true, true]);
  expect([at(-5 * MINUTE_MS - 1_000), at(5 * MINUTE_MS + 1_000), at(-86_400_000)]).toEqual([
    false,
    false,
    false,
  ]);
});

it('is wrong when a time is put in place of the one that was signed', () => {
  const old = payments.sends(BODY, NOW - 3_600_000);
  const now = String(NOW / 1_000);
  const renewed = withHeaders(old, (text) => text.replace(/t=\d+/, `t=${now}`));
  const first = withHeaders(old, (text) => `t=${now},${text}`);
  const last = withHeaders(old, (text) => `${text},t=${now}`);
  expect([renewed, first, last].map((sent) => counts(payments, sent))).toEqual([false, false, false]);
  const header = form.sends(BODY, NOW - 3_600_000);
  expect(counts(form, { ...header, headers: { ...header.headers, 'x-chat-time': now } })).toBe(false);
});

it.each(['', 'now', '1e9', '-1', ' 1764504000', `${NOW / 1_000}.0`, '1764504000000000'])(
  'is wrong at a time that is none, even signed: %j',
  (time) => {
    const headers = { 'pay-signature': `t=${time},v1=${hmac(`${time}.${BODY}`)}` };
    expect(counts(payments, { headers, body: BODY })).toBe(false);
  },
);

it('moves no border between what is signed and the body', () => {
  // The same signed bytes, with the body's beginning in the header before it.
  const sent = standard.sends(BODY);
  expect(counts(standard, sent, NOW, STANDARD_KEY)).toBe(true);
  const time = String(NOW / 1_000);
  const text = `m.${time}.${time}.${BODY}`;
  const signature = hmac(text, Buffer.from(SECRET.repeat(2)), 'base64');
  const headers = { 'webhook-timestamp': time, 'webhook-signature': `v1,${signature}` };
  expect(
    counts(
      standard,
      { headers: { ...headers, 'webhook-id': 'm' }, body: `${time}.${BODY}` },
      NOW,
      STANDARD_KEY,
    ),
  ).toBe(true);
  expect(
    counts(standard, { headers: { ...headers, 'webhook-id': `m.${time}` }, body: BODY }, NOW, STANDARD_KEY),
  ).toBe(false);
});

it('is one of several signatures, and of another scheme none', () => {
  const sent = payments.sends(BODY);
  const without = withHeaders(sent, (text) => text.replaceAll(/v1=\w+,?/g, ''));
  expect(without.headers['pay-signature']).toContain('v0=');
  expect(counts(payments, without)).toBe(false);
  const many = `t=${NOW / 1_000},${`v1=${hmac('else')},`.repeat(8)}v1=${hmac(`${NOW / 1_000}.${BODY}`)}`;
  expect(counts(payments, { headers: { 'pay-signature': many }, body: BODY })).toBe(false);
});

it.each([', ', ' ', ','])('is one of several with %j between them', (between) => {
  const sent = withHeaders(payments.sends(BODY), (text, name) =>
    name === 'pay-signature' ? text.split(',').join(between) : text,
  );
  expect(counts(payments, sent)).toBe(true);
});

describe('hmacSha256 refuses', () => {
  const good: HmacOptions = {
    header: 'x-signature',
    secret: { kind: 'steadfast:secret', env: 'KEY' },
  };
  it('nothing of these', () => {
    expect(
      hmacSha256({ ...good, time: { header: 'X-Time' }, signed: 'V0:{Time}:{X-Id}:{body}' }),
    ).toMatchObject({
      signed: 'V0:{time}:{x-id}:{body}',
      time: { header: 'x-time' },
      toleranceMs: 300_000,
    });
    expect(hmacSha256(good)).toMatchObject({ signed: '{body}', encoding: 'hex', prefix: '' });
    const time = { header: 'x-time' };
    for (const signed of ['{x-id}.{body}', '{x-id}{time}{body}', '{time}{body}', '{body}:{x-id}.{time}'])
      expect(hmacSha256({ ...good, ...(signed.includes('time') ? { time } : {}), signed })).toMatchObject({
        signed,
      });
  });
  it.each<[string, object, string]>([
    ['the value of a secret', { secret: 'sesame' }, 'secret must be secret(…), never the value itself'],
    ['a header that is none', { header: 'x signature' }, "header is 'x signature'"],
    ['a time that is not signed', { time: { prefix: 't=' }, signed: '{body}' }, 'it has no {time}'],
    ['a body that is not signed', { signed: 'all' }, 'it has no {body}'],
    ['a part that no request has', { signed: '{time}{body}' }, 'signed has {time}'],
    ['a header that the body continues', { signed: '{x-id}{body}' }, 'could move from a header to the body'],
    ['a header that continues the body', { signed: '{body}-{x-id}' }, 'could move from a header to the body'],
    ['a tolerance without a time', { tolerance: '1m' }, 'tolerance goes with time alone'],
    [
      'a window of a day',
      { time: { prefix: 't=' }, tolerance: '1d' },
      "tolerance is '1d'; allowed: up to 1h",
    ],
    ['a time in no place', { time: {} }, 'time is where the time is'],
    ['another encoding', { encoding: 'ascii' }, "encoding is 'ascii'"],
    ['another key', { key: 'hex' }, "key is 'hex'"],
    ['what is no option', { algorithm: 'sha1' }, "'algorithm' is not an option"],
  ])('%s', (_, change, message) => {
    const refused = refusalOf(() => hmacSha256({ ...good, ...change } as HmacOptions));
    expect(refused).toMatchObject({ code: 'bad-trigger', message: expect.stringContaining(message) });
  });
});
