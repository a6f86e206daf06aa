/** The one error of the client, whatever is not the wanted answer. */

/**
 * `code` for programs, `message` for people; `details` as the API gave them, for example a schema's issues.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** For programs: 'unknown-execution', 'bad-input', … */
  readonly code: string;
  /** Absent when nothing answered. */
  readonly status: number | undefined;
  /** What some codes add, such as the fields that an input has wrong. */
  readonly details: unknown;
  /** How long the answer asks to wait (`Retry-After`). */
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

/** @param now epoch ms @returns the time that a `Retry-After` asks for, in seconds or as a date */
export function retryAfterOf(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const ms = /^\s*\d+\s*$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
