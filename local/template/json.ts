/** The JSON type of templates, and the errors that every part of the reader throws. */

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The template cannot be run locally; the message says where and why. */
export class TemplateError extends Error {
  readonly path: string;
  readonly reason: string;
  readonly code = 'template';

  constructor(path: string, reason: string) {
    super(path === '' ? reason : `${path}: ${reason}`);
    this.name = 'TemplateError';
    this.path = path;
    this.reason = reason;
  }
}

/**
 * The resource is valid on AWS but not supported here. The stack runs without it: it is listed, and a call to
 * it is refused.
 */
export class NotRunHere extends TemplateError {}

/** Whether a value is a JSON object (not null, not a list). */
export function isRecord(value: unknown): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
