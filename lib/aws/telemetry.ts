/**
 * Notes as JSON log lines.
 *
 * Owns: which notes are worth a line on the healthy path (none: they are debug), and the fields of a line. S17: a note
 * has no field for a payload, so none can get here.
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
]);

export function logTo(logger: Logger): Log {
  return {
    note: ({ what, ...fields }) => {
      if (ROUTINE.has(what)) logger.debug(what, fields);
      else logger.info(what, fields);
    },
  };
}

export const serviceLogger = (role: string): Logger => new Logger({ serviceName: `steadfast-${role}` });
