/**
 * The scene of messages: two are sent, with one of them perhaps again, to an execution that takes both in
 * turn, by two steps or by two rounds. Without one in time it fails, and may be retried.
 *
 * Owns: which processes may begin, and the invariants M1 (kept once accepted), M2 (an id counts once), M3
 * (taken once, in the order of acceptance), M4 (not refused while it may be taken), M6 (in time, so taken)
 * and L1 (a step that waits beside its message is soon evaluated).
 */

import * as z from 'zod/mini';
import { eq } from '../../../lib/author/references.ts';
import { received } from '../../../lib/author/builder/received.ts';
import { workflow } from '../../../lib/author/builder/workflow.ts';
import type { Plan } from '../../../lib/core/plan/plan.ts';
import type { Ports } from '../../../lib/core/ports.ts';
import type { ExecutionMessage } from '../../../lib/core/records/mailbox.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import { isTerminal, type Step } from '../../../lib/core/records/state.ts';
import { isSteadfastError } from '../../../lib/core/values/errors.ts';
import { reconcile } from '../../../lib/engine/reconcile.ts';
import { memoryWorld } from '../../../lib/memory/world.ts';
import { textHash } from '../../../lib/memory/text-hash.ts';
import { retry } from '../../../lib/scheduler/commands.ts';
import { sendMessage } from '../../../lib/scheduler/messages.ts';
import { createScheduler, start } from '../../../lib/scheduler/start.ts';
import { type Beginning, orTime, type Scene, type Seen } from './schedules.ts';

const Nothing = z.object({});
const Body = z.object({ of: z.string() });

/** The steps that take the messages, in their order. */
const STEPS = ['first', 'second'] as const;
const inSteps = workflow('in-steps', { input: Nothing, within: '9d' }, (w) => {
  const first = w.receive('first', { name: 'moved', message: Body, within: '1h' });
  w.receive('second', { name: 'moved', message: Body, within: '1h', after: [first] });
});

const round = workflow(
  'round',
  { input: z.object({ message: Body, isLast: z.boolean() }), within: '1d' },
  (w) => {
    w.wait('pause', { for: '1s' });
  },
);
const inRounds = workflow('in-rounds', { input: Nothing, within: '9d' }, (w) => {
  w.repeat('r', round, received('moved', Body, { isLast: false }), {
    next: received('moved', Body, () => ({ isLast: true })),
    until: (_, given) => eq(given.isLast, true),
    maxRounds: 2,
    within: '1h',
    undo: 'none',
  });
});

const schedulerWith = (flows: Parameters<typeof createScheduler>[1]) =>
  createScheduler(memoryWorld(), flows, { hash: textHash, newId: () => 'none' });
const known = {
  steps: { flow: inSteps, plans: [inSteps.plan], scheduler: schedulerWith([inSteps]) },
  rounds: {
    flow: inRounds,
    plans: [inRounds.plan, round.plan],
    scheduler: schedulerWith([inRounds, round]),
  },
} as const;

export interface MailOptions {
  readonly takenBy: keyof typeof known;
  readonly kills: number;
  readonly overtakings: number;
  readonly retries: number;
  /** How often a message is sent again under its id. */
  readonly again: number;
}

const IDS = ['m1', 'm2'] as const;
/** While it is undone, no step can begin. */
const MAY_TAKE: readonly string[] = ['running', 'waiting', 'failed'];

/** The memory of one run besides the stored records. */
interface Done {
  /** How often each id was sent. */
  readonly sent: Record<string, number>;
  /** The orders that the senders of a message got, by id. */
  readonly accepted: Record<string, number[]>;
  /** The statuses in which a message was refused because no step can take it any more. */
  readonly refused: Record<string, true>;
  retried: number;
}

const schedulerOf = ({ takenBy }: MailOptions, ports: Ports) => ({
  ...known[takenBy].scheduler,
  ports: { ...known[takenBy].scheduler.ports, ...ports },
  plans: new Map<string, Plan>(),
  published: new Set<string>(),
  pauses: new Map(),
});

const rootIn = (all: readonly Snapshot[]): Snapshot | undefined =>
  all.find(({ execution }) => execution.parent === undefined);

/** Sends one of the messages. The second is first sent after the first: their names are interchangeable. */
function sends({ execution: { id } }: Snapshot, options: MailOptions, done: Done): readonly Beginning[] {
  const count = (message: string): number => done.sent[message] ?? 0;
  const again = IDS.reduce((sum, message) => sum + Math.max(0, count(message) - 1), 0);
  const open = IDS.filter((message, at) => {
    if (count(message) > 0) return again < options.again;
    return at === 0 || count(IDS[0]) > 0;
  });
  return open.map((message) => ({
    name: `send ${message}`,
    isFault: true,
    begin: async (ports) => {
      done.sent[message] = count(message) + 1;
      const request = { name: 'moved', body: { of: message }, id: message };
      try {
        const { order } = await sendMessage(schedulerOf(options, ports), { executionId: id }, request);
        done.accepted[message] = [...(done.accepted[message] ?? []), order].toSorted(
          (one, other) => one - other,
        );
      } catch (error) {
        if (!isSteadfastError(error) || error.code !== 'ended') throw error;
        done.refused[String((error.details as { readonly status?: string }).status)] = true;
      }
    },
  }));
}

const REQUEST = { commandId: 'c', reason: '', by: { kind: 'local', name: 'operator' } } as const;

function carriedOn({ world, all }: Seen, options: MailOptions, done: Done): readonly Beginning[] {
  const now = world.clock.now();
  return all.flatMap(({ execution: { id, parent, status, wakeAt } }): readonly Beginning[] => {
    const plan = known[options.takenBy].plans[parent === undefined ? 0 : 1] ?? inSteps.plan;
    const name = parent === undefined ? 'e' : `round-${parent.try ?? 1}`;
    const sweep = (ports: Ports) => reconcile(ports, plan, id, { by: 'supervisor', affected: [] });
    const again = (ports: Ports) => {
      done.retried += 1;
      return retry(schedulerOf(options, ports), id, REQUEST);
    };
    const mayRetry =
      parent === undefined && status === 'failed' && wakeAt === undefined && done.retried < options.retries;
    return [
      ...(wakeAt !== undefined && wakeAt <= now ? [{ name: `sweep ${name}`, begin: sweep }] : []),
      ...(mayRetry ? [{ name: 'retry c', isFault: true as const, begin: again }] : []),
    ];
  });
}

const wakesIn = ({ world }: Seen): readonly number[] =>
  world.store.mailboxes.due().map(({ wakeAt }) => wakeAt);

/** A supervisor finds the mailbox by its wake time: it reads the mailbox, then the execution. */
function foundByMail(seen: Seen, { takenBy }: MailOptions): readonly Beginning[] {
  const now = seen.world.clock.now();
  const [plan] = known[takenBy].plans;
  return seen.world.store.mailboxes.due().flatMap(({ executionId, life = '', wakeAt }) => {
    const begin = async (ports: Ports) => {
      const mailbox = await ports.mailboxes?.readMailbox(executionId, life);
      const found = mailbox === undefined ? {} : { mailbox };
      await reconcile(ports, plan, executionId, { by: 'supervisor', affected: [], ...found });
    };
    return wakeAt > now ? [] : [{ name: 'mail e', begin }];
  });
}

export function mailScene(options: MailOptions): Scene {
  const { kills, overtakings, retries, takenBy } = options;
  const done: Done = { sent: {}, accepted: {}, refused: {}, retried: 0 };
  const first: Beginning = {
    name: 'start e',
    begin: (ports) =>
      start(schedulerOf(options, ports), {
        workflow: known[takenBy].flow.name,
        input: {},
        idempotencyKey: 'k',
      }),
  };
  return {
    kills,
    overtakings,
    memory: () => JSON.stringify(done),
    beginnings: (seen, busy) => {
      const root = rootIn(seen.all);
      if (root === undefined) return orTime(seen.world, seen.all, busy, [first]);
      const rest = [
        ...sends(root, options, done),
        ...carriedOn(seen, options, done),
        ...foundByMail(seen, options),
      ];
      return orTime(seen.world, seen.all, busy, rest, wakesIn(seen));
    },
    problems: (seen) => problemsOf(seen, options, done),
    isEnd: (seen) =>
      seen.all.length > 0 &&
      wakesIn(seen).length === 0 &&
      seen.all.every(({ execution }) => isTerminal(execution.status) && execution.wakeAt === undefined),
    goals: {
      both: (seen) => rootIn(seen.all)?.execution.status === 'succeeded' && takenIn(seen.all).length === 2,
      early: ({ world, all }) => (rootIn(all) === undefined ? 0 : mailOf(world, all).open.length) === 2,
      ...(retries === 0 ? {} : { 'after-retry': ({ all, world }: Seen) => isAfterRetry(world, all) }),
      ...(takenBy === 'rounds' ? {} : { late: ({ all, world }: Seen) => isLate(world, all) }),
    },
  };
}

interface Mail {
  readonly messages: readonly ExecutionMessage[];
  /** The ids in the mailbox. */
  readonly open: readonly string[];
}

function mailOf({ store }: Seen['world'], all: readonly Snapshot[]): Mail {
  const { id = '', life = '' } = rootIn(all)?.execution ?? {};
  const open = store.mailboxes.readMailbox(id, life)?.entries.map((one) => one.id) ?? [];
  return { messages: store.mailboxes.messagesOf(id), open };
}

interface Taken {
  readonly id: string;
  readonly body: unknown;
}

/** The messages that the executions' own records say were taken, in turn. */
function takenIn(all: readonly Snapshot[]): readonly Taken[] {
  const { steps = {} } = rootIn(all) ?? {};
  const bySteps = STEPS.flatMap((name) => {
    const { received: of, output } = steps[name] ?? {};
    return of === undefined ? [] : [{ id: of.id, body: output }];
  });
  return steps['r'] === undefined ? bySteps : byRounds(steps['r'], all);
}

function byRounds({ attempts, children }: Step, all: readonly Snapshot[]): readonly Taken[] {
  const current = children?.try ?? 1;
  const past = attempts.filter(({ number }) => number < current);
  const begun = [
    ...past.map(({ number, message }) => ({ number, id: message })),
    { number: current, id: children?.rounds?.received?.id },
  ];
  return begun.flatMap(({ number, id }) => {
    if (id === undefined) return [];
    const child = all.find(({ execution: { parent } }) => parent && (parent.try ?? 1) === number);
    const given = child?.execution.input ?? children?.rounds?.input;
    return [{ id, body: (given as { readonly message?: unknown } | undefined)?.message }];
  });
}

/** Whether a message that was there before a retry was taken after it. */
function isAfterRetry(world: Seen['world'], all: readonly Snapshot[]): boolean {
  const { retries = [] } = rootIn(all)?.execution ?? {};
  const { messages } = mailOf(world, all);
  return retries.some(({ at }) => messages.some((one) => one.at <= at && (one.taken?.at ?? 0) >= at));
}

/** Whether a round took a message that came after the one before had begun. */
function isLate(world: Seen['world'], all: readonly Snapshot[]): boolean {
  const [one, other] = mailOf(world, all).messages;
  return other?.taken !== undefined && other.at > (one?.taken?.at ?? Number.POSITIVE_INFINITY);
}

function problemsOf(seen: Seen, { takenBy }: MailOptions, done: Done): readonly string[] {
  const { world, all } = seen;
  const root = rootIn(all);
  if (root === undefined) return [];
  const { messages, open } = mailOf(world, all);
  const taken = takenIn(all);
  const ids = taken.map(({ id }) => id);
  const problems: string[] = [];
  const orders = messages.map(({ order }) => order);
  if (orders.some((order, at) => order !== at + 1)) problems.push(`M2 the orders are ${orders.join()}`);
  for (const [id, given] of Object.entries(done.accepted)) {
    const stored = messages.find((one) => one.id === id);
    if (stored === undefined) problems.push(`M1 '${id}' was accepted, and is not there`);
    if (given.some((order) => order !== stored?.order))
      problems.push(`M2 '${id}' has the orders ${given.join()}`);
  }
  for (const { id, taken: by } of messages) {
    const isOpen = open.includes(id);
    if (isOpen === ids.includes(id)) problems.push(`M3 '${id}' is ${isOpen ? 'taken, and open' : 'lost'}`);
    if (isOpen === (by !== undefined)) problems.push(`M3 the record of '${id}' is not as its mailbox`);
  }
  const inOrder = messages.filter(({ id }) => ids.includes(id)).map(({ id }) => id);
  if (ids.join() !== inOrder.join()) problems.push(`M3 taken are ${ids.join()}, and not ${inOrder.join()}`);
  for (const { id, body } of taken)
    if (JSON.stringify(body) !== JSON.stringify({ of: id })) problems.push(`M3 '${id}' has another body`);
  const isAllTaken = takenBy === 'steps' ? taken.length === STEPS.length : isLastBegun(root);
  for (const status of Object.keys(done.refused))
    if (MAY_TAKE.includes(status) && !isAllTaken)
      problems.push(`M4 a message is refused while ${status}, and ${taken.length} were taken`);
  return [...problems, ...missedIn(root, messages), ...sleepersIn(all), ...besideIn(root, seen)];
}

const isLastBegun = ({ steps: { r } }: Snapshot): boolean =>
  r?.children?.try === 2 && r.children.rounds?.received !== undefined;

/** Steps that failed without a message although one was there in time. */
function missedIn({ steps }: Snapshot, messages: readonly ExecutionMessage[]): readonly string[] {
  const late = Object.values(steps).filter(({ failure }) => failure?.code === 'no-message');
  return late.flatMap(({ name, changedAt }) =>
    messages.some(({ at, taken }) => at < changedAt && taken === undefined)
      ? [`M6 '${name}' has no message, and one is there in time`]
      : [],
  );
}

/** Within this time a process comes for a message, far below the time of a step. */
const SOON_MS = 600_000;

/** A step that waits beside a message, while no process is under way and none comes soon. */
function besideIn({ execution, steps }: Snapshot, seen: Seen): readonly string[] {
  const { r } = steps;
  const waits = r === undefined || (r.status === 'running' && r.children?.rounds?.awaits !== undefined);
  const { open } = mailOf(seen.world, seen.all);
  if (!waits || seen.underWay > 0 || open.length === 0 || isTerminal(execution.status)) return [];
  const comesAt = Math.min(...wakesIn(seen), execution.wakeAt ?? Number.POSITIVE_INFINITY);
  return comesAt > seen.world.clock.now() + SOON_MS
    ? [`L1 a step waits beside '${open.join()}', and no process comes`]
    : [];
}

const sleepersIn = (all: readonly Snapshot[]): readonly string[] =>
  all.flatMap(({ execution: { status, wakeAt } }) =>
    !isTerminal(status) && wakeAt === undefined ? ['S12 an open execution has no wake time'] : [],
  );
