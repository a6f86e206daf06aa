/**
 * The declaration of how a webhook's sender signs its requests.
 *
 * Owns: `hmacSha256`, its defaults and its refusals. Does not own: the trigger (`trigger-declaration.ts`),
 * the check of a request (`webhooks/signature.ts`).
 */

import { type Duration, parseDuration } from '../../core/values/duration.ts';
import { refuse } from '../../core/values/errors.ts';
import { defined } from '../../core/values/defined.ts';
import { type KeysOf, optionProblem } from '../../core/values/options.ts';
import type { SecretPlace, SignedBy } from '../../core/values/signed-by.ts';

/** The result of `secret(…)`. */
export interface NamedSecret extends SecretPlace {
  readonly kind: 'steadfast:secret';
}

/** The place of the signature in a request, and the text that is signed. */
export interface HmacOptions {
  /** The header with the signature, or with several of them, separated by commas or spaces. */
  readonly header: string;
  /** The secret shared with the sender: `secret('SHOP_WEBHOOKS', { parameter: '/shop/webhooks' })`. */
  readonly secret: NamedSecret;
  /**
   * The text before each signature in the header: 'sha256=', 'v1='. Other parts of the header are ignored.
   * @default - nothing
   */
  readonly prefix?: string;
  /**
   * The encoding of the signature.
   * @default 'hex'
   */
  readonly encoding?: 'hex' | 'base64';
  /**
   * The place of the time of sending, in seconds: `{ prefix: 't=' }`, a part of the same header, or `{
   * header: '…' }`.
   * @default - none: the sender does not sign a time, so the age of a request is not checked
   */
  readonly time?: { readonly prefix: string } | { readonly header: string };
  /**
   * The text that is signed, of `{body}`, `{time}` and headers: '{webhook-id}.{time}.{body}'. Between a
   * header and the body there must be a character that cannot occur in the header's value, such as a dot.
   * @default - '{time}.{body}', or the body alone
   */
  readonly signed?: string;
  /**
   * The largest difference between that time and the receiver's clock; only with `time`.
   * @default '5m'
   */
  readonly tolerance?: Duration;
  /**
   * The form of the secret: a text, or bytes in base64, with or without `whsec_` before them.
   * @default 'text'
   */
  readonly key?: 'text' | 'base64';
}

const OPTIONS = {
  header: true,
  secret: true,
  prefix: true,
  encoding: true,
  time: true,
  signed: true,
  tolerance: true,
  key: true,
} as const satisfies KeysOf<HmacOptions>;

const HEADER = /^[a-z0-9-]{1,64}$/;
const LONGEST_TOLERANCE_MS = 3_600_000;
/**
 * K1 Matches a header and the body that are adjacent, or joined only by characters that may occur in the
 * header's value.
 */
const TOUCHES_BODY =
  /\{(?!(?:time|body)\})[^{}]*\}[\w-]*\{body\}|\{body\}[\w-]*\{(?!(?:time|body)\})[^{}]*\}/;
const namesIn = (template: string): string[] =>
  [...template.toLowerCase().matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name ?? '');

/**
 * A signature by HMAC with SHA-256 over the body's bytes as received.
 * @throws SteadfastError `bad-trigger`, `bad-duration`
 * @example
 * export const verify = hmacSha256({
 *   header: 'shop-signature',
 *   prefix: 'v1=',
 *   time: { prefix: 't=' },
 *   secret: secret('SHOP_WEBHOOKS', { parameter: '/shop/webhooks' }),
 * });
 */
export function hmacSha256(options: HmacOptions): SignedBy {
  const problem = optionProblem(options, OPTIONS) ?? problemOf(options);
  if (problem !== undefined) throw refuse('bad-trigger', `hmacSha256: ${problem}`);
  const { prefix = '', encoding = 'hex', key = 'text', tolerance = '5m' } = options;
  const { env, parameter, secretsManager, field } = options.secret;
  const time =
    options.time && ('header' in options.time ? { header: options.time.header.toLowerCase() } : options.time);
  const toleranceMs = parseDuration(tolerance, 'tolerance of hmacSha256');
  if (toleranceMs > LONGEST_TOLERANCE_MS)
    throw refuse('bad-trigger', `hmacSha256: tolerance is '${tolerance}'; allowed: up to 1h`);
  return {
    header: options.header.toLowerCase(),
    prefix,
    encoding,
    key,
    ...defined({ time }),
    signed: (options.signed ?? (time === undefined ? '{body}' : '{time}.{body}')).replace(
      /\{[^{}]*\}/g,
      (name) => name.toLowerCase(),
    ),
    toleranceMs,
    secret: { env, ...defined({ parameter, secretsManager, field }) },
  };
}

function problemOf({
  header,
  secret,
  signed,
  time,
  tolerance,
  encoding,
  key,
}: HmacOptions): string | undefined {
  const isHeader = (name: unknown): boolean => typeof name === 'string' && HEADER.test(name.toLowerCase());
  if (!isHeader(header)) return `header is '${String(header)}'; allowed: the name of a header`;
  if (secret?.kind !== 'steadfast:secret') return 'secret must be secret(…), never the value itself';
  if (encoding !== undefined && !['hex', 'base64'].includes(encoding))
    return `encoding is '${String(encoding)}'; allowed: 'hex', 'base64'`;
  if (key !== undefined && !['text', 'base64'].includes(key))
    return `key is '${String(key)}'; allowed: 'text', 'base64'`;
  if (time === undefined && tolerance !== undefined) return 'tolerance goes with time alone';
  if (time !== undefined && !('header' in time ? isHeader(time.header) : time.prefix?.length > 0))
    return "time is where the time is: { header: 'name' }, or { prefix: 't=' } in the signature's header";
  if (signed === undefined) return undefined;
  const names = namesIn(signed);
  const lacking = ['body', ...(time === undefined ? [] : ['time'])].find((name) => !names.includes(name));
  // A time that is not signed proves nothing.
  if (lacking !== undefined)
    return `signed is '${signed}'; it has no {${lacking}}, which would not be signed`;
  const stranger = names.find((name) => !isHeader(name) || (name === 'time' && time === undefined));
  if (stranger === undefined)
    return TOUCHES_BODY.test(signed.toLowerCase())
      ? `signed is '${signed}': characters could move from a header to the body, and back; put one between them that no id has, such as a dot`
      : undefined;
  return `signed has {${stranger}}; there are {body}, {time} where time is declared, and names of headers`;
}
