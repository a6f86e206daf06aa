/**
 * Random steps without an agent, and random records of them: any consistent mixture of the fields of each
 * kind.
 */

import * as fc from 'fast-check';
import type {
  CallbackStep,
  ChildStep,
  MapStep,
  Plan,
  PlanStep,
  ReceiveStep,
  WaitStep,
} from '../../lib/core/plan/plan.ts';
import type { KnownMailbox, MailboxEntry } from '../../lib/core/records/mailbox.ts';
import { blankStep } from '../../lib/core/decisions/change.ts';
import type { ChildEnd, Children } from '../../lib/core/records/children.ts';
import type { Json } from '../../lib/core/values/json.ts';
import type { Step } from '../../lib/core/records/state.ts';
import type { ExecutionStatus, StepStatus } from '../../lib/core/moves.ts';
import { planStep } from '../author/refusals.ts';

const HOUR = 3_600_000;
const time = fc.constantFrom(1_000, 60_000, HOUR);
const failure = { code: 'x', message: 'y' };
/** A condition, or none. */
const when = fc.constantFrom(undefined, undefined, { $eq: [{ $ref: 'input', path: ['n'] }, 1] });

/** The lists that `over` and `until` of these steps read. */
export const lists: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  [],
  [1, 2, 3],
  Array.from({ length: 26 }, (_, n) => n),
  'no list',
);
export const times = (now: number): fc.Arbitrary<Json> =>
  fc.constantFrom<Json>(now - HOUR, now + HOUR, new Date(now).toISOString(), 'soon', '2026-13-45', null);

const inner: Plan = {
  v: 1,
  workflow: 'inner',
  withinMs: HOUR,
  steps: [{ ...planStep, name: 'x' }],
  output: { $ref: 'step:x', path: [] },
};

const base = (name: string, before: readonly string[]) =>
  fc.record({ after: fc.subarray([...before]), when }).map(({ after, when: condition }) => ({
    name,
    after,
    ...(condition === undefined ? {} : { when: condition }),
  }));

const wait = (name: string, before: readonly string[]): fc.Arbitrary<WaitStep> =>
  fc.tuple(base(name, before), fc.option(time, { nil: undefined })).map(([step, forMs]) => ({
    ...step,
    kind: 'wait' as const,
    ...(forMs === undefined ? { until: { $ref: 'input', path: ['at'] } } : { forMs }),
  }));

const callback = (name: string, before: readonly string[]): fc.Arbitrary<CallbackStep> =>
  fc
    .record({
      of: base(name, before),
      kind: fc.constantFrom('callback' as const, 'approval' as const),
      withinMs: time,
      heartbeatMs: fc.option(time, { nil: undefined }),
      otherwise: fc.constantFrom(undefined, 'approve' as const, 'reject' as const),
      remindMs: fc.constantFrom(undefined, 60_000),
    })
    .map(({ of, kind, withinMs, heartbeatMs, otherwise, remindMs }) => ({
      ...of,
      kind,
      withinMs,
      ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
      ...(otherwise === undefined || kind === 'callback' ? {} : { otherwise }),
      ...(remindMs === undefined || withinMs <= remindMs ? {} : { remindMs }),
    }));

export const receive = (name: string, before: readonly string[]): fc.Arbitrary<ReceiveStep> =>
  fc
    .tuple(
      base(name, before),
      fc.constantFrom('m', 'n'),
      time,
      fc.constantFrom(undefined, 'continue' as const),
    )
    .map(([step, message, withinMs, otherwise]) => ({
      ...step,
      kind: 'receive' as const,
      message,
      withinMs,
      ...(otherwise === undefined ? {} : { otherwise }),
    }));

/**
 * Draws a process's knowledge of the mailbox of an execution of life 'life1': nothing, or the messages that
 * it read.
 */
export const knownMailbox = (now: number): fc.Arbitrary<KnownMailbox | undefined> =>
  fc.option(
    fc
      .array(
        fc.record({
          name: fc.constantFrom('m', 'n', 'o'),
          at: time,
          read: fc.constantFrom('body', 'lost', 'not'),
        }),
        {
          maxLength: 4,
        },
      )
      .map((sent) => {
        const about = { executionId: 'e-1', life: 'life1' };
        const entries = sent.map(({ name, at }, index): MailboxEntry => {
          return { order: index + 1, name, id: `m-${index}`, at: now - at, bytes: 4 };
        });
        const messages = entries.flatMap(({ id, name, at, order }, index) => {
          const { read } = sent[index] ?? {};
          if (read === 'not') return [];
          return [[id, read === 'lost' ? null : { ...about, id, name, at, order, body: null }] as const];
        });
        const counted = { version: 3, writeId: 'w-m', accepted: entries.length };
        return {
          ...(entries.length === 0 ? {} : { mailbox: { ...about, ...counted, entries, wakeAt: now } }),
          messages: Object.fromEntries(messages),
        };
      }),
    { nil: undefined },
  );

const child = (name: string, before: readonly string[]): fc.Arbitrary<ChildStep> =>
  fc.tuple(base(name, before), fc.constantFrom('none' as const, 'required' as const)).map(([step, undo]) => ({
    ...step,
    kind: 'child' as const,
    plan: inner,
    input: { $ref: 'input', path: [] },
    undo,
  }));

const map = (name: string, before: readonly string[]): fc.Arbitrary<MapStep> =>
  fc
    .record({
      of: base(name, before),
      undo: fc.constantFrom('none' as const, planStep.recovery[0] as never),
      concurrency: fc.option(fc.constantFrom(1, 30, 1_000), { nil: undefined }),
      tolerate: fc.constantFrom({ items: 0 }, { items: 2 }, { percent: 50 }),
    })
    .map(({ of, undo, concurrency, tolerate }) => ({
      ...of,
      kind: 'map' as const,
      over: { $ref: 'input', path: ['list'] },
      each: { ...planStep, name: 'item', input: { n: { $ref: 'item', path: [] } }, undo },
      ...(concurrency === undefined ? {} : { concurrency }),
      tolerate,
    }));

export const kindStep = (name: string, before: readonly string[]): fc.Arbitrary<PlanStep> =>
  fc.oneof<fc.Arbitrary<PlanStep>[]>(
    wait(name, before),
    callback(name, before),
    receive(name, before),
    child(name, before),
    map(name, before),
  );

const ENDS = ['succeeded', 'compensated', 'failed', 'canceled'] as const satisfies readonly ExecutionStatus[];
const end: fc.Arbitrary<ChildEnd> = fc
  .record({
    status: fc.constantFrom<ExecutionStatus>(...ENDS),
    version: fc.integer({ min: 1, max: 9 }),
    clean: fc.boolean(),
    failed: fc.constantFrom(undefined, 1),
  })
  .map(({ status, version, clean, failed }) => ({
    status,
    version,
    clean: clean && status !== 'succeeded',
    ...(failed === undefined || status !== 'succeeded' ? {} : { failed }),
  }));

const children = (kind: 'child' | 'map'): fc.Arbitrary<Children> =>
  fc
    .integer({ min: kind === 'child' ? 1 : 0, max: kind === 'child' ? 1 : 3 })
    .chain((count) =>
      fc.record({
        count: fc.constant(count),
        started: fc.integer({ min: 0, max: count }),
        items: fc.constant(count * 20),
        tolerated: fc.constantFrom(0, 2),
        ends: fc.array(fc.option(end, { nil: undefined }), { minLength: count, maxLength: count }),
      }),
    )
    .map(({ ends, ...rest }) => ({
      ...rest,
      ended: Object.fromEntries(ends.flatMap((one, index) => (one === undefined ? [] : [[index, one]]))),
    }));

const ANSWERED: readonly StepStatus[] = ['waiting', 'answered', 'done', 'failed', 'skipped', 'fenced'];
/** The statuses to draw from, 'running' twice as often. */
const WITH_CHILDREN: readonly StepStatus[] = [
  'running',
  'running',
  'done',
  'failed',
  'skipped',
  'compensating',
  'compensated',
  'compensation-failed',
];
const STATUSES: Readonly<Record<Exclude<PlanStep['kind'], 'agent'>, readonly StepStatus[]>> = {
  wait: ['done', 'failed', 'skipped', 'fenced'],
  callback: ANSWERED,
  approval: ANSWERED,
  receive: ['done', 'failed', 'skipped', 'fenced'],
  lane: ['waiting', 'done', 'failed', 'fenced'],
  child: WITH_CHILDREN,
  map: WITH_CHILDREN,
};

/** A record of a step that no agent performs. */
export const kindRecord = (
  step: Exclude<PlanStep, { kind: 'agent' }>,
  past: fc.Arbitrary<number>,
): fc.Arbitrary<Step> =>
  fc
    .record({
      status: fc.constantFrom(...STATUSES[step.kind]),
      version: fc.integer({ min: 1, max: 9 }),
      changedAt: past,
      progressAt: past,
      fails: fc.boolean(),
      children: children(step.kind === 'map' ? 'map' : 'child'),
    })
    .map(({ status, version, changedAt, progressAt, fails, children: its }): Step => {
      const hasChildren =
        (step.kind === 'child' || step.kind === 'map') &&
        status !== 'skipped' &&
        !(status === 'failed' && fails);
      const failed = ['failed', 'compensation-failed'].includes(status) || (status === 'answered' && fails);
      const answered = status === 'done' || (status === 'answered' && !fails);
      return {
        ...blankStep(step.name, { life: 'life1', epoch: 1 }),
        status,
        version,
        writeId: `w-${step.name}`,
        heartbeat: status === 'waiting' ? 1 : 0,
        changedAt,
        ...(status === 'waiting' ? { progressAt } : {}),
        ...(failed ? { failure } : {}),
        ...(answered ? { output: { of: step.name } } : {}),
        ...(hasChildren ? { children: its } : {}),
      };
    });
