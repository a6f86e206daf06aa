/**
 * Prints the overview on one screen.
 *
 * Does not own: the counts (`api/overview.ts`).
 */

import type { Overview } from '../lib/api/deployment-answers.ts';
import {
  boundsOf,
  breakerText,
  latelyText,
  pauseText,
  rateQueueText,
  sinceText,
  situationLines,
  waitsText,
} from '../lib/view/deployment.ts';
import { countText, durationText, type Fact, factLines, printable, table } from '../lib/view/text.ts';

/** @param next completes a command line with the global options */
export function overviewText(overview: Overview, next: (line: string) => string): string {
  const { health, at, open, clockAheadMs } = overview;
  const facts: Fact[] = [
    ...situationLines(health, at, next).map((line, index): Fact => [index === 0 ? 'health' : '', line]),
    ...sweptFact(overview),
    ...overview.breakers.map(
      ({ agent, breaker }): Fact => ['breaker', `agent '${agent}': ${breakerText(breaker, at)}`],
    ),
    ...(overview.rateQueues ?? []).map(
      ({ agent, ...queue }): Fact => ['for its rate', `agent '${agent}': ${rateQueueText(queue, at)}`],
    ),
    ...overview.missing.map(
      ({ agent, waiting, since }): Fact => [
        'missing',
        `agent '${agent}' is not deployed; ${waiting} wait for it${sinceText(since, at, clockAheadMs)}`,
      ],
    ),
    ['at risk', withNext(open.atRisk, open.moreAtRisk, next('list --at-risk'))],
    ['open', openText(overview, next('list --status open'))],
    ...overdueFact(overview),
    ['ended without success', badText(overview, next(`list ${badFilter(overview)}`))],
    ...latelyFact(overview),
    ['inbox', inboxText(overview, next('incidents'))],
  ];
  if (overview.waits !== undefined)
    facts.push(['waiting clients', waitsText(overview.waits, at, clockAheadMs)]);
  facts.push(...pauseFacts(overview), ...oldPlanFacts(overview, next));
  return `${factLines(facts)}${workflowsText(overview, next('list --workflow <name> --status open'))}`;
}

const listed = (counts: Readonly<Partial<Record<string, number>>>, atLeast: true | undefined): string =>
  Object.entries(counts)
    .map(([name, count = 0]) => `${countText(count, atLeast)} ${printable(name)}`)
    .join(', ');

const withNext = (count: number, atLeast: true | undefined, command: string): string =>
  count === 0 ? countText(count, atLeast) : `${countText(count, atLeast)}: ${command}`;

/** When a supervisor last found due work. Without due work it records nothing. */
const sweptFact = ({ sweptAt, at }: Overview): Fact[] =>
  sweptAt === undefined
    ? []
    : [['swept', `a supervisor last found work ${durationText(Math.max(0, at - sweptAt))} ago`]];

function openText({ open: { count, atLeast, byStatus } }: Overview, command: string): string {
  return count === 0 ? '0' : `${countText(count, atLeast)}: ${listed(byStatus, atLeast)}: ${command}`;
}

/** The filter, limited to the counted time. */
const badFilter = ({ at, endedWithoutSuccess: { since } }: Overview): string =>
  `--status bad --since ${Math.round((at - since) / 3_600_000)}h`;

const pauseFacts = ({ workflows, at }: Overview): Fact[] =>
  workflows.flatMap(({ workflow, pause }) =>
    pause === undefined ? [] : [['paused', `starts of '${workflow}': ${pauseText(pause, at)}`] as const],
  );

/** The most old plans that are listed; the table counts all. */
const MOST_OLD_PLANS = 5;

const oldPlanFacts = ({ workflows, open: { atLeast } }: Overview, next: (line: string) => string): Fact[] =>
  workflows
    .flatMap(({ workflow, plans }) =>
      plans.filter(({ isCurrent }) => !isCurrent).map((plan) => ({ workflow, ...plan })),
    )
    .toSorted((one, other) => other.open - one.open)
    .slice(0, MOST_OLD_PLANS)
    .map(
      ({ workflow, plan, open }): Fact => [
        'old plan',
        `${countText(open, atLeast)} of '${workflow}': ${next(`list --plan ${plan}`)}`,
      ],
    );

function overdueFact({ oldestOverdue, at }: Overview): Fact[] {
  if (oldestOverdue === undefined) return [];
  const { executionId, workflow, wakeAt } = oldestOverdue;
  return [['overdue longest', `${executionId} (${workflow}), for ${durationText(at - wakeAt)}`]];
}

function badText({ endedWithoutSuccess, at }: Overview, command: string): string {
  const { count, atLeast, byCode, started, since } = endedWithoutSuccess;
  const within = `in the last ${durationText(at - since)}`;
  const of =
    started === undefined ? '' : ` (${countText(started.count, started.atLeast)} were started in that time)`;
  if (count === 0) return `0 ${within}`;
  const codes = Object.fromEntries(byCode.map((one) => [one.code, one.count]));
  return `${countText(count, atLeast)} ${within}${of}: ${listed(codes, atLeast)}: ${command}`;
}

const latelyFact = ({ lately, at }: Overview): Fact[] =>
  lately === undefined
    ? []
    : [['', `${latelyText(lately)} of those started in the last ${durationText(at - lately.since)}`]];

function inboxText({ inbox: { count, atLeast, byKind, next }, at }: Overview, command: string): string {
  if (count === 0) return '0';
  const first =
    next === undefined
      ? ''
      : `; ${next.executionId} expires first, ${next.deadlineAt > at ? `in ${durationText(next.deadlineAt - at)}` : 'now'}`;
  return `${countText(count, atLeast)}: ${listed(byKind, atLeast)}${first}: ${command}`;
}

function workflowsText(overview: Overview, command: string): string {
  const { workflows } = overview;
  if (workflows.length === 0) return '';
  const bounds = boundsOf(overview);
  const rows = workflows.map(({ workflow, plans, lately, ...counts }) => [
    workflow,
    ...COLUMNS.map((name) => countText(counts[name], bounds[name])),
    lately === undefined ? '' : latelyText(lately),
    oldPlansText(plans, bounds.open),
  ]);
  const head = [
    'WORKFLOW',
    'OPEN',
    'WAITING',
    'PAUSED',
    'AT RISK',
    'ENDED WITHOUT SUCCESS',
    'LAST HOUR',
    'OLD PLANS',
  ];
  return `\n${table(head, rows)}\nFor one workflow: ${command} (or --at-risk, or ${badFilter(overview)})\n`;
}

const COLUMNS = ['open', 'waiting', 'paused', 'atRisk', 'endedWithoutSuccess'] as const;

function oldPlansText(plans: Overview['workflows'][number]['plans'], atLeast: true | undefined): string {
  const old = plans.filter(({ isCurrent }) => !isCurrent);
  const open = old.reduce((sum, plan) => sum + plan.open, 0);
  return old.length === 0 ? '' : `${countText(open, atLeast)} of ${old.length}`;
}
