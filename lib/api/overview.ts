/**
 * The answer of `GET /overview`: how many executions are open, at risk, waiting or ended without success, and
 * for whom or what they wait.
 *
 * Owns: the counts. Does not own: which items are counted, and the limit (`core/operators/list-filter.ts`),
 * the verdict (`health.ts`).
 *
 * The counts are of the last seconds, from the indexes only. With 10,000 open executions it reads some 400
 * units: about eight queries beside those of `/health`, two reads for each agent, one for each workflow, and
 * one for the waiting callers. If any execution ended without success, four queries for each workflow count
 * up to 10,000 starts.
 */

import type { EndedKey, OpenKey, Survey } from '../core/operators/list-filter.ts';
import type { InboxKey } from '../core/records/question.ts';
import type { PausedStarts } from '../core/holds/workflow-pause.ts';
import { isBuiltIn } from '../core/plan/built-in.ts';
import { type Plan, workflowIn } from '../core/plan/plan.ts';
import type { Receipts } from '../core/ports.ts';
import { OVERDUE_SAID_MS } from '../explain/situation.ts';
import { defined } from '../core/values/defined.ts';
import { atRiskSince } from '../core/records/risk.ts';
import type { Scheduler } from '../scheduler/start.ts';
import { showPause } from '../scheduler/holds.ts';
import { waitsNow } from '../scheduler/wait.ts';
import type { Lately, Overview, WorkflowCounts } from './deployment-answers.ts';
import type { AtRisk } from './findings.ts';
import { clockAhead, rateQueuesOf } from './agents.ts';
import { readHealth } from './health.ts';

/** The time in which ends without success are counted. */
const ENDED_WITHIN_MS = 86_400_000;
/** The period in which starts are counted for the share of those that ended without success. */
const LATELY_MS = 3_600_000;
/** The most codes that are named; the others are rare. */
const MOST_CODES = 20;

export async function overviewOf(scheduler: Scheduler, receipts?: Receipts): Promise<Overview> {
  const { store, clock } = scheduler.ports;
  const now = clock.now();
  const since = now - ENDED_WITHIN_MS;
  const startable = [...scheduler.workflows.keys()];
  const surveying = store.survey(since, startable, now - LATELY_MS).then(ofAuthors);
  const [survey, { health, breakers, atRisk }, pauses, waits, rateQueues] = await Promise.all([
    surveying,
    readHealth(
      scheduler,
      receipts,
      undefined,
      surveying.then(({ inbox }) => inbox),
    ),
    pausesOf(scheduler),
    waitsNow(scheduler),
    rateQueuesOf(scheduler, now),
  ]);
  const risky = riskyIn(survey.open, atRisk, now);
  const lately = latelyOf(survey, now - LATELY_MS);
  const { begun } = survey;
  const started = begun && { count: begun.count, ...defined({ atLeast: begun.atLeast }) };
  const { status, says, findings, oldestOverdueMs, missing, missingSince = {}, shards } = health;
  const sweeps = shards.flatMap(({ receipt }) => (receipt === undefined ? [] : [receipt.sweptAt]));
  return {
    at: now,
    health: { status, says, findings, oldestOverdueMs },
    ...openCounts(survey.open, risky, now),
    endedWithoutSuccess: { since, ...endedCounts(survey.ended), ...defined({ started }) },
    ...defined({ lately: lately?.all }),
    inbox: inboxCounts(survey.inbox),
    workflows: byWorkflow(scheduler, survey, risky).map((one) => ({
      ...one,
      ...defined({ lately: lately?.of(one.workflow), pause: pauses.get(one.workflow) }),
    })),
    breakers: breakers
      .filter(({ breaker }) => breaker.status !== 'closed')
      .map(({ agent, breaker }) => ({ agent, breaker })),
    ...(rateQueues.length === 0 ? {} : { rateQueues }),
    missing: Object.entries(missing ?? {}).map(([agent, waiting]) => ({
      agent,
      waiting,
      ...defined({ since: missingSince[agent] }),
    })),
    ...(sweeps.length === 0 ? {} : { sweptAt: Math.max(...sweeps) }),
    ...defined({ waits, clockAheadMs: clockAhead(scheduler) }),
  };
}

/** The survey without the workflows that every deployment contains; their questions are included. */
const ofAuthors = ({ open, ended, ...more }: Survey): Survey => ({
  open: { ...open, items: open.items.filter(({ workflow }) => !isBuiltIn(workflow)) },
  ended: { ...ended, items: ended.items.filter(({ workflow }) => !isBuiltIn(workflow)) },
  ...more,
});

/**
 * The executions at risk: among all open ones if all were counted, otherwise those that a search found,
 * because the rest may contain more.
 */
const riskyIn = ({ items, atLeast }: Survey['open'], found: AtRisk, now: number): Risky =>
  atLeast === undefined ? { items: items.filter((key) => atRiskSince(key, now) !== undefined) } : found;

interface Risky extends Pick<AtRisk, 'atLeast'> {
  readonly items: readonly { readonly workflow: string }[];
}

function openCounts(
  { items, atLeast }: Survey['open'],
  risky: Risky,
  now: number,
): Pick<Overview, 'open' | 'oldestOverdue'> {
  const [first] = items.toSorted((one, other) => one.wakeAt - other.wakeAt);
  const isOverdue = first !== undefined && first.wakeAt + OVERDUE_SAID_MS <= now;
  return {
    open: {
      count: items.length,
      ...(atLeast === undefined ? {} : { atLeast }),
      atRisk: risky.items.length,
      ...(risky.atLeast === undefined ? {} : { moreAtRisk: true }),
      byStatus: tally(items, ({ status }) => status),
    },
    ...(isOverdue
      ? { oldestOverdue: { executionId: first.executionId, workflow: first.workflow, wakeAt: first.wakeAt } }
      : {}),
  };
}

function endedCounts({ items, atLeast }: Survey['ended']): Omit<Overview['endedWithoutSuccess'], 'since'> {
  const codes = Object.entries(tally(items, ({ code }) => code)).map(([code, count]) => ({ code, count }));
  return {
    count: items.length,
    ...(atLeast === undefined ? {} : { atLeast }),
    byStatus: tally(items, ({ status }) => status),
    byCode: codes.toSorted((one, other) => other.count - one.count).slice(0, MOST_CODES),
  };
}

/** Undefined if nothing was started recently, or nothing ended without success in the counted time. */
function latelyOf({ begun, ended }: Survey, since: number): LatelyCounts | undefined {
  const { lately } = begun ?? {};
  if (lately === undefined || lately.items.length === 0) return undefined;
  const started = tally(lately.items, (workflow) => workflow);
  const isCounted = ({ workflow, startedAt }: EndedKey): boolean =>
    startedAt >= since && started[workflow] !== undefined;
  const bad = tally(ended.items.filter(isCounted), ({ workflow }) => workflow);
  const sum = (counts: Readonly<Record<string, number>>): number =>
    Object.values(counts).reduce((all, count) => all + count, 0);
  const atLeast = lately.atLeast ?? ended.atLeast;
  return {
    all: { since, started: sum(started), endedWithoutSuccess: sum(bad), ...defined({ atLeast }) },
    of: (workflow) => {
      const count = started[workflow];
      return count === undefined
        ? undefined
        : { started: count, endedWithoutSuccess: bad[workflow] ?? 0, ...defined({ atLeast }) };
    },
  };
}

interface LatelyCounts {
  readonly all: Lately;
  readonly of: (workflow: string) => WorkflowCounts['lately'];
}

function inboxCounts({ items, atLeast }: Survey['inbox']): Overview['inbox'] {
  const [next] = items.toSorted((one, other) => one.deadlineAt - other.deadlineAt);
  return {
    count: items.length,
    ...(atLeast === undefined ? {} : { atLeast }),
    byKind: tally<InboxKey, InboxKey['kind']>(items, ({ kind }) => kind),
    ...(next === undefined
      ? {}
      : { next: { executionId: next.executionId, kind: next.kind, deadlineAt: next.deadlineAt } }),
  };
}

/** The counts of workflows that can be started, and of those that have records. */
function byWorkflow(
  scheduler: Scheduler,
  { open, ended, inbox }: Survey,
  risky: Risky,
): readonly WorkflowCounts[] {
  const asking = new Set(
    inbox.items.flatMap(({ kind, executionId }) => (kind === 'callback' ? [] : above(executionId))),
  );
  const opens = grouped(open.items);
  const risks = tally(risky.items, ({ workflow }) => workflow);
  const ends = grouped(ended.items);
  const names = [...new Set([...scheduler.workflows.keys(), ...opens.keys(), ...ends.keys()])].sort();
  const known = workflowsWithin([...scheduler.workflows.values()].map(({ workflow }) => workflow.plan));
  return names.map((workflow) => {
    const keys = opens.get(workflow) ?? [];
    const current = scheduler.workflows.get(workflow)?.planHash;
    const plans = Object.entries(tally(keys, ({ plan }) => plan));
    return {
      workflow,
      ...(scheduler.workflows.has(workflow) ? {} : kindOfOther(known.has(workflow))),
      open: keys.length,
      waiting: keys.filter(({ status, executionId }) => status === 'waiting' || asking.has(executionId))
        .length,
      paused: keys.filter(({ status }) => status === 'paused').length,
      atRisk: risks[workflow] ?? 0,
      endedWithoutSuccess: ends.get(workflow)?.length ?? 0,
      plans: plans.map(([plan, count]) => ({ plan, open: count, isCurrent: plan === current })),
    };
  });
}

/** The execution and its parents, the root first. */
const above = (executionId: string): readonly string[] =>
  executionId.split('.').map((_part, at, parts) => parts.slice(0, at + 1).join('.'));

const kindOfOther = (isRun: boolean): Pick<WorkflowCounts, 'isChild' | 'isGone'> =>
  isRun ? { isChild: true } : { isGone: true };

/**
 * Workflows that can be started, and those that their steps run: one that only runs as a child counts as
 * deployed.
 */
const workflowsWithin = (plans: readonly Plan[]): ReadonlySet<string> =>
  new Set(
    plans.flatMap((plan) => [
      plan.workflow,
      ...workflowsWithin(plan.steps.flatMap((step) => workflowIn(step) ?? [])),
    ]),
  );

async function pausesOf(scheduler: Scheduler): Promise<ReadonlyMap<string, PausedStarts | undefined>> {
  const names = [...scheduler.workflows.keys()];
  return new Map(
    await Promise.all(names.map(async (name) => [name, (await showPause(scheduler, name)).pause] as const)),
  );
}

function grouped<Key extends OpenKey | EndedKey>(keys: readonly Key[]): ReadonlyMap<string, readonly Key[]> {
  const groups = new Map<string, Key[]>();
  for (const key of keys) {
    const group = groups.get(key.workflow);
    if (group === undefined) groups.set(key.workflow, [key]);
    else group.push(key);
  }
  return groups;
}

function tally<Key, Name extends string>(
  keys: readonly Key[],
  nameOf: (key: Key) => Name,
): Readonly<Partial<Record<Name, number>>> & Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(nameOf(key), (counts.get(nameOf(key)) ?? 0) + 1);
  return Object.fromEntries(counts) as Record<Name, number>;
}
