/** Reads the fields of SQS requests, with AWS's errors for bad ones. Pure. */
import { isRecord, type Json } from '../template/json.ts';

export type Fields = Readonly<Record<string, Json>>;

/** An error of the SQS protocol. */
export class SqsError extends Error {
  readonly code: string;
  /** The older name of the error; the SDK reads it from a header. */
  readonly queryCode: string;
  readonly statusCode: number;

  constructor(code: string, message: string, queryCode = code, statusCode = 400) {
    super(message);
    this.name = 'SqsError';
    this.code = code;
    this.queryCode = queryCode;
    this.statusCode = statusCode;
  }
}

export function requiredText(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value === 'string') return value;
  throw new SqsError('MissingParameter', `The request must contain the parameter ${name}.`);
}

export function wholeNumber(fields: Fields, name: string, least: number, most: number): number | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  const reason = `Must be >= ${least} and <= ${most}, if provided.`;
  throw new SqsError(
    'InvalidParameterValue',
    `Value ${JSON.stringify(value)} for parameter ${name} is invalid. Reason: ${reason}`,
  );
}

/** A number of seconds from 0 to `most`, as milliseconds. */
export function optionalSeconds(fields: Fields, name: string, most: number): number | undefined {
  const seconds = wholeNumber(fields, name, 0, most);
  return seconds === undefined ? undefined : seconds * 1000;
}

/** The entries of a batch request, after the checks that fail a whole batch. */
export function distinctEntries(
  fields: Fields,
  most: number,
): { readonly id: string; readonly fields: Fields }[] {
  const entries = Array.isArray(fields['Entries']) ? fields['Entries'] : [];
  if (entries.length === 0)
    throw fault('EmptyBatchRequest', 'There should be at least one entry in the request.');
  if (entries.length > most) {
    const message = `Maximum number of entries per request are ${most}. You have sent ${entries.length}.`;
    throw fault('TooManyEntriesInBatchRequest', message);
  }
  const ids = new Set<string>();
  return entries.map((entry) => {
    const id = isRecord(entry) && typeof entry['Id'] === 'string' ? entry['Id'] : '';
    if (!/^[A-Za-z0-9_-]{1,80}$/.test(id)) {
      throw fault(
        'InvalidBatchEntryId',
        'A batch entry id can only contain alphanumeric characters, hyphens, underscores.',
      );
    }
    if (ids.has(id)) throw fault('BatchEntryIdsNotDistinct', `Id ${id} repeated.`);
    ids.add(id);
    return { id, fields: isRecord(entry) ? entry : {} };
  });
}

function fault(code: string, message: string): SqsError {
  return new SqsError(code, message, `AWS.SimpleQueueService.${code}`);
}
