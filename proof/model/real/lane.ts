/**
 * The scene of a lane: executions with one step that an external party ends.
 *
 * Owns: which processes may begin, and the invariants. The observer is the step in the lane: while it is
 * open, or is undone, the execution acts.
 */

import * as z from 'zod/mini';
import { workflow } from '../../../lib/author/builder/workflow.ts';
import type { Ports } from '../../../lib/core/ports.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import { callbackToken, isTerminal } from '../../../lib/core/records/state.ts';
import { reconcile } from '../../../lib/engine/reconcile.ts';
import { closeCallback } from '../../../lib/scheduler/callbacks.ts';
import { retry } from '../../../lib/scheduler/commands.ts';
import { createScheduler, start } from '../../../lib/scheduler/start.ts';
import { memoryWorld } from '../../../lib/memory/world.ts';
import { textHash } from '../../../lib/memory/text-hash.ts';
import { type Beginning, orTime, type Scene, type Seen } from './schedules.ts';

const input = z.object({ name: z.string(), key: z.string() });

const inLane = (atMost: number) =>
  workflow(
    'in-lane',
    { input, within: '5m', concurrency: { key: ({ key }) => key, limit: atMost, waitWithin: '10m' } },
    (w) => {
      w.callback('work', { output: z.object({}), within: '4m' });
    },
  );

const NAMES = ['a', 'b', 'c'];
const OPERATOR = { kind: 'local', name: 'operator' } as const;

const schedulerWith = (flow: ReturnType<typeof inLane>) =>
  createScheduler(memoryWorld(), [flow], { hash: textHash, newId: () => 'none' });
/** One workflow for each number of executions that a lane admits. */
const lanes = [1, 2].map(inLane).map((flow) => ({ flow, scheduler: schedulerWith(flow) }));
const laneOf = (atMost: number) => lanes[atMost - 1] as (typeof lanes)[number];

/** Executions that begin later differ from this one only in their order. */
const BREAKS = 'a';

export interface LaneOptions {
  readonly atMost: number;
  readonly executions: number;
  readonly overtakings: number;
  readonly kills: number;
  readonly retries: number;
}

const nameOf = ({ execution }: Snapshot): string => (execution.input as { name: string }).name;

/** Whether the execution acts in the lane, by its own records. */
const acts = ({ execution: { status, lane, epoch } }: Snapshot): boolean =>
  !isTerminal(status) && lane?.admitted === epoch;

/** Whether an external party may end it. */
const isOpen = (state: Snapshot): boolean =>
  acts(state) &&
  state.execution.status === 'running' &&
  (state.steps['work'] === undefined ||
    state.steps['work'].epoch !== state.execution.epoch ||
    ['ready', 'waiting'].includes(state.steps['work'].status));

/** The memory of one run besides the stored records. */
interface Done {
  retried: number;
}

const schedulerOf = (atMost: number, ports: Ports) => ({
  ...laneOf(atMost).scheduler,
  ports,
  plans: new Map(),
  published: new Set<string>(),
  pauses: new Map(),
});

/** The answers of an external party to an open step: success or failure. */
function answersTo(state: Snapshot, { atMost, retries }: LaneOptions, done: Done): readonly Beginning[] {
  if (!isOpen(state)) return [];
  const name = nameOf(state);
  const token = callbackToken(state.execution, 'work') ?? '';
  const finish = (ports: Ports) =>
    closeCallback(schedulerOf(atMost, ports), token, { kind: 'complete', output: {} });
  const fail = (ports: Ports) =>
    closeCallback(schedulerOf(atMost, ports), token, { kind: 'fail', failure: { code: 'x', message: '' } });
  return [
    { name: `finish ${name}`, begin: finish },
    ...(name === BREAKS && done.retried < retries
      ? [{ name: `break ${name}`, isFault: true as const, begin: fail }]
      : []),
  ];
}

function carriedOn(
  state: Snapshot,
  now: number,
  { atMost, retries }: LaneOptions,
  done: Done,
): readonly Beginning[] {
  const { id, wakeAt, status } = state.execution;
  const { plan } = laneOf(atMost).flow;
  const sweep = (ports: Ports) => reconcile(ports, plan, id, { by: 'supervisor', affected: [] });
  const again = (ports: Ports) => {
    done.retried += 1;
    return retry(schedulerOf(atMost, ports), id, { commandId: 'r', reason: '', by: OPERATOR });
  };
  const mayRetry = status === 'failed' && wakeAt === undefined && done.retried < retries;
  return [
    ...(wakeAt !== undefined && wakeAt <= now ? [{ name: `sweep ${nameOf(state)}`, begin: sweep }] : []),
    ...(mayRetry ? [{ name: `retry ${nameOf(state)}`, isFault: true as const, begin: again }] : []),
  ];
}

/** Starts the next execution that does not exist yet. */
function startOf(all: readonly Snapshot[], { atMost, executions }: LaneOptions): readonly Beginning[] {
  const known = new Set(all.map(nameOf));
  const name = NAMES.slice(0, executions).find((one) => !known.has(one));
  if (name === undefined) return [];
  const begin = (ports: Ports) =>
    start(schedulerOf(atMost, ports), {
      workflow: 'in-lane',
      input: { name, key: 'k' },
      idempotencyKey: name,
    });
  return [{ name: `start ${name}`, begin }];
}

export function laneScene(options: LaneOptions): Scene {
  const { atMost, executions, overtakings, kills, retries } = options;
  const done: Done = { retried: 0 };
  return {
    overtakings,
    kills,
    memory: () => String(done.retried),
    beginnings: ({ world, all }, busy) => {
      const rest = all.flatMap((state) => [
        ...answersTo(state, options, done),
        ...carriedOn(state, world.clock.now(), options, done),
      ]);
      return orTime(world, all, busy, [...startOf(all, options), ...rest]);
    },
    problems: ({ all }) => problemsOf(all, atMost),
    isEnd: ({ world, all }) => {
      const [lane] = world.lanes.lanes.values();
      return (
        all.length === executions &&
        all.every(({ execution }) => isTerminal(execution.status) && execution.wakeAt === undefined) &&
        lane?.holders.length === 0 &&
        world.lanes.inQueue(lane.lane).length === 0
      );
    },
    goals: {
      full: ({ all }) => all.filter(acts).length === atMost,
      queued: ({ all }) => all.some(({ steps }) => steps['lane']?.status === 'waiting'),
      ...(retries === 0 ? {} : { 'tried-again': ({ all }: Seen) => all.some(hasSucceededAgain) }),
    },
  };
}

function problemsOf(all: readonly Snapshot[], atMost: number): readonly string[] {
  const inside = all.filter(acts).length;
  return [
    ...(inside > atMost ? [`N1 ${inside} act in a lane of ${atMost}`] : []),
    ...all.flatMap(({ execution: { status, wakeAt, cause } }) => [
      ...(!isTerminal(status) && wakeAt === undefined ? ['S12 an open execution has no wake time'] : []),
      ...(cause?.failure.code === 'concurrency-timeout' ? ['L1 no place in time, though each is left'] : []),
    ]),
  ];
}

const hasSucceededAgain = ({ execution: { epoch, status } }: Snapshot): boolean =>
  epoch > 1 && status === 'succeeded';
