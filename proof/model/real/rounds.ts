/**
 * The scene of rounds: an external party ends each, as the last one, with more to come, or with a failure;
 * the execution may be canceled and retried.
 *
 * Owns: which processes may begin, and the invariants. The observer reads the executions of the rounds.
 */

import * as z from 'zod/mini';
import { eq } from '../../../lib/author/references.ts';
import { workflow } from '../../../lib/author/builder/workflow.ts';
import type { Ports } from '../../../lib/core/ports.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import { callbackToken, isTerminal } from '../../../lib/core/records/state.ts';
import { reconcile } from '../../../lib/engine/reconcile.ts';
import { closeCallback } from '../../../lib/scheduler/callbacks.ts';
import { cancel, retry } from '../../../lib/scheduler/commands.ts';
import { createScheduler, start } from '../../../lib/scheduler/start.ts';
import { memoryWorld } from '../../../lib/memory/world.ts';
import { textHash } from '../../../lib/memory/text-hash.ts';
import { type Beginning, orTime, type Scene, type Seen } from './schedules.ts';

const Nothing = z.object({});
const round = workflow('round', { input: Nothing, within: '1d' }, (w) => {
  const work = w.callback('work', { output: z.object({ more: z.boolean() }), within: '20h' });
  return { more: work.output.more };
});
const repeated = workflow('repeated', { input: Nothing, within: '2d' }, (w) => {
  w.repeat('r', round, {}, { until: (last) => eq(last.more, false), maxRounds: 3 });
});
const flows = [repeated, round];
const scheduler = createScheduler(memoryWorld(), flows, { hash: textHash, newId: () => 'none' });

export interface RoundsOptions {
  readonly kills: number;
  readonly overtakings: number;
  readonly cancels: number;
  readonly failures: number;
  readonly retries: number;
}

/** The number of a round; nothing for the execution that has the rounds. */
const numberOf = ({ execution: { id, parent } }: Snapshot): number | undefined =>
  parent === undefined ? undefined : Number(/t(\d+)$/.exec(id)?.[1] ?? 1);

const nameOf = (state: Snapshot): string => `r${numberOf(state) ?? 0}`;

const isOpen = ({ execution, steps }: Snapshot): boolean =>
  execution.status === 'running' &&
  execution.parent !== undefined &&
  (steps['work'] === undefined ||
    steps['work'].epoch !== execution.epoch ||
    ['ready', 'waiting'].includes(steps['work'].status));

const roundsIn = (all: readonly Snapshot[]): readonly Snapshot[] =>
  all
    .filter((state) => numberOf(state) !== undefined)
    .toSorted((one, other) => Number(numberOf(one)) - Number(numberOf(other)));

/** Whether it is a placeholder for a round that must not begin. */
const isPlaceHolder = ({ execution: { status }, steps }: Snapshot): boolean =>
  status === 'canceled' && Object.keys(steps).length === 0;

/** The memory of one run besides the stored records. */
interface Done {
  canceled: number;
  failed: number;
  retried: number;
}

const schedulerOf = (ports: Ports) => ({
  ...scheduler,
  ports: { ...scheduler.ports, ...ports },
  plans: new Map(),
  published: new Set<string>(),
  pauses: new Map(),
});

/** An external party ends the open round: as the last, with more to come, or with a failure. */
function answersTo(state: Snapshot, { failures }: RoundsOptions, done: Done): readonly Beginning[] {
  if (!isOpen(state)) return [];
  const token = callbackToken(state.execution, 'work') ?? '';
  const answer = (more: boolean) => (ports: Ports) =>
    closeCallback(schedulerOf(ports), token, { kind: 'complete', output: { more } });
  const fail = (ports: Ports) => {
    done.failed += 1;
    return closeCallback(schedulerOf(ports), token, { kind: 'fail', failure: { code: 'x', message: '' } });
  };
  return [
    { name: `more ${nameOf(state)}`, isFault: true, begin: answer(true) },
    { name: `last ${nameOf(state)}`, begin: answer(false) },
    ...(done.failed < failures
      ? [{ name: `fail ${nameOf(state)}`, isFault: true as const, begin: fail }]
      : []),
  ];
}

const REQUEST = { commandId: 'c', reason: '', by: { kind: 'local', name: 'operator' } } as const;

function commandsTo(
  { execution: { id, parent, status, wakeAt } }: Snapshot,
  { cancels, retries }: RoundsOptions,
  done: Done,
): readonly Beginning[] {
  if (parent !== undefined) return [];
  const again = (ports: Ports) => {
    done.retried += 1;
    return retry(schedulerOf(ports), id, REQUEST);
  };
  const stop = (ports: Ports) => {
    done.canceled += 1;
    return cancel(schedulerOf(ports), id, REQUEST);
  };
  const mayCancel = status === 'running' && done.canceled < cancels;
  const mayRetry = status === 'failed' && wakeAt === undefined && done.retried < retries;
  return [
    ...(mayCancel ? [{ name: 'cancel c', isFault: true as const, begin: stop }] : []),
    ...(mayRetry ? [{ name: 'retry c', isFault: true as const, begin: again }] : []),
  ];
}

function sweepOf(state: Snapshot, now: number): readonly Beginning[] {
  const { id, wakeAt, parent } = state.execution;
  const { plan } = parent === undefined ? repeated : round;
  const begin = (ports: Ports) => reconcile(ports, plan, id, { by: 'supervisor', affected: [] });
  return wakeAt === undefined || wakeAt > now ? [] : [{ name: `sweep ${nameOf(state)}`, begin }];
}

const START: Beginning = {
  name: 'start r0',
  begin: (ports) => start(schedulerOf(ports), { workflow: 'repeated', input: {}, idempotencyKey: 'k' }),
};

export function roundsScene(options: RoundsOptions): Scene {
  const { kills, overtakings, cancels, failures } = options;
  const done: Done = { canceled: 0, failed: 0, retried: 0 };
  return {
    kills,
    overtakings,
    memory: () => JSON.stringify(done),
    beginnings: ({ world, all }, busy) => {
      const rest = all.flatMap((state) => [
        ...answersTo(state, options, done),
        ...commandsTo(state, options, done),
        ...sweepOf(state, world.clock.now()),
      ]);
      return orTime(world, all, busy, all.length === 0 ? [START] : rest);
    },
    problems: ({ all }) => problemsOf(all),
    isEnd: ({ all }) =>
      all.length > 0 &&
      all.every(({ execution }) => isTerminal(execution.status) && execution.wakeAt === undefined),
    goals: {
      three: ({ all }) =>
        roundsIn(all).length === 3 && all.every(({ execution }) => execution.status === 'succeeded'),
      ...(cancels + failures === 0 ? {} : { 'walked-down': ({ all }: Seen) => isWalkedDown(all) }),
    },
  };
}

function isWalkedDown(all: readonly Snapshot[]): boolean {
  const [first, second, third] = roundsIn(all).map(({ execution }) => execution.status);
  return first === 'canceled' && second === 'canceled' && third !== undefined;
}

/** The invariants between rounds, and between them and the execution that has them. */
function problemsOf(all: readonly Snapshot[]): readonly string[] {
  const problems: string[] = [];
  const rounds = roundsIn(all);
  for (const [at, state] of rounds.entries()) {
    const after = rounds[at + 1];
    const { status } = state.execution;
    if (after === undefined || isPlaceHolder(after)) continue;
    if (status === 'running') problems.push('S10 a round began before the one before it ended');
    if (status !== 'succeeded' && ['running', 'succeeded'].includes(after.execution.status))
      problems.push(`S10 round ${at + 1} is ${status}, and the one after it ${after.execution.status}`);
  }
  for (const { execution } of all)
    if (!isTerminal(execution.status) && execution.wakeAt === undefined)
      problems.push('S12 an open execution has no wake time');
  const parent = all.find(({ execution }) => execution.parent === undefined)?.execution;
  if (parent === undefined || !isTerminal(parent.status)) return problems;
  const ends = rounds.map(({ execution }) => execution.status);
  const isAny = (status: string): boolean => ends.some((end) => end === status);
  if (!ends.every((end) => isTerminal(end))) problems.push(`S10 ${parent.status}, and a round goes on`);
  if (parent.status === 'succeeded' && ends.some((end) => end !== 'succeeded'))
    problems.push(`S6 succeeded, and its rounds are ${ends.join()}`);
  if (['compensated', 'canceled'].includes(parent.status) && isAny('succeeded'))
    problems.push(`S10 ${parent.status}, and its rounds are ${ends.join()}`);
  return problems;
}
