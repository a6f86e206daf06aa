/** The error of the client, for everything but the expected answer. */

/** `code` is for programs, `message` for people. `details` is the API's, for example a schema's issues. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** For programs: 'unknown-execution', 'bad-input', … */
  readonly code: string;
  /** The HTTP status; undefined if nothing answered. */
  readonly status: number | undefined;
  /** Details of some codes, such as the invalid fields of an input. */
  readonly details: unknown;
  /** The pause for which the answer asks (`Retry-After`), in ms. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: string,
    message: string,
    more: { status?: number; details?: unknown; retryAfterMs?: number | undefined } = {},
  ) {
    super(message);
    this.code = code;
    this.status = more.status;
    this.details = more.details;
    this.retryAfterMs = more.retryAfterMs;
  }
}

/** @param now epoch ms @returns the pause in ms that a `Retry-After` asks for, in seconds or as a date */
export function retryAfterOf(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const ms = /^\s*\d+\s*$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
