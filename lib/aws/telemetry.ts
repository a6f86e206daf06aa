/**
 * Notes as JSON log lines.
 *
 * Owns: which notes are worth a line on the healthy path (none: they are debug), which are warnings, and the fields of a line. Does not own:
 * figures (`metrics.ts`). S17: a note has no field for a payload, so none can get here.
 */

import { Logger } from '@aws-lambda-powertools/logger';
import type { Log } from '../core/ports.ts';

/** What happens with every healthy step; at info level its lines would cost more than its messages. */
const ROUTINE: ReadonlySet<string> = new Set([
  'started',
  'claimed',
  'step-done',
  'succeeded',
  'message-dropped',
  // As many as steps were done; the audit's own line has their number.
  'leftover-removed',
]);

/** What a person should read: something was left undone, or may go wrong soon. */
const WARNINGS: ReadonlySet<string> = new Set([
  'agent-missing',
  'audit-failed',
  'breaker-failed',
  'clock-skewed',
  'count-failed',
  'depth-failed',
  'first-sends-failed',
  'follow-up-failed',
  'list-left-out',
  'look-failed',
  'not-sent',
  'receipt-failed',
  'request-failed',
  'rounds-exhausted',
  'sweep-failed',
]);

/** @param others who hear every note as well */
export function tellAll(logger: Logger, ...others: readonly Log[]): Log {
  return {
    note: (note) => {
      const { what, ...fields } = note;
      if (ROUTINE.has(what)) logger.debug(what, fields);
      else if (WARNINGS.has(what)) logger.warn(what, fields);
      else logger.info(what, fields);
      for (const other of others) other.note(note);
    },
  };
}

/** @param fields what each of its lines has: the role, and of an agent its name */
export const serviceLogger = (fields: { readonly role: string; readonly agent?: string }): Logger =>
  new Logger({ serviceName: 'steadfast', persistentKeys: fields });
