/**
 * Checks a signature.
 *
 * Owns: the comparison. Does not own: how senders sign (`core/values/signed-by.ts`), the secret's value, the
 * answer (`receive.ts`).
 *
 * K1 the signature is computed over the bytes as they came, before the body is parsed; each candidate in the
 * header is compared in constant time. A header that is part of the signed text may have no character that
 * could move the border between it and the body.
 */

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SignedBy } from '../core/values/signed-by.ts';

const DIGEST_BYTES = 32;
/** The most signatures in a header: a sender signs with both secrets while one replaces the other. */
const MOST_SIGNATURES = 8;
const LONGEST_HEADER = 4_096;

export interface SignedRequest {
  /** A header, by its name in lower case. */
  readonly header: (name: string) => string | undefined;
  readonly body: Buffer;
}

/** True if the signature is correct and, at this time (epoch ms), not too old. */
export function isSigned(by: SignedBy, request: SignedRequest, secret: string, now: number): boolean {
  const parts = partsOf(by, request.header(by.header) ?? '');
  const time = timeOf(by, request, parts);
  const isInTime =
    by.time === undefined || Math.abs(Number(time ?? Number.NaN) * 1_000 - now) <= by.toleranceMs;
  const expected = digestOf(by, request, secret, time);
  if (!isInTime || expected === undefined) return false;
  const given = after(parts, by.prefix).slice(0, MOST_SIGNATURES);
  return given.map((text) => isEqual(bytesOf(by, text), expected)).includes(true);
}

/** Splits the header. Base64 contains no comma, but a prefix may: 'v1,'. */
const partsOf = ({ prefix }: SignedBy, header: string): string[] =>
  header.slice(0, LONGEST_HEADER).split(prefix.includes(',') ? / +/ : /[, ]+/);

const after = (parts: readonly string[], prefix: string): string[] =>
  parts.filter((part) => part.startsWith(prefix)).map((part) => part.slice(prefix.length));

/** K1: only digits are accepted. */
function timeOf({ time }: SignedBy, { header }: SignedRequest, parts: readonly string[]): string | undefined {
  if (time === undefined) return undefined;
  const text = 'header' in time ? header(time.header) : after(parts, time.prefix)[0];
  return text !== undefined && /^\d{1,12}$/.test(text) ? text : undefined;
}

/** Returns undefined if a signed header is absent. */
function digestOf(
  { signed, key }: SignedBy,
  { header, body }: SignedRequest,
  secret: string,
  time: string | undefined,
): Buffer | undefined {
  const bytes = key === 'text' ? secret : Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  if (bytes.length === 0) return undefined;
  const hmac = createHmac('sha256', bytes);
  for (const part of signed.split(/(\{[^{}]*\})/)) {
    const name = /^\{(.*)\}$/.exec(part)?.[1];
    const value =
      name === undefined ? part : name === 'body' ? body : name === 'time' ? time : idIn(header(name));
    if (value === undefined) return undefined;
    hmac.update(value);
  }
  return hmac.digest();
}

/** K1: an id has no dot or colon. */
const idIn = (text: string | undefined): string | undefined =>
  text !== undefined && /^[\w-]{1,128}$/.test(text) ? text : undefined;

/** Checked first, because Node decodes as much as it can of a malformed text. */
const WRITTEN = { hex: /^[0-9a-f]{64}$/i, base64: /^[A-Za-z0-9+/]{43}=?$/ };
const bytesOf = ({ encoding }: SignedBy, text: string): Buffer =>
  WRITTEN[encoding].test(text) ? Buffer.from(text, encoding) : Buffer.alloc(0);

const isEqual = (one: Buffer, other: Buffer): boolean =>
  one.length === DIGEST_BYTES && timingSafeEqual(one, other);
