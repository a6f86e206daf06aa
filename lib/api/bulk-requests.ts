/**
 * Checks a client's requests about many executions before anything is done with them.
 *
 * Owns: which fields go with which action. Does not own: the shape of the body (`requests.ts`).
 */

import type * as z from 'zod/mini';
import type { BulkAction, BulkCommand } from '../core/operators/bulk.ts';
import { refuse } from '../core/values/errors.ts';
import { defined } from '../core/values/defined.ts';
import type { BulkRequest } from '../scheduler/bulks.ts';
import { type bulkBody, filterOf, parsePause } from './requests.ts';

type Body = z.infer<typeof bulkBody>;

/** Fields of each action, in addition to those of all actions. */
const FIELDS: Readonly<Record<BulkAction, readonly (keyof Body)[]>> = {
  retry: ['input', 'step'],
  cancel: ['undo'],
  pause: ['within'],
  resume: [],
  resolve: ['choice', 'input', 'output', 'nothingHappened', 'step'],
  approve: ['comment', 'step'],
  reject: ['step'],
};
const OF_EVERY: readonly (keyof Body)[] = ['action', 'filter', 'ids', 'idempotencyKey', 'reason'];

/** @throws SteadfastError `bad-request`, `bad-duration` */
export function bulkRequestOf(body: Body): Omit<BulkRequest, 'by'> {
  const problem = problemOf(body);
  if (problem !== undefined) throw refuse('bad-request', problem);
  const { filter, ids, idempotencyKey } = body;
  return {
    command: commandOf(body),
    ...defined({ ids, idempotencyKey }),
    ...(filter === undefined ? {} : { filter: filterOf(filter) }),
  };
}

function problemOf(body: Body): string | undefined {
  const { action, filter, ids, choice, input, step } = body;
  if ((filter === undefined) === (ids === undefined))
    return 'either filter or ids says which executions are meant: give one of the two';
  if (filter !== undefined && Object.values(filter).every((one) => one === undefined))
    return 'the filter finds everything; say which executions are meant, by status, workflow or code for example';
  const stray = (Object.keys(body) as (keyof Body)[]).find(
    (field) => body[field] !== undefined && ![...OF_EVERY, ...FIELDS[action]].includes(field),
  );
  if (stray !== undefined) {
    const takes = FIELDS[action].join(', ') || 'nothing but a reason';
    return `${stray} does not go with '${action}', which takes ${takes}`;
  }
  if (action === 'resolve' && choice === undefined) return "'resolve' needs a choice";
  if (action === 'retry' && step !== undefined && input === undefined)
    return "step needs the input of a 'retry'; without an input, all failed steps are retried";
  return undefined;
}

function commandOf({ action, undo, within, nothingHappened, ...body }: Body): BulkCommand {
  const { reason, choice, step, comment, input, output } = body;
  return {
    action,
    ...defined({ reason, choice, step, comment, input, output }),
    ...(undo === false ? { undo } : {}),
    ...(within === undefined ? {} : { withinMs: parsePause(within) }),
    ...(nothingHappened === true ? { nothingHappened } : {}),
  };
}
