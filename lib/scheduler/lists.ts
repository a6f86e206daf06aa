/**
 * Lists of executions, for operators.
 *
 * Owns: the store's queries, and the refusals, also of filters that exclude each other. Does not own: the
 * filters and their indexes (`core/operators/list-filter.ts`), one execution (`start.ts`), HTTP (`api/`).
 */

import { type Bounded, indexFor, isListed, type ListFilter } from '../core/operators/list-filter.ts';
import type { InboxKey } from '../core/records/question.ts';
import { BULK } from '../core/plan/built-in.ts';
import { hasChildren } from '../core/plan/plan.ts';
import type { ListedPage } from '../core/ports.ts';
import { refuse } from '../core/values/errors.ts';
import { defined } from '../core/values/defined.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import { type Execution, isTerminal } from '../core/records/state.ts';
import { hasOpenChildren } from '../core/step/turn.ts';
import { idOfKey, type Scheduler, workflowOf } from './start.ts';

/** Given instead of a plan's hash to select every plan that no new execution uses. */
export const OLD_PLANS = 'old';

export interface ListRequest extends Omit<ListFilter, 'atRiskAt' | 'plansNot'> {
  /** Content hash, or `OLD_PLANS`. */
  readonly plan?: string;
  readonly atRisk?: true;
  /** The idempotency key that an execution of the workflow was started with. */
  readonly key?: string;
  readonly limit: number;
  readonly cursor?: string;
}

/**
 * @throws SteadfastError `unknown-workflow`, `bad-cursor`, `bad-request` (filters that exclude each other)
 */
export async function list(scheduler: Scheduler, request: ListRequest): Promise<ListedPage> {
  const { atRisk, key, limit, cursor, ...asked } = withPlans(scheduler, request);
  const { workflow } = asked;
  const { clock } = scheduler.ports;
  if (workflow !== undefined && workflow !== BULK.name) workflowOf(scheduler, workflow);
  const filter: ListFilter = { ...asked, ...(atRisk === true ? { atRiskAt: clock.now() } : {}) };
  if (key !== undefined) return startedWith(scheduler, key, filter);
  return listed(scheduler, filter, limit, cursor);
}

/** The request with the hashes of the plans that it selects now. */
export function withPlans<Request extends Pick<ListRequest, 'plan'>>(
  { workflows }: Scheduler,
  { plan, ...asked }: Request,
): Omit<Request, 'plan'> & Pick<ListFilter, 'plan' | 'plansNot'> {
  if (plan !== OLD_PLANS) return { ...asked, ...defined({ plan }) };
  return { ...asked, plansNot: [...workflows.values()].map(({ planHash }) => planHash) };
}

/** @throws SteadfastError `bad-cursor`, `bad-request` (filters that exclude each other) */
export async function listed(
  scheduler: Scheduler,
  filter: ListFilter,
  limit: number,
  cursor: string | undefined,
): Promise<ListedPage> {
  refuseUnknownTag(scheduler, filter);
  refuseExcluded(filter);
  const { workflow } = filter;
  const workflows = workflow === undefined ? [...scheduler.workflows.keys()] : [workflow];
  return scheduler.ports.store.list({ ...filter, workflows, limit, ...defined({ cursor }) });
}

/** @throws SteadfastError `bad-request`: filters that exclude each other */
function refuseExcluded({ statuses, tag, code, atRiskAt, since, until }: ListFilter): void {
  if (tag !== undefined && code !== undefined)
    throw refuse(
      'bad-request',
      'tag and code do not go together: each is an index of its own; ask for one of them, with workflow, status, plan, atRisk, since or until',
    );
  if (atRiskAt !== undefined && statuses !== undefined && statuses.every(isTerminal))
    throw refuse(
      'bad-request',
      'atRisk goes with status=open or the status of an open execution: what has ended is at no risk',
    );
  if (since !== undefined && until !== undefined && since >= until)
    throw refuse('bad-request', 'since must be before until');
}

/** @throws SteadfastError `bad-request`: no workflow names the tag in `tags`, so no index has it */
function refuseUnknownTag({ workflows }: Scheduler, { tag }: ListFilter): void {
  const known = new Set([...workflows.values()].flatMap(({ workflow }) => workflow.plan.search ?? []));
  if (tag === undefined || known.has(tag.name)) return;
  throw refuse(
    'bad-request',
    `no workflow has '${tag.name}' in its tags; there are: ${[...known].sort().join(', ') || 'none'}`,
  );
}

/** Finds by key with one read: the id follows from workflow and key. */
async function startedWith(scheduler: Scheduler, key: string, filter: ListFilter): Promise<ListedPage> {
  const { workflow } = filter;
  if (workflow === undefined || indexFor(filter) !== 'list')
    throw refuse(
      'bad-request',
      'key needs workflow and takes no other filter: in a workflow it belongs to one execution',
    );
  const execution = await scheduler.ports.store.readExecution(idOfKey(scheduler, workflow, key));
  const { since = 0, until = Number.POSITIVE_INFINITY } = filter;
  const isFound =
    execution !== undefined &&
    isListed(execution, filter) &&
    execution.startedAt >= since &&
    execution.startedAt < until;
  return { items: isFound ? [execution] : [], orderedBy: 'startedAt' };
}

/** Open questions of executions that its steps run; read only if there may be some. */
export async function questionsBelow(
  { ports }: Scheduler,
  { execution, steps }: Snapshot,
): Promise<Bounded<InboxKey>> {
  const mayAsk =
    !isTerminal(execution.status) && Object.values(steps).some(({ children }) => hasOpenChildren(children));
  return mayAsk ? ports.store.openQuestions(execution.id) : { items: [] };
}

/** Open questions of all executions; read only if one of these may have some below it. */
export async function questionsBelowEach(
  { ports, workflows }: Scheduler,
  executions: readonly Execution[],
): Promise<Bounded<InboxKey>> {
  const alone = new Set(
    [...workflows.values()].flatMap(({ planHash, workflow: { plan } }) =>
      plan.steps.some(hasChildren) ? [] : [planHash],
    ),
  );
  const mayAsk = executions.some(({ status, plan }) => !isTerminal(status) && !alone.has(plan));
  return mayAsk ? ports.store.openQuestions() : { items: [] };
}
