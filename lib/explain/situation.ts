/**
 * The state of a deployment: a verdict of three words, and a sentence for each finding, the worst first. The
 * sentence says what is wrong, since when, how many executions wait, when the first of them runs out of time,
 * and what to do, or that nothing needs doing before then. The API, the command line and the page all use
 * these texts.
 *
 * Owns: the verdict, the order of the findings, and the text. Does not own: reading the facts
 * (`api/health.ts`), when an execution is at risk (`records/risk.ts`).
 */

import type { Failure } from '../core/values/failure.ts';
import type { RiskReason } from '../core/records/state.ts';
import { countText, durationText, pastText } from '../core/values/text.ts';
import { afterStart } from './words.ts';

/**
 * 'healthy': nothing is wrong. 'degraded': executions may not end well or in time without help, or an agent's
 * service does not answer. 'down': executions cannot continue at all, because nothing can be written, no
 * supervisor is at work or an agent is not deployed.
 */
export type Verdict = 'healthy' | 'degraded' | 'down';

/** The verdicts in words for readers. */
export const VERDICTS: Readonly<Record<Verdict, string>> = {
  healthy: 'healthy',
  degraded: 'degraded',
  down: 'down',
};

/** One fault, as facts. */
export interface Finding {
  /**
   * 'storage': the storage keeps no write, as on a full disk; known on one machine only. 'schedule-off': the
   * supervisors' schedule is disabled; known on this machine only. 'overdue': due work is not evaluated, so
   * no supervisor is at work. 'connections': the server refuses connections, because its process may open no
   * more files; known on one machine only. 'missing': the agent is not deployed. 'bug': the agent's code has
   * a bug, whatever its service does. 'breaker': the agent's service does not answer. 'unanswered': the
   * agent has answered none of a few calls to act, but no execution waits for it, for example because a
   * probe resolves each. 'lost': processes of the agent died or sent no heartbeat during an attempt.
   * 'worker': a process that several agents share has ended because of `agent` or, if that is unknown, one
   * of `oneOf`. 'paused': an operator has paused the agent's work. 'asked': incidents are open, as far as
   * they were read: `/health` reads none. 'at-risk': other executions that may not end well or in time; with
   * `agent`, all of them wait for it.
   */
  readonly kind:
    | 'storage'
    | 'schedule-off'
    | 'overdue'
    | 'connections'
    | 'missing'
    | 'bug'
    | 'breaker'
    | 'unanswered'
    | 'lost'
    | 'worker'
    | 'paused'
    | 'asked'
    | 'at-risk';
  readonly agent?: string;
  /**
   * When the fault began: the oldest work was due, the schedule was disabled, the service of a breaker began
   * to fail, the first write was lost, the first connection was refused, the first incident was opened, the
   * first attempt of a row was lost, or the first of the executions that wait for an agent became at risk.
   */
  readonly since?: number;
  /** How far the clock of these instants is ahead of its machine's clock, if the latter was set back. */
  readonly clockAheadMs?: number;
  /** When the running code began to run, if `since` follows soon after; only for faults of a single agent. */
  readonly startedAt?: number;
  /** When the running code was deployed, if `since` is soon after or just before; for the same faults. */
  readonly deployedAt?: number;
  /** For 'schedule-off' and 'overdue': the latest sweep that found something due. */
  readonly sweptAt?: number;
  /** For 'schedule-off': the address at which the local cloud takes its control calls. */
  readonly address?: string;
  /** For 'worker': the agents at work at those times, with the most frequent ones first. */
  readonly oneOf?: readonly string[];
  /** For 'lost': the execution with the latest lost attempt; its log may say why. */
  readonly executionId?: string;
  /** For 'lost': the file with the agent's code. */
  readonly file?: string;
  /** For 'lost': set if each attempt of the agent has its own process. */
  readonly isAlone?: true;
  /** The latest answer of the agent's service; the storage's answer to a write; the end of a process. */
  readonly failure?: Failure;
  /** The person who paused the agent, and the reason. */
  readonly reason?: string;
  /**
   * How many, at least: calls for 'unanswered' and 'bug', attempts for 'lost', ended processes for 'worker',
   * those refused for 'connections'.
   */
  readonly calls?: number;
  /** For 'lost', 'worker' and 'bug': when the latest attempt was lost, or the latest process ended. */
  readonly lastAt?: number;
  /** How many executions wait for the agent; for 'asked', how many incidents are open. */
  readonly waiting?: number;
  /** Set if there are more than `waiting`. */
  readonly atLeast?: true;
  /** When the first of these executions runs out of time, or is decided without an answer. */
  readonly runsOutAt?: number;
  /** The most frequent reason; only for 'at-risk'. */
  readonly why?: RiskReason['why'];
}

const ORDER: readonly Finding['kind'][] = [
  'storage',
  'schedule-off',
  'overdue',
  'connections',
  'missing',
  'bug',
  'breaker',
  'unanswered',
  'lost',
  'worker',
  'paused',
  'asked',
  'at-risk',
];
/** How long work may be due before it is called overdue: a supervisor sweeps every two seconds. */
export const OVERDUE_SAID_MS = 5_000;
/** Up to this many lost processes are a minor finding: a supervisor handles them. */
const FEW_LOST = 2;
const DOWN: readonly Finding['kind'][] = ['storage', 'schedule-off', 'overdue', 'missing'];

/** Sorts the findings, worst first; within a kind, the one with the most waiting executions comes first. */
export const worstFirst = (findings: readonly Finding[]): readonly Finding[] =>
  findings.toSorted(
    (one, other) =>
      ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind) || (other.waiting ?? 0) - (one.waiting ?? 0),
  );

/** True if the finding is mentioned but delays no work. */
const isMinor = ({ kind, calls = 0 }: Finding): boolean =>
  (kind === 'lost' && calls <= FEW_LOST) || (kind === 'worker' && calls === 1);

export function verdictOf(findings: readonly Finding[]): Verdict {
  if (findings.some(({ kind }) => DOWN.includes(kind))) return 'down';
  return findings.every(isMinor) ? 'healthy' : 'degraded';
}

/**
 * Says the worst finding in one sentence, and how many others there are.
 * @param findings the worst first
 */
export function situationText(findings: readonly Finding[], now: number): string {
  const [worst, ...others] = findings;
  if (worst === undefined) return 'Nothing is overdue or at risk, and each agent that is needed is there.';
  const more = others.length === 0 ? '' : ` And ${others.length} more.`;
  return `${findingText(worst, now)}${more}`;
}

/** Turns a command line into the form in which the reader types it. */
export type Typed = (line: string) => string;
const plainly: Typed = (line) => `npx steadfast ${line}`;

/**
 * Says one finding in a sentence.
 * @param alone true if no supervisor is at work, so that no work continues by itself
 */
export function findingText(finding: Finding, now: number, typed: Typed = plainly, alone = false): string {
  const parts = [WHAT[finding.kind](finding, now), waitingText(finding), timeLeft(finding, now)];
  const said = parts.filter((part) => part !== '').join('; ');
  const isHeldUp = alone && BY_SUPERVISOR.includes(finding.kind) && finding.waiting !== 0;
  const needsOne = isHeldUp ? ', once a supervisor is at work again' : '';
  return `${said}; ${REMEDY[finding.kind](finding, typed)}${needsOne}.`;
}

/** True if the findings show that no supervisor is at work. */
export const isUnsupervised = (findings: readonly Finding[]): boolean =>
  findings.some(({ kind }) => kind === 'schedule-off' || kind === 'overdue');

/** Findings that need a supervisor to continue the work. */
const BY_SUPERVISOR: readonly Finding['kind'][] = ['missing', 'breaker', 'lost', 'paused', 'at-risk'];

const WHAT: Readonly<Record<Finding['kind'], (finding: Finding, now: number) => string>> = {
  storage: (finding, now) => `No write has been stored${since(finding, now)}${answering(finding)}`,
  overdue: (finding, now) =>
    `No supervisor is at work: nothing that is due has been evaluated${since(finding, now)}${swept(finding, now)}`,
  'schedule-off': (finding, now) =>
    `The supervisors' schedule ${finding.since === undefined ? 'is' : 'has been'} off${since(finding, now)}${swept(finding, now)}`,
  connections: (finding, now) =>
    `The server refused ${counted({ waiting: finding.calls ?? 1 }, 'connection')}${since(finding, now)}`,
  missing: (finding, now) =>
    `${named(finding)} ${finding.since === undefined ? 'is not' : 'has not been'} deployed${since(finding, now)}`,
  bug: (finding, now) =>
    `${upper(finding.failure?.message ?? `a bug in agent '${finding.agent ?? ''}'`)}; it has ended at least ${counted({ waiting: finding.calls ?? 1 }, 'attempt')}${since(finding, now)}${latest(finding, now)}`,
  breaker: (finding, now) => `${named(finding)} has been failing${since(finding, now)}${answering(finding)}`,
  unanswered: (finding, now) =>
    `${named(finding)} has answered none of at least ${finding.calls ?? 1} calls${since(finding, now)}${answering(finding)}`,
  lost: (finding, now) =>
    `${counted({ waiting: finding.calls ?? 1 }, 'attempt')} of agent '${finding.agent ?? ''}' ended without a report${since(finding, now)}, as ${finding.calls === 1 ? 'its process' : 'their processes'} died or went silent${latest(finding, now)}${ending(finding)}`,
  worker: (finding, now) =>
    `A process that several agents share has ended ${times(finding)}${since(finding, now)}${latest(finding, now)}${ending(finding)}, ${culprit(finding)}`,
  paused: (finding, now) =>
    `${named(finding)} ${finding.since === undefined ? 'is' : 'has been'} paused${since(finding, now)}${finding.reason === undefined ? '' : `: ${finding.reason}`}`,
  asked: (finding, now) =>
    `${counted(finding, 'incident')} ${finding.waiting === 1 ? 'has' : 'have'} been open${since(finding, now)}`,
  'at-risk': atRiskText,
};

const REMEDY: Readonly<Record<Finding['kind'], (finding: Finding, typed: Typed) => string>> = {
  storage: () => 'fix that and nothing else: executions continue by themselves with the next write',
  overdue: () => "see the supervisor's log and its schedule",
  'schedule-off': ({ address = '' }) =>
    `enable it (curl -X POST ${address}/_local/schedules/supervisor/enable): nothing that waits for a time or a retry, or whose agent died, continues without it`,
  connections: () => 'allow its process more open files (ulimit -n), or let fewer callers wait at once',
  missing: () => 'deploy it again: what waits for it continues within a minute',
  bug: ({ agent = '' }, typed) =>
    `its service is not to blame: deploy a fixed version of '${agent}'; what still has attempts left continues by itself, the others: ${typed('list --code bug')}`,
  breaker: ({ agent = '', waiting = 0, failure }, typed) =>
    waiting === 0
      ? 'nothing waits for it'
      : `${blame(failure)}: they continue by themselves once it answers (at once: ${typed(`agents try-now ${agent}`)})`,
  unanswered: ({ waiting = 0, failure }) =>
    `${waiting === 0 ? 'no execution is at risk because of it; ' : ''}${endsItself(failure) ? ITS_PROCESS : 'fix its service, or its timeout where answers come late'}: the first answer ends this`,
  lost: (finding, typed) =>
    `${isMinor(finding) ? '' : `${mend(finding, typed)}; `}a supervisor probes or repeats each that has a try left; what has ended for want of one: ${typed('list --status bad')}`,
  worker: (finding) => `${apart(finding)}; what was interrupted continues by itself`,
  paused: () => 'resume it: what waits for it continues by itself',
  asked: (_, typed) => `answer: ${typed('incidents')}`,
  'at-risk': (finding, typed) =>
    sharedAgent(finding)?.remedy(typed) ?? `for the reason of each: ${typed('list --at-risk')}`,
};

interface SharedAgent {
  readonly what: string;
  readonly remedy: (typed: Typed) => string;
}

const AGAIN = (): string => 'nothing is to be done: a supervisor sends each to it again';

/** The words for executions that wait for one agent whose service is not known to fail now. */
const SHARED_AGENT: Partial<Readonly<Record<RiskReason['why'], SharedAgent>>> = {
  breaker: { what: 'failed and is called again', remedy: AGAIN },
  paused: { what: 'was paused and is called again', remedy: AGAIN },
  'not-deployed': { what: 'was missing and is called again', remedy: AGAIN },
  unclaimed: {
    what: 'has taken no work',
    remedy: () => 'see its log (a process may end before it takes any) and its concurrency',
  },
  'cannot-tell': {
    what: 'has not found out by its probes what was done',
    remedy: (typed) =>
      `see what its service answers to them: ${typed('list --at-risk')}, then ${typed('why <id>')}`,
  },
};

const sharedAgent = ({ agent, why }: Finding): SharedAgent | undefined =>
  agent === undefined || why === undefined ? undefined : SHARED_AGENT[why];

const upper = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
const OUR_RATE =
  "we call its service more often than it allows: set the agent's 'rate' (agentSettings) to less, or ask for more";
const ITS_PROCESS =
  'its service is not to blame: deploy a version of the agent that does not end its own process';
const endsItself = (failure: Failure | undefined): boolean => failure?.code === 'process-died';
const blame = (failure: Failure | undefined): string =>
  endsItself(failure) ? ITS_PROCESS : isOurRate(failure) ? OUR_RATE : 'fix its service and nothing else';
const isOurRate = (failure: Failure | undefined): boolean =>
  failure !== undefined &&
  /\b429\b|too many requests|rate.?limit|throttl/i.test(`${failure.code} ${failure.message}`);

const named = ({ agent = '' }: Finding): string => `Agent '${agent}'`;
const since = ({ since: at, clockAheadMs: aheadMs, ...start }: Finding, now: number): string =>
  at === undefined ? '' : ` since ${pastText(at, now, aheadMs)}${afterStart(at, start)}`;
const swept = ({ sweptAt, clockAheadMs: aheadMs }: Finding, now: number): string =>
  sweptAt === undefined ? '' : `, no sweep since ${pastText(sweptAt, now, aheadMs)}`;
const answering = ({ failure }: Finding): string =>
  failure === undefined ? '' : ` (${failure.code}: ${failure.message})`;

const ending = ({ failure }: Finding): string => (failure === undefined ? '' : ` (${failure.message})`);

const times = ({ calls = 1 }: Finding): string => ['', 'once', 'twice'][calls] ?? `${calls} times`;

/** The maximum number of names in a list. */
const MOST_NAMED = 5;

function culprit({ agent, oneOf = [] }: Finding): string {
  if (agent !== undefined) return `by what agent '${agent}' did after its attempt`;
  if (oneOf.length === 0) return 'while no agent was at work';
  const names = oneOf.slice(0, MOST_NAMED).map((name) => `'${name}'`);
  const more = oneOf.length > names.length ? ` and ${oneOf.length - names.length} more` : '';
  return `by ${names.length === 1 ? 'what was at work in it' : 'one of those at work in it'}: ${names.join(', ')}${more}`;
}

/** Names the faulty agent, and how to keep it apart from the others. */
const apart = ({ agent, calls = 1 }: Finding): string =>
  agent !== undefined
    ? `fix its code, or set 'isolate: true' where '${agent}' is declared: then it ends no other's process`
    : calls === 1
      ? 'nothing is to be done: an agent at work in another end gets processes of its own, which name the one at fault'
      : "an agent at work in two of them has processes of its own now, so that the next end names the one at fault: mend that one, or set 'isolate: true' where it is declared";

function mend({ agent = '', file, executionId, isAlone }: Finding, typed: Typed): string {
  const look = executionId === undefined ? '' : `see what it logged last (${typed(`logs ${executionId}`)}), `;
  const isolate = isAlone
    ? ''
    : ", or set 'isolate: true' where it is declared: then a death is known at once";
  return `${look}fix ${file ?? `agent '${agent}'`}${isolate}`;
}

const latest = ({ lastAt, since: first }: Finding, now: number): string =>
  lastAt === undefined || lastAt === first
    ? ''
    : `, the latest ${durationText(Math.max(0, now - lastAt))} ago`;

const counted = ({ waiting = 0, atLeast }: Pick<Finding, 'waiting' | 'atLeast'>, what: string): string =>
  `${countText(waiting, atLeast)} ${what}${waiting === 1 ? '' : 's'}`;
const executions = (finding: Finding): string => counted(finding, 'execution');

function atRiskText(finding: Finding, now: number): string {
  const shared = sharedAgent(finding);
  if (shared !== undefined)
    return `${named(finding)} ${shared.what}${shared.remedy === AGAIN ? '' : since(finding, now)}`;
  const { why, waiting } = finding;
  const said = `${executions(finding)} may not end well or in time`;
  const most = waiting === 1 ? 'because' : 'mostly because';
  return `${upper(said)}${why === undefined ? '' : `, ${most} ${RISK[why]}`}`;
}

function waitingText(finding: Finding): string {
  const { kind, waiting } = finding;
  if (waiting === undefined || waiting === 0) return '';
  if (kind === 'schedule-off') return `${executions(finding)} ${waiting === 1 ? 'is' : 'are'} open`;
  if (kind === 'asked' || (kind === 'at-risk' && sharedAgent(finding) === undefined)) return '';
  return `${executions(finding)} ${waiting === 1 ? 'waits' : 'wait'}${kind === 'overdue' ? '' : ' for it'}`;
}

const timeLeft = ({ kind, runsOutAt, waiting = 0 }: Finding, now: number): string => {
  if (runsOutAt === undefined) return '';
  const which = waiting === 1 ? 'it' : 'the first';
  if (kind === 'asked')
    return `without an answer, ${which} is decided ${runsOutAt > now ? `in ${durationText(runsOutAt - now)}` : 'now'}`;
  return runsOutAt > now
    ? `${which} reaches its deadline in ${durationText(runsOutAt - now)}`
    : `${which} reached its deadline ${durationText(now - runsOutAt)} ago`;
};

/** The reason why an execution is at risk, as it follows 'because'. */
const RISK: Readonly<Record<RiskReason['why'], string>> = {
  breaker: 'its agent is failing',
  paused: 'its agent is paused',
  unclaimed: 'no process has taken its step',
  'not-deployed': 'its agent is not deployed',
  'cannot-tell': 'its outcome cannot be found out',
  'last-try': 'nothing is left to try after this',
  late: 'three quarters of its time are over',
  overdue: 'no supervisor has evaluated it',
};

/** Prints 'its agent is failing (confirm-booking)'. */
export const riskText = ({ why, agent }: RiskReason): string =>
  `${RISK[why]}${agent === undefined ? '' : ` (${agent})`}`;
