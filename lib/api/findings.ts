/**
 * Collects what is wrong with a deployment: overdue executions, missing agents, failing services, other
 * risks.
 *
 * Owns: which findings there are, and their limit. Does not own: the order and the words
 * (`explain/situation.ts`), the reads (`health.ts`, `agents.ts`).
 */

import { type CodeStart, startBehind } from '../explain/words.ts';
import { type Finding, worstFirst } from '../explain/situation.ts';
import type { Bounded } from '../core/operators/list-filter.ts';
import type { InboxKey } from '../core/records/question.ts';
import { defined } from '../core/values/defined.ts';
import { agentsWaitedFor, atRiskSince, isOverdue, riskNow, riskOf } from '../core/records/risk.ts';
import type { Execution, RiskReason } from '../core/records/state.ts';
import type { ConnectionTrouble } from '../core/values/server-troubles.ts';
import type { StorageTrouble } from '../core/values/server-troubles.ts';
import type { LostAttempts, MissingCount } from '../core/records/receipts.ts';
import { endOf, type WorkerEnds } from '../core/records/worker-ends.ts';
import type { Scheduler } from '../scheduler/start.ts';
import type { BreakerOf } from './agents.ts';

/** The most executions at risk that are read, those started last. */
const MOST_READ = 500;
const PAGE = 100;

/**
 * The executions that are at risk now, found by the index and checked by their own records. If there are
 * none, it is one query of each shard.
 */
export async function readAtRisk({ ports, workflows }: Scheduler, now: number): Promise<AtRisk> {
  const items: Execution[] = [];
  let cursor: string | undefined;
  do {
    const query = { atRiskAt: now, workflows: [...workflows.keys()], limit: PAGE, ...defined({ cursor }) };
    const page = await ports.store.list(query);
    items.push(...page.items.filter((one) => atRiskSince(riskOf(one), now) !== undefined));
    ({ cursor } = page);
  } while (cursor !== undefined && items.length < MOST_READ);
  return { items, ...(cursor === undefined ? {} : { atLeast: true }) };
}

export interface AtRisk {
  readonly items: readonly Execution[];
  readonly atLeast?: true;
}

export interface Facts extends CodeStart {
  readonly now: number;
  readonly clockAheadMs?: number;
  readonly storage?: StorageTrouble;
  readonly connections?: ConnectionTrouble;
  /** When the execution that has been overdue longest became due; undefined if none is overdue for long. */
  readonly overdueSince?: number;
  readonly sweptAt?: number;
  readonly missing: ReadonlyMap<string, MissingCount>;
  readonly breakers: readonly BreakerOf[];
  readonly atRisk: AtRisk;
  /** Attempts that were lost recently, by agent. */
  readonly lost: ReadonlyMap<string, LostAttempts>;
  /** Ends of shared processes that an agent caused. */
  readonly workerEnds?: readonly WorkerEnds[];
  /** Open questions, if they were read. */
  readonly asked?: Bounded<InboxKey>;
}

/** The findings, the worst first. */
export function findingsOf(facts: Facts): readonly Finding[] {
  const { now, overdueSince, sweptAt, missing, breakers, atRisk, lost, asked, workerEnds = [] } = facts;
  const risks = atRisk.items.map((one) => ({ one, ...riskNow(one, now) }));
  const waitsFor = ({ risk }: Risky): readonly string[] => (risk === undefined ? [] : agentsWaitedFor(risk));
  const held = (agent: string): readonly Execution[] =>
    risks.filter((risky) => waitsFor(risky).includes(agent)).map(({ one }) => one);
  const troubled = breakers.flatMap((one) => {
    const { agent } = one;
    const waiting = held(agent);
    const finding = missing.has(agent) ? undefined : agentFinding(one, waiting.length);
    return finding === undefined ? [] : [{ ...finding, ...counted(waiting, atRisk.atLeast) }];
  });
  const named = new Set([...missing.keys(), ...troubled.map(({ agent }) => agent)]);
  // If no supervisor is at work, that is the cause, whatever their records say.
  const overdue = overdueSince === undefined ? [] : atRisk.items.filter((one) => isOverdue(one, now));
  const others = risks.filter(
    (risky) => !overdue.includes(risky.one) && !waitsFor(risky).some((agent) => named.has(agent)),
  );
  const all: readonly Finding[] = [
    ...ofServer(facts),
    ...(overdueSince === undefined
      ? []
      : [
          {
            kind: 'overdue' as const,
            since: overdueSince,
            ...defined({ sweptAt }),
            ...counted(overdue, atRisk.atLeast),
          },
        ]),
    ...[...missing].map(([agent, { waiting, since }]) => ({
      kind: 'missing' as const,
      agent,
      ...defined({ since }),
      waiting,
      ...defined({ runsOutAt: firstOf(held(agent)) }),
    })),
    ...breakers.flatMap(({ agent, bugs }) => {
      if (bugs === undefined) return [];
      const { since, at, attempts, failure } = bugs;
      return [{ kind: 'bug' as const, agent, since, calls: attempts, lastAt: at, failure }];
    }),
    ...troubled,
    ...[...lost].map(([agent, { attempts, since, at, why, ...known }]) => {
      return { kind: 'lost' as const, agent, since, calls: attempts, lastAt: at, ...endOf(why), ...known };
    }),
    ...workerEnds.map(({ times, at, why, ...known }) => {
      return { kind: 'worker' as const, calls: times, lastAt: at, ...endOf(why), ...known };
    }),
    ...askedFindings(asked),
    ...byAgent(others, waitsFor).map(([agent, some]) => ({
      ...otherFinding(some, agent),
      ...counted(
        some.map(({ one }) => one),
        atRisk.atLeast,
      ),
    })),
  ];
  return worstFirst(all.map((one) => withClock(withStart(one, facts), facts)));
}

const ofServer = ({ storage, connections }: Facts): readonly Finding[] => [
  ...(storage === undefined ? [] : [{ kind: 'storage' as const, ...storage }]),
  ...(connections === undefined
    ? []
    : [{ kind: 'connections' as const, since: connections.since, calls: connections.refused }]),
];

const OF_CODE: ReadonlySet<Finding['kind']> = new Set(['bug', 'breaker', 'unanswered', 'lost', 'worker']);

const withStart = (one: Finding, start: CodeStart): Finding =>
  OF_CODE.has(one.kind) ? { ...one, ...startBehind(one.since, start) } : one;

const withClock = (one: Finding, { clockAheadMs }: Facts): Finding =>
  one.since === undefined && one.sweptAt === undefined ? one : { ...one, ...defined({ clockAheadMs }) };

/**
 * Findings about open incidents, whose default may undo work. Approvals and callbacks are normal and left
 * out.
 */
function askedFindings({ items, atLeast }: Bounded<InboxKey> = { items: [] }): readonly Finding[] {
  const incidents = items.filter(({ kind }) => kind !== 'approval' && kind !== 'callback');
  if (incidents.length === 0) return [];
  const since = Math.min(...incidents.map(({ openedAt }) => openedAt));
  const runsOutAt = Math.min(...incidents.map(({ deadlineAt }) => deadlineAt));
  return [{ kind: 'asked', since, waiting: incidents.length, ...defined({ atLeast }), runsOutAt }];
}

interface Risky {
  readonly one: Execution;
  readonly riskSince?: number;
  readonly risk?: RiskReason;
}

/** Groups the executions by the first agent that each waits for; those that wait for none form one group. */
function byAgent(
  risks: readonly Risky[],
  waitsFor: (risky: Risky) => readonly string[],
): readonly (readonly [string | undefined, readonly Risky[]])[] {
  const groups = new Map<string | undefined, Risky[]>();
  for (const risky of risks) {
    const [agent] = waitsFor(risky);
    groups.set(agent, [...(groups.get(agent) ?? []), risky]);
  }
  return [...groups];
}

/**
 * Returns the finding about an agent. With a closed breaker there is one only if executions wait while the
 * service is failing, or if the latest calls were not answered.
 */
function agentFinding(
  { agent, breaker, failure, failingSince, unanswered }: BreakerOf,
  waiting: number,
): Finding | undefined {
  const { status, since, pause } = breaker;
  if (pause !== undefined) {
    // A paused agent that nothing waits for is not a finding.
    return waiting === 0 ? undefined : { kind: 'paused', agent, since: pause.at, reason: pause.reason };
  }
  if (status === 'closed' && (waiting === 0 || failingSince === undefined))
    return unanswered && { kind: 'unanswered', agent, ...unanswered, ...defined({ failure }) };
  return { kind: 'breaker', agent, ...defined({ since: failingSince ?? since, failure }) };
}

const firstOf = (items: readonly Execution[]): number | undefined =>
  items.length === 0 ? undefined : Math.min(...items.map(({ deadlineAt }) => deadlineAt));

const counted = (
  items: readonly Execution[],
  atLeast: true | undefined,
): Pick<Finding, 'waiting' | 'atLeast' | 'runsOutAt'> => ({
  waiting: items.length,
  ...defined({ atLeast, runsOutAt: firstOf(items) }),
});

/** @param agent for which all of them wait */
function otherFinding(risks: readonly Risky[], agent: string | undefined): Finding {
  const counts = new Map<RiskReason['why'], number>();
  for (const { risk } of risks) if (risk !== undefined) counts.set(risk.why, (counts.get(risk.why) ?? 0) + 1);
  const [most] = [...counts].toSorted(([, one], [, other]) => other - one);
  const why = defined({ why: most?.[0] });
  if (agent === undefined) return { kind: 'at-risk', ...why };
  const since = Math.min(...risks.map(({ riskSince = Infinity }) => riskSince));
  return { kind: 'at-risk', ...why, agent, ...(since === Infinity ? {} : { since }) };
}
