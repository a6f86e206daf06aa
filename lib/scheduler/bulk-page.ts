/**
 * Gives the command of a bulk action to each execution of one page.
 *
 * Owns: acting on each execution once, the answer for one to which the command no longer applies, and
 * counting a page once. Does not own: the commands themselves (`commands.ts`, `incidents.ts`,
 * `callbacks.ts`), the sum (`core/operators/bulk.ts`).
 *
 * It acts in the name of the person who confirmed it, under the command id `<bulk>.<execution>`. If its
 * process dies and the page is done again, that id shows which executions have the command already. The
 * command does not apply to failures or questions that came after the bulk action was made.
 */

import { incidentsIn, openQuestions } from '../core/records/snapshot.ts';
import { stateAfterRetry } from '../core/execution/after-retry.ts';
import {
  appliedOnce,
  type Bulk,
  type BulkPage,
  type BulkPageResult,
  type BulkResult,
  commandIdOf,
  refusedOnce,
  sumOf,
} from '../core/operators/bulk.ts';
import { obeyedOf } from '../core/operators/obey.ts';
import type { Bulks } from '../core/ports.ts';
import { isOpen } from '../core/records/question.ts';
import { isSteadfastError, PermanentError, refuse, sayable } from '../core/values/errors.ts';
import type { CallbackAnswer } from '../core/decisions/events.ts';
import { defined } from '../core/values/defined.ts';
import { callbackToken } from '../core/records/state.ts';
import { cut } from '../core/values/text.ts';
import { callbackProblem } from '../core/questions/callback.ts';
import { sideBySide } from '../engine/side-by-side.ts';
import type { PageInput, PageOutput } from './bulk-workflow.ts';
import { PAGE_TRIES } from './bulk-workflow.ts';
import { closeCallback } from './callbacks.ts';
import { cancel, pause, resume, retry } from './commands.ts';
import { resolveIncident } from './incidents.ts';
import { type Scheduler, show } from './start.ts';

/** How many executions get the command at the same time. */
const LANES = 10;
/**
 * From this try on, an execution that fails for an unknown reason counts as failed, so that it no longer
 * delays its page.
 */
const LAST_TRIES = PAGE_TRIES - 5;
const MAX_MESSAGE = 300;

/**
 * Refusals besides those of the commands: the execution asks nothing that the command could answer, or asks
 * several things.
 */
const NOT_ASKED = 'not-asked';
const SEVERAL_ASKED = 'several-asked';
/** The code with which a rejected approval fails. */
const REJECTED = 'rejected';

/** Codes of refusals that trying again cannot change. */
const REFUSALS: ReadonlySet<string> = new Set([
  'already-closed',
  'already-resolved',
  'bad-input',
  'bad-output',
  'key-reused',
  'not-another',
  NOT_ASKED,
  'not-cancelable',
  'not-open',
  'not-pausable',
  'not-resumable',
  'not-retryable',
  SEVERAL_ASKED,
  'too-large',
  'too-many-commands',
  'too-many-people',
  'unknown-callback',
  'unknown-caller',
  'unknown-execution',
  'unknown-incident',
  'unsafe-choice',
]);

export interface PageAttempt {
  readonly attempt: number;
  readonly signal: { readonly aborted: boolean };
}

/**
 * Acts on a page, unless it is done already.
 * @throws PermanentError if there is no such page to act on; any other error if some of its executions could
 * not get the command yet
 */
export async function actOnPage(
  scheduler: Scheduler,
  { bulk: id, page: number }: PageInput,
  attempt: PageAttempt,
): Promise<PageOutput> {
  const { bulks } = scheduler.ports;
  if (bulks === undefined) throw new Error('this process has no place for bulk actions');
  const [bulk, page, known] = await Promise.all([
    bulks.read(id),
    bulks.readPage(id, number),
    bulks.readResult(id, number),
  ]);
  if (bulk?.confirmedAt === undefined || page === undefined)
    throw new PermanentError(`bulk action ${cut(id, 70)} has no page ${number} that was confirmed`);
  return outputOf(
    known ?? (await counted(scheduler, bulks, page, await obeyed(scheduler, bulk, page, attempt))),
  );
}

const outputOf = ({ applied, refused }: BulkResult): PageOutput => ({
  applied,
  refused: Object.values(refused).reduce((sum, { count }) => sum + count, 0),
});

async function obeyed(
  scheduler: Scheduler,
  bulk: Bulk,
  { ids }: BulkPage,
  { attempt, signal }: PageAttempt,
): Promise<BulkResult> {
  const results = await sideBySide(ids, LANES, async (executionId): Promise<BulkResult> => {
    if (signal.aborted) throw new Error('the time of this try is over');
    try {
      await apply(scheduler, bulk, executionId);
      return appliedOnce;
    } catch (error) {
      if (isSteadfastError(error) && REFUSALS.has(error.code))
        return refusedOnce(executionId, error.code, cut(error.message, MAX_MESSAGE));
      if (attempt < LAST_TRIES) throw error;
      return refusedOnce(
        executionId,
        'internal',
        `it is not known whether the command took effect: ${sayable(error)}`,
      );
    }
  });
  return sumOf(results);
}

/** Writes the page's result. If two processes do it, only the first write succeeds, and its result counts. */
async function counted(
  { ports }: Scheduler,
  bulks: Bulks,
  { bulk, page, goneAt }: BulkPage,
  result: BulkResult,
): Promise<BulkResult> {
  const own: BulkPageResult = { ...result, bulk, page, version: 1, writeId: ports.random.id(), goneAt };
  if ((await bulks.write({ result: own })) === 'written') return own;
  const first = await bulks.readResult(bulk, page);
  if (first === undefined) throw new Error('the result of a page was neither written nor found');
  return first;
}

/** @throws SteadfastError the refusal of the command */
async function apply(scheduler: Scheduler, bulk: Bulk, executionId: string): Promise<unknown> {
  const { id, command, confirmedBy: by, createdAt } = bulk;
  const { action, reason, undo, withinMs } = command;
  const asked = { commandId: commandIdOf(id, executionId), ...defined({ reason, by }) };
  switch (action) {
    case 'retry':
      return retryOne(scheduler, bulk, executionId, { ...asked, asOf: createdAt });
    case 'cancel':
      return cancel(scheduler, executionId, { ...asked, ...defined({ undo }) });
    case 'pause':
      return pause(scheduler, executionId, { ...asked, ...defined({ withinMs }) });
    case 'resume':
      return resume(scheduler, executionId, asked);
    case 'resolve':
      return answerIncident(scheduler, bulk, executionId);
    case 'approve':
    case 'reject':
      return answerApproval(scheduler, bulk, executionId);
  }
}

/** Gives another input to the step that asks, or, if the execution has failed, to the step that failed. */
async function retryOne(
  scheduler: Scheduler,
  bulk: Bulk,
  executionId: string,
  asked: Parameters<typeof retry>[2],
): Promise<unknown> {
  const { input, step } = bulk.command;
  if (input === undefined) return retry(scheduler, executionId, asked);
  const other = { ...asked, input, ...defined({ step }) };
  const { execution } = (await show(scheduler, executionId)).state;
  const isFailed =
    execution.status === 'failed' || obeyedOf(execution, { type: 'retry', ...other }) !== undefined;
  return isFailed ? retry(scheduler, executionId, other) : answerIncident(scheduler, bulk, executionId);
}

/**
 * Answers the one incident that was open when the bulk action was made; if there were several, the command
 * must name the step.
 */
async function answerIncident(
  scheduler: Scheduler,
  { id, command, confirmedBy: by, createdAt }: Bulk,
  executionId: string,
): Promise<unknown> {
  const commandId = commandIdOf(id, executionId);
  const { state } = await show(scheduler, executionId);
  const { step, choice = 'retry-with-input', reason, input, output, nothingHappened } = command;
  const incidents = incidentsIn(state).filter((incident) => step === undefined || incident.step === step);
  if (incidents.some((incident) => incident.commandId === commandId)) return state;
  const open = incidents.filter(isOpen);
  const meant = one(
    open.filter(({ openedAt }) => openedAt <= createdAt),
    {
      what: 'incidents',
      steps: open.map((incident) => incident.step ?? incident.kind),
      step,
    },
  );
  const answer = { choice, commandId, ...defined({ reason, input, output, nothingHappened, by }) };
  return resolveIncident(scheduler, executionId, { incident: meant.number, asOf: createdAt, ...answer });
}

/**
 * Answers the one approval that was open when the bulk action was made; if there were several, the command
 * must name the step.
 */
async function answerApproval(
  scheduler: Scheduler,
  { command, confirmedBy: by, createdAt }: Bulk,
  executionId: string,
): Promise<unknown> {
  const { state: stored, plan } = await show(scheduler, executionId);
  const state = stateAfterRetry(plan, stored);
  const { action, step, reason, comment } = command;
  const answer: CallbackAnswer =
    action === 'approve'
      ? { kind: 'complete', output: defined({ comment }) }
      : { kind: 'fail', failure: { code: REJECTED, message: reason ?? 'a person has rejected it' } };
  const names = plan.steps
    .filter(({ kind, name }) => kind === 'approval' && (step === undefined || name === step))
    .map(({ name }) => name);
  const tell = (name: string): Promise<unknown> =>
    closeCallback(scheduler, callbackToken(stored.execution, name) ?? '', answer, by, createdAt);
  const isAsked = (name: string): boolean => openQuestions(state).some((asked) => asked.step === name);
  const open = names.filter(
    (name) => isAsked(name) && callbackProblem(plan, state, name, createdAt) === undefined,
  );
  const isMeant = (name: string): boolean => (state.questions?.[name]?.openedAt ?? 0) <= createdAt;
  const meant = open.filter(isMeant);
  // If this question was answered since then, either the same person repeats the answer, or this answer is
  // refused, even if another question was asked later.
  const [answered] = names.filter(
    (name) =>
      SETTLED.has(state.steps[name]?.status ?? '') &&
      isMeant(name) &&
      (state.questions?.[name]?.closedAt ?? createdAt) >= createdAt,
  );
  if (meant.length === 0 && answered !== undefined) return tell(answered);
  return tell(one(meant, { what: 'approvals', steps: open, step }));
}

const SETTLED: ReadonlySet<string> = new Set(['answered', 'done', 'failed', 'tolerated']);

/** @throws SteadfastError `not-asked`, `several-asked` */
function one<Asked>(
  asked: readonly Asked[],
  {
    what,
    steps,
    step,
  }: { readonly what: string; readonly steps: readonly string[]; readonly step: string | undefined },
): Asked {
  const [first, ...others] = asked;
  if (first !== undefined && others.length === 0) return first;
  const of = step === undefined ? '' : ` of step '${step}'`;
  if (first === undefined)
    throw refuse(
      NOT_ASKED,
      steps.length === 0
        ? `it has no open ${what}${of}`
        : `its open ${what}${of} came after the bulk action was made: ${steps.join(', ')}`,
    );
  throw refuse(SEVERAL_ASKED, `it has several open ${what}: ${steps.join(', ')}; name the step`);
}
