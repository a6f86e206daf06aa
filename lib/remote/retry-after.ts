/**
 * The pause that a service asks for in `Retry-After`.
 *
 * Owns: both forms of the header. Does not own: which answers it counts for, and for how long it is
 * respected.
 */

interface Headers {
  readonly 'retry-after'?: string | undefined;
  readonly date?: string | undefined;
}

/** Returns the pause in seconds. A date is compared with the service's own clock, if the answer gives it. */
export function retryAfterIn({ 'retry-after': wish = '', date = '' }: Headers): number | undefined {
  const text = wish.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const at = Date.parse(text);
  const now = Date.parse(date);
  if (!Number.isFinite(at)) return undefined;
  return Math.max(0, Math.ceil((at - (Number.isFinite(now) ? now : Date.now())) / 1_000));
}
