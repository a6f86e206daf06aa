/**
 * Log lines, as JSON, by Powertools: notes of the roles, and lines of an agent's own code.
 *
 * Owns: the level of each note (on the healthy path all are debug; some are warnings or errors), and the keys
 * of a line. Does not own: metrics (`metrics.ts`). S17: a note has no field for a payload, so a payload
 * cannot get here. A failed attempt is described in its author's words, cut and printable.
 *
 * The correlation id of a line about an execution is the execution's id, in every function: one query finds
 * them all.
 */

import { inspect } from 'node:util';
import { Logger, LogLevelThreshold } from '@aws-lambda-powertools/logger';
import type { AttemptLog } from '../core/plan/agent.ts';
import type { Log } from '../core/ports.ts';
import type { Failure } from '../core/values/failure.ts';
import { isError } from '../core/values/errors.ts';
import { cut, printable } from '../core/values/text.ts';

/** Notes of every healthy step; at info level these lines would cost more than the step's messages. */
const ROUTINE: ReadonlySet<string> = new Set([
  'started',
  'claimed',
  'carried-on',
  'step-done',
  'succeeded',
  'message-dropped',
  // One note for each removed record; the audit's own line has their number.
  'leftover-removed',
  // Sent as events; an agent that is tried once is at its last attempt each time.
  'at-risk',
]);

/** Powertools' number of a level: looking it up by name takes as long as all else in an unwritten note. */
const { DEBUG } = LogLevelThreshold;

/** Warnings, for a person to read: work was left undone, or may soon fail. */
const WARNINGS: ReadonlySet<string> = new Set([
  'agent-missing',
  'audit-failed',
  'children-failed',
  'breaker-failed',
  'rate-unread',
  'clock-skewed',
  'count-failed',
  'depth-failed',
  'first-sends-failed',
  'follow-up-failed',
  'list-left-out',
  'not-announced',
  'evaluation-failed',
  'not-sent',
  'presence-failed',
  'receipt-failed',
  'request-failed',
  'passes-exhausted',
  'sweep-failed',
  'value-lost',
  'wake-up-failed',
  // Failures without a note of their own.
  'death-not-recorded',
  'lease-ended',
  'process-died',
  'step-unknown',
]);

/** Errors: a step or an execution has ended in a way that our code cannot repair. */
const ERRORS: ReadonlySet<string> = new Set([
  'failed',
  'on-failure-failed',
  'step-compensation-failed',
  'step-failed',
  'step-overdue',
  'undo-given-up',
]);

/** The most characters of a failure's message: enough to recognise it. */
const MAX_FAILURE_CHARS = 300;

const saidOf = ({ code, message }: Failure): { readonly code: string; readonly failure: string } => ({
  code: printable(cut(code, MAX_FAILURE_CHARS)),
  failure: printable(cut(message, MAX_FAILURE_CHARS)),
});

/** The most characters of a value that cannot be written as JSON. */
const MAX_SHOWN = 4_096;
function shown(value: unknown): string {
  try {
    return inspect(value, { customInspect: false }).slice(0, MAX_SHOWN);
  } catch {
    return 'it cannot be shown';
  }
}

/** @param others get every note as well */
export function tellAll(logger: Logger, ...others: readonly Log[]): Log {
  return {
    note: (note, origin) => {
      const { what, failure, ...about } = note;
      for (const other of others) other.note(note, origin);
      if (ROUTINE.has(what) && logger.level > DEBUG) return;
      const fields = { ...correlated(about), ...(failure === undefined ? {} : saidOf(failure)) };
      if (ROUTINE.has(what)) logger.debug(what, fields);
      else if (ERRORS.has(what)) logger.error(what, fields);
      else if (failure !== undefined || WARNINGS.has(what)) logger.warn(what, fields);
      else logger.info(what, fields);
    },
  };
}

/** Adds the id under the name that Powertools' users expect. */
export const correlated = <Fields extends { readonly executionId?: string }>(
  fields: Fields,
): Fields & { readonly correlation_id?: string } =>
  fields.executionId === undefined ? fields : { ...fields, correlation_id: fields.executionId };

/**
 * Makes the function's logger. Powertools' own variables set level, sample rate and service name.
 * @param fields of each of its lines: the role, and for an agent its name
 */
export const serviceLogger = (fields: { readonly role: string; readonly agent?: string }): Logger =>
  new Logger({ serviceName: process.env['POWERTOOLS_SERVICE_NAME'] ?? 'steadfast', persistentKeys: fields });

/**
 * Logs, for each attempt under way, how its process ends: the record of the execution shows this only when
 * the lease expires. A process that is killed from outside cannot log.
 */
export function tellExit(
  logger: Logger,
  exitCode: number,
  underWay: Iterable<{ readonly executionId: string }> = [],
): void {
  for (const attempt of underWay) logger.warn('process-exits', correlated({ ...attempt, exitCode }));
}

/**
 * Makes a logger for the author's code in one attempt: a child logger, so that no line of another attempt has
 * its fields.
 */
export function attemptLog(
  logger: Logger,
  context: { readonly executionId: string } & Readonly<Record<string, unknown>>,
): AttemptLog {
  const child = logger.createChild({ persistentKeys: correlated(context) });
  const line =
    (level: keyof AttemptLog): AttemptLog['info'] =>
    (message, fields = {}) => {
      // JavaScript callers may pass other types: a line never fails the code that logs it, or that passes it
      // on.
      const text = typeof message === 'string' ? message : shown(message);
      try {
        if (isError(fields)) child[level](text, fields);
        else child[level](text, fields);
      } catch {
        child[level](text, { shown: shown(fields) });
      }
    };
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}
