/**
 * The text for people about a deployment as a whole: its agents, its health.
 *
 * Does not own: the text about executions and workflows (`print.ts`).
 */

import type { Agents, AgentTriedNow, AgentView, MissingAgent } from '../api/agent-answers.ts';
import type { AuditHealth, Health, Lately, Overview, WorkflowPauseView } from '../api/deployment-answers.ts';
import {
  type ExecutionView,
  findingText,
  isUnsupervised,
  type PauseView,
  situationText,
  type Typed,
  VERDICTS,
} from '../api/answers.ts';
import { OVERDUE_SAID_MS } from '../api/answers.ts';
import { byText, countText, durationText, pastText, printable, table, timeText } from './text.ts';

type RateQueue = NonNullable<AgentView['rateQueue']>;

interface Trouble {
  readonly lastError?: AgentView['lastError'] | undefined;
  readonly bugs?: AgentView['bugs'] | undefined;
}

/** Returns the latest failure: of the agent's service, or a bug in its code. */
export const latestFailure = ({ lastError, bugs }: Trouble): AgentView['lastError'] =>
  bugs !== undefined && bugs.at >= (lastError?.at ?? 0) ? { ...bugs.failure, at: bugs.at } : lastError;

/** Prints the latest answer of a service, and what happened to the agent's processes. */
export function troubleText(
  { lastError, lost, bugs }: Trouble & Pick<AgentView, 'lost'>,
  now: number,
  aheadMs?: number,
): string {
  const ago = (at: number): string => `${durationText(Math.max(0, now - at))} ago: `;
  const last = latestFailure({ lastError, bugs });
  const said = last === undefined ? '' : `${ago(last.at)}${last.message}`;
  if (lost === undefined) return said;
  const died = `${ago(lost.at)}${lostText(lost, now, aheadMs)}`;
  if (said === '') return died;
  return lost.at > (last?.at ?? 0) ? `${died}; ${said}` : `${said}; ${died}`;
}

/** Prints how many attempts ended without a report. */
export const lostText = (
  { attempts, since }: NonNullable<AgentView['lost']>,
  now: number,
  aheadMs?: number,
): string =>
  attempts === 1
    ? 'an attempt ended without a report, as its process died or went silent'
    : `${attempts} attempts since ${pastText(since, now, aheadMs)} ended without a report, as their processes died or went silent`;

export function agentsText({ items, missing, examined, clockAheadMs }: Agents, now: number): string {
  const gone = missing.map((agent) => `${missingLine(agent, examined, now, clockAheadMs)}\n`).join('');
  if (items.length === 0) return `No agents.\n${gone}`;
  const isRated = items.some(({ rateQueue }) => rateQueue !== undefined);
  const rows = items.map(({ name, queue, rateQueue, breaker, ...trouble }) => [
    name,
    ...(queue === undefined ? ['?', '?', '?'] : [queue.waiting, queue.underWork, queue.delayed].map(String)),
    ...(isRated ? [rateQueue === undefined ? '' : rateQueueText(rateQueue, now)] : []),
    breakerText(breaker, now),
    troubleText(trouble, now, clockAheadMs),
  ]);
  const rate = isRated ? ['FOR ITS RATE'] : [];
  const shown = table(['AGENT', 'WAITING', 'IN PROGRESS', 'DELAYED', ...rate, 'BREAKER', 'LAST ERROR'], rows);
  return gone === '' ? shown : `${shown}\n${gone}`;
}

/** Prints the attempts that wait for their turn by an agent's rate: 'about 120 (2/s), the last in 1 min'. */
export const rateQueueText = ({ waiting, perSecond, lastTurnAt }: RateQueue, now: number): string =>
  `about ${countText(waiting)} (${Number(perSecond.toPrecision(3))}/s), the last in ${durationText(lastTurnAt - now)}`;

/** Prints an agent that is not deployed: which workflows need it, since when, and what to do. */
export function missingLine(
  { name, waiting, since, planned }: MissingAgent,
  examined: number,
  now: number,
  aheadMs?: number,
): string {
  const needs = [
    ...(waiting === 0
      ? []
      : [
          `${waiting} ${waiting === 1 ? 'execution waits' : 'executions wait'} for it now${sinceText(since, now, aheadMs)}`,
        ]),
    ...(planned === 0 ? [] : [`${planned} of ${examined} examined open executions have it in their plan`]),
  ];
  return `No agent '${name}' is deployed: ${needs.join('; ')}. Deploy it again until they have ended; the waiting executions continue within a minute.`;
}

/**
 * Prints since when executions have waited for an agent that is not deployed, as far as supervisors noticed.
 */
export const sinceText = (since: number | undefined, now: number, aheadMs?: number): string =>
  since === undefined ? '' : `, the first since ${pastText(since, now, aheadMs)}`;

/** Prints what continues during a pause of an execution. */
export const underWayText = ({ underWay }: Pick<PauseView, 'underWay'>): string =>
  underWay === undefined
    ? 'for some seconds an attempt may still begin'
    : underWay === 0
      ? 'nothing is under way'
      : underWay === 1
        ? '1 attempt is under way'
        : `${underWay} attempts are under way`;

/** Prints the time that a paused execution has left: its deadline moves with the pause. */
export function leftAfterPause({
  status,
  deadlineAt,
  pauses,
}: Pick<ExecutionView, 'status' | 'deadlineAt' | 'pauses'>): string | undefined {
  const pause = status === 'paused' ? pauses?.at(-1) : undefined;
  return pause && `${durationText(Math.max(0, deadlineAt - pause.at))} after the pause ends`;
}

/** Prints since when something is paused, by whom and why. */
export const pauseText = (pause: WorkflowPauseView['pause'], now: number): string =>
  pause === undefined
    ? 'not paused'
    : `paused for ${durationText(Math.max(0, now - pause.at))}${byText(pause.by)}: ${pause.reason}`;

export function breakerText(
  { status, since, until, trialUntil, pause }: AgentView['breaker'],
  now: number,
): string {
  if (pause !== undefined) return pauseText(pause, now);
  if (since === undefined) return status;
  const rest = until === undefined ? '' : `, ${durationText(Math.max(0, until - now))} more`;
  const trial = trialUntil === undefined ? '' : ', a trial is under way';
  return `${status} for ${durationText(now - since)}${rest}${trial}`;
}

/**
 * Prints the consequences of calling an agent now.
 * @param typed turns a command line into what a person types
 */
export function triedNowText(
  { agent, breaker, woken, dueAt, first, atLeast }: AgentTriedNow,
  now: number,
  typed: Typed,
): string {
  const { status, trialUntil } = breaker;
  if (status === 'paused')
    return `Nothing is called while it is paused; resume it: ${typed(`resume-agent ${agent}`)}`;
  if (trialUntil !== undefined)
    return `A trial is under way, until ${timeText(trialUntil)} at the latest; if it is answered, the breaker closes`;
  const again = typed(`agents try-now ${agent}`);
  const soon = `in about ${durationText(Math.max(0, (dueAt ?? now) - now))}`;
  if (status === 'closed') {
    if (first === undefined)
      return `Its breaker is closed, and ${atLeast ? 'nothing was found that waits' : 'nothing waits'} for it: there is nothing to do`;
    const more = atLeast ? `; more may wait: ${again}` : '';
    return `Its breaker is closed; ${woken} ${woken === 1 ? 'step that still waits is' : 'steps that still wait are'} sent ${soon}${more}`;
  }
  if (first === undefined)
    return `${atLeast ? 'Nothing was found that waits' : 'Nothing waits'} for it: the next step that needs it is the trial`;
  return `Step ${first.step} of ${first.executionId} is the trial, ${soon}: if it is answered, the breaker closes, and the others follow within minutes, or at once with: ${again}`;
}

/** @param typed turns a command line into what a person types */
export function healthText(health: Health, now: number, typed?: Typed): string {
  const { shards, audit } = health;
  const rows = shards.map(({ shard, overdueMs, receipt }) => [
    String(shard),
    overdueMs < OVERDUE_SAID_MS ? '' : durationText(overdueMs),
    receipt === undefined ? '' : `${durationText(Math.max(0, now - receipt.sweptAt))} ago`,
    receipt === undefined ? '' : String(receipt.due),
    receipt === undefined ? '' : String(receipt.failed),
  ]);
  const parts = [
    situationLines(health, now, typed).join('\n'),
    ...(rows.length === 0
      ? []
      : [table(['SHARD', 'OVERDUE', 'LAST RECEIPT', 'DUE', 'FAILED'], rows).trimEnd()]),
    ...(audit === undefined ? [] : [auditText(audit, now)]),
  ];
  return `${parts.join('\n\n')}\n`;
}

/**
 * Returns the verdict with the worst finding, then a line for each other finding.
 * @param typed turns a command line into what a person types
 */
export function situationLines(
  { status, findings }: Pick<Health, 'status' | 'findings'>,
  now: number,
  typed?: Typed,
): readonly string[] {
  const alone = isUnsupervised(findings);
  const [worst, ...others] = findings;
  const says = worst === undefined ? situationText(findings, now) : findingText(worst, now, typed, alone);
  const lines = [`${VERDICTS[status]}: ${says}`, ...others.map((one) => findingText(one, now, typed, alone))];
  return lines.map(printable);
}

function auditText({ auditedAt, pass, whole }: AuditHealth, now: number): string {
  const of = ({ scanned, healed, removed, failed }: AuditHealth['pass']): string =>
    `${scanned} records, ${healed} healed, ${removed} removed, ${failed} failed`;
  const last = whole === undefined ? 'no complete pass yet' : `last complete pass: ${of(whole)}`;
  return `audit: ran ${durationText(Math.max(0, now - auditedAt))} ago; ${last}; this pass: ${of(pass)}`;
}

/** Prints how many callers wait for an execution's end, since when, how many were refused, and what to do. */
export function waitsText(
  { count, since, refused }: NonNullable<Overview['waits']>,
  now: number,
  aheadMs?: number,
): string {
  const ago = (at: number): string => pastText(at, now, aheadMs);
  const calls = `${count} ${count === 1 ? 'call waits' : 'calls wait'} for the end of an execution`;
  const says = `${calls}${since === undefined ? '' : ` since ${ago(since)}`}`;
  if (refused === undefined) return `${says}; there is nothing to do: other calls have room`;
  const more = `at least ${refused.calls.toLocaleString('en')} more were answered at once since ${ago(refused.since)}`;
  const last = `the last ${durationText(Math.max(0, now - refused.at))} ago`;
  return `${says}; ${more}, ${last}, because no more may wait at a time; other calls have room, but let these clients ask less often, or listen to the events of ends`;
}

/** Prints how many of the executions started recently ended without success: '16 of 160 (10 %)'. */
export function latelyText({ started, endedWithoutSuccess: bad, atLeast }: Omit<Lately, 'since'>): string {
  const share = bad === 0 || atLeast ? '' : ` (${Math.max(1, Math.round((100 * bad) / started))} %)`;
  return `${bad === 0 ? '0' : countText(bad, atLeast)} of ${countText(started, atLeast)}${share}`;
}

/** Returns the names of those counts of workflows that are lower bounds. */
export const boundsOf = ({
  open: { atLeast, moreAtRisk },
  inbox,
  endedWithoutSuccess,
}: Overview): Readonly<Record<Bounded, true | undefined>> => ({
  open: atLeast,
  waiting: atLeast ?? inbox.atLeast,
  paused: atLeast,
  atRisk: moreAtRisk,
  endedWithoutSuccess: endedWithoutSuccess.atLeast,
});

type Bounded = 'open' | 'waiting' | 'paused' | 'atRisk' | 'endedWithoutSuccess';
