/**
 * The answer of `GET /agents`: each agent's queue, breaker and latest failure; and the agents that open
 * executions need and that are not deployed.
 *
 * Owns: the answer, which leaves out what cannot be read. Does not own: the rules (`core/step/breaker.ts`).
 *
 * It costs one request to SQS and two reads for each agent (breaker, rate); for missing agents, a query for
 * each shard and a read for each of the first 100 open executions.
 */

import { type CodeStart, startBehind } from '../explain/words.ts';
import type { Breakers } from '../explain/deferred.ts';
import { type Breaker, notBeforeOf } from '../core/step/breaker.ts';
import { laneOf } from '../core/plan/lane.ts';
import { type Bugs, bugsNow } from '../core/values/bugs.ts';
import { type Unanswered, unansweredNow } from '../core/records/unanswered.ts';
import { agentsNamed } from '../core/plan/child-plans.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { Receipts } from '../core/ports.ts';
import { rateQueueOf } from '../core/records/slots.ts';
import type { Overview } from './deployment-answers.ts';
import {
  type LostAttempts,
  lostAttempts,
  missingAgents,
  type MissingCount,
  type ShardReceipt,
} from '../core/records/receipts.ts';
import type { Failure } from '../core/values/failure.ts';
import { defined } from '../core/values/defined.ts';
import { CLOCKS_DIFFER_MS } from '../core/values/text.ts';
import { planOf } from '../engine/plans.ts';
import type { Scheduler } from '../scheduler/start.ts';
import type { Agents, AgentView, BreakerView, LaneInUse, NeededAgents } from './agent-answers.ts';

/** The most open executions whose plans are read. There is no list of plans; most workflows have one. */
const MOST_EXAMINED = 100;

export async function agentsOf(scheduler: Scheduler, receipts?: Receipts): Promise<Agents> {
  const { shards } = (await receipts?.read()) ?? { shards: [] };
  const { clock, workerTroubles } = scheduler.ports;
  const lost = lostAttempts(shards, clock.now(), workerTroubles?.().lost);
  const [items, { missing, examined }] = await Promise.all([
    deployedAgents(scheduler, lost),
    missingAgentsOf(scheduler, shards),
  ]);
  return { items, missing, examined, ...defined({ clockAheadMs: clockAhead(scheduler) }) };
}

/**
 * All agents and lanes in the plans of open executions, deployed or not, which a deployment must not remove.
 * It reads the keys of all open executions, and each plan once.
 */
export async function neededAgents({ ports: { store, clock }, plans }: Scheduler): Promise<NeededAgents> {
  const { open } = await store.survey(clock.now(), []);
  const byPlan = new Map<string, number>();
  for (const { plan } of open.items) byPlan.set(plan, (byPlan.get(plan) ?? 0) + 1);
  const counts = new Map<string, number>();
  const inLanes = new Map<string, LaneInUse>();
  let isWhole = open.atLeast !== true;
  for (const [hash, executions] of byPlan) {
    const plan = await planOf(store, plans, hash).catch(() => undefined);
    if (plan === undefined) isWhole = false;
    for (const agent of plan === undefined ? [] : agentsNamed(plan))
      counts.set(agent, (counts.get(agent) ?? 0) + executions);
    const lane = plan && laneOf(plan)?.lane;
    if (plan === undefined || lane === undefined) continue;
    const { workflow } = plan;
    const before = inLanes.get(`${workflow}/${lane}`)?.executions ?? 0;
    inLanes.set(`${workflow}/${lane}`, { workflow, lane, executions: before + executions });
  }
  const agents = [...counts].map(([name, executions]) => ({ name, executions }));
  return {
    agents: agents.sort((a, b) => (a.name < b.name ? -1 : 1)),
    ...(inLanes.size === 0 ? {} : { lanes: [...inLanes.values()] }),
    examined: open.items.length,
    ...(isWhole ? {} : { atLeast: true }),
  };
}

/** The missing agents for which executions wait now, and those that open executions may still need. */
async function missingAgentsOf(
  scheduler: Scheduler,
  shards: readonly ShardReceipt[],
): Promise<Pick<Agents, 'missing' | 'examined'>> {
  const { queue, clock } = scheduler.ports;
  const { reaches } = queue;
  if (reaches === undefined) return { missing: [], examined: 0 };
  const plans = await openPlans(scheduler);
  const waiting = missingNow(scheduler, shards, clock.now());
  const planned = new Map<string, number>();
  for (const plan of plans) {
    for (const agent of agentsNamed(plan))
      if (!reaches(agent)) planned.set(agent, (planned.get(agent) ?? 0) + 1);
  }
  const names = [...new Set([...waiting.keys(), ...planned.keys()])].sort();
  const missing = names.map((name) => ({
    name,
    ...(waiting.get(name) ?? { waiting: 0 }),
    planned: planned.get(name) ?? 0,
  }));
  return { missing, examined: plans.length };
}

/** The plans of open executions, those due soonest first. */
async function openPlans({ ports: { store }, plans }: Scheduler): Promise<readonly Plan[]> {
  const limit = Math.ceil(MOST_EXAMINED / store.shards);
  const shards = Array.from({ length: store.shards }, (_, shard) => shard);
  const pages = await Promise.all(
    shards.map((shard) => store.due(shard, Number.MAX_SAFE_INTEGER, undefined, limit)),
  );
  const due = pages.flatMap(({ items }) => items).slice(0, MOST_EXAMINED);
  // A plan that this version cannot read is left out; the answer covers the others.
  const open = await Promise.all(
    due.map(({ executionId }) => store.readExecution(executionId).catch(() => undefined)),
  );
  const found: Plan[] = [];
  // One after the other, because most plans are the same, and the first read caches it for the next.
  for (const execution of open) {
    const plan = execution && (await planOf(store, plans, execution.plan).catch(() => undefined));
    if (plan !== undefined) found.push(plan);
  }
  return found;
}

async function deployedAgents(
  scheduler: Scheduler,
  lost: ReadonlyMap<string, LostAttempts>,
): Promise<AgentView[]> {
  const { queue, breakers, rates, clock } = scheduler.ports;
  const workflows = new Map<string, string[]>();
  const effects = new Map<string, AgentView['effect']>();
  for (const { workflow } of scheduler.workflows.values()) {
    for (const { spec } of workflow.agents) {
      workflows.set(spec.name, [...(workflows.get(spec.name) ?? []), workflow.name]);
      effects.set(spec.name, spec.effect);
    }
  }
  const names = [...workflows.keys()].sort();
  const depths = (await queue.depths?.(names).catch(() => undefined)) ?? {};
  const now = clock.now();
  return Promise.all(
    names.map(async (name): Promise<AgentView> => {
      const [breaker, rate] = await Promise.all([
        breakers?.read(name).catch(() => undefined),
        rates?.read(name).catch(() => undefined),
      ]);
      const depth = depths[name];
      return {
        name,
        effect: effects.get(name) ?? 'unsafe',
        workflows: workflows.get(name) ?? [],
        ...(depth === undefined ? {} : { queue: depth }),
        breaker: breakerView(breaker, now),
        ...(breaker?.failure === undefined
          ? {}
          : { lastError: { ...breaker.failure, at: breaker.failedAt } }),
        ...defined({
          rateQueue: rateQueueOf(rate, now),
          bugs: bugsNow(breaker?.bugs, now),
          lost: lost.get(name),
        }),
      };
    }),
  );
}

export interface BreakerOf {
  readonly agent: string;
  readonly breaker: BreakerView;
  readonly failure?: Failure;
  /** Since when its service has not answered. */
  readonly failingSince?: number;
  /** Its latest calls to act, if none of them was answered. */
  readonly unanswered?: Unanswered;
  readonly bugs?: Bugs;
}

/** The agents whose rate delays work; one that cannot be read is left out. */
export async function rateQueuesOf(
  { ports: { rates }, workflows }: Scheduler,
  now: number,
): Promise<NonNullable<Overview['rateQueues']>> {
  const queues = await Promise.all(
    agentNames(workflows).map(async (agent) => {
      const queue = rateQueueOf(await rates?.read(agent).catch(() => undefined), now);
      return queue === undefined ? [] : [{ agent, ...queue }];
    }),
  );
  return queues.flat();
}

const agentNames = (workflows: Scheduler['workflows']): readonly string[] => {
  const agents = [...workflows.values()].flatMap(({ workflow }) => workflow.agents);
  return [...new Set(agents.map(({ spec }) => spec.name))].sort();
};

/** The breakers of the agents of every startable workflow; one that cannot be read counts as closed. */
export function breakersOf(
  { ports: { breakers }, workflows }: Scheduler,
  now: number,
): Promise<readonly BreakerOf[]> {
  return Promise.all(
    agentNames(workflows).map(async (agent) => {
      const breaker = await breakers?.read(agent).catch(() => undefined);
      const { failure, failingSince } = breaker ?? {};
      const unanswered = breaker && unansweredNow(breaker, now);
      const bugs = bugsNow(breaker?.bugs, now);
      return {
        agent,
        breaker: breakerView(breaker, now),
        ...defined({ failure, failingSince, unanswered, bugs }),
      };
    }),
  );
}

/**
 * The current breakers of these agents; one that cannot be read is left out.
 * @param receipts read if a service is failing: they know when the code was deployed
 */
export async function breakersNow(
  { ports: { breakers, clock, ...ports } }: Scheduler,
  agents: readonly string[],
  receipts?: Receipts,
): Promise<Breakers> {
  if (breakers === undefined) return new Map();
  let start: Promise<CodeStart> | undefined;
  const found = await Promise.all(
    agents.map(async (agent) => {
      const read = await breakers.read(agent).then(
        async (breaker) => {
          const open = notBeforeOf(breaker, clock.now());
          if (open === undefined) return 'closed' as const;
          const at = breaker?.failingSince;
          if (at === undefined) return open;
          start ??= codeStart(ports.startedAt, receipts);
          const behind = startBehind(at, await start);
          return Object.keys(behind).length === 0 ? open : { ...open, began: { at, ...behind } };
        },
        () => undefined,
      );
      return [agent, read] as const;
    }),
  );
  return new Map(found.flatMap(([agent, read]) => (read === undefined ? [] : [[agent, read]])));
}

async function codeStart(startedAt?: number, receipts?: Receipts): Promise<CodeStart> {
  if (startedAt !== undefined) return { startedAt };
  const left = await receipts?.read().catch(() => undefined);
  return defined({ deployedAt: left?.release?.deployedAt });
}

export function breakerView(breaker: Breaker | undefined, now: number): BreakerView {
  const { pause, lastPause } = breaker ?? {};
  const last = defined({ lastPause });
  if (pause !== undefined) return { status: 'paused', since: pause.at, pause, ...last };
  return { ...ofService(breaker, now), ...last };
}

function ofService(breaker: Breaker | undefined, now: number): BreakerView {
  const { openedAt, trialUntil } = breaker ?? {};
  if (openedAt === undefined) return { status: 'closed' };
  const { at: until = now } = notBeforeOf(breaker, now) ?? {};
  if (until > now && trialUntil !== until) return { status: 'open', since: openedAt, until };
  return { status: 'half-open', since: openedAt, ...(until > now ? { trialUntil: until } : {}) };
}

/** How far the clock is ahead of its machine's; undefined if a reader would not notice. */
export function clockAhead({ ports: { clock } }: Scheduler): number | undefined {
  const aheadMs = clock.aheadMs?.() ?? 0;
  return aheadMs > CLOCKS_DIFFER_MS ? aheadMs : undefined;
}

/** The missing agents that supervisors found recently, without those deployed since. */
export function missingNow(
  { ports: { queue } }: Scheduler,
  receipts: readonly ShardReceipt[],
  now: number,
): ReadonlyMap<string, MissingCount> {
  const met = [...missingAgents(receipts, now)];
  return new Map(met.filter(([agent]) => queue.reaches?.(agent) === false));
}
