/**
 * Random plans, and random states of them: any mixture of step statuses, reachable or not. Each record is
 * consistent (a claimed step has a lease, an unclaimed one has none).
 */

import * as fc from 'fast-check';
import { type AgentStep, isCallback, type Plan, type PlanStep } from '../../lib/core/plan/plan.ts';
import { retry } from '../../lib/author/builder/workflow.ts';
import type { Message } from '../../lib/core/decisions/message.ts';
import { defined } from '../../lib/core/values/defined.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { type Execution, isTerminal, type Mode, type Step } from '../../lib/core/records/state.ts';
import { EXECUTION_STATUSES, type StepStatus } from '../../lib/core/moves.ts';
import { kindRecord, kindStep, knownMailbox, lists, receive, times } from './waiting-steps.ts';

export const NOW = 1_700_000_000_000;
const HOUR = 3_600_000;
const NAMES = ['a', 'b', 'c', 'd', 'e'];

const limit = fc.constantFrom(1_000, 5_000, 30_000, 600_000);
/** An instant around now. */
export const instant = fc.integer({ min: -HOUR, max: HOUR }).map((ms) => NOW + ms);
const past = fc.integer({ min: 0, max: HOUR }).map((ms) => NOW - ms);

const planStep = (name: string, before: readonly string[]): fc.Arbitrary<AgentStep> =>
  fc
    .record({
      after: fc.subarray([...before]),
      effect: fc.constantFrom('idempotent' as const, 'probed' as const),
      leaseMs: limit,
      pickupMs: limit,
      settleMs: limit,
      attempts: fc.integer({ min: 0, max: 3 }),
      undo: fc.constantFrom<AgentStep['undo']>('none', retry(2), retry(0)),
      pointOfNoReturn: fc.constantFrom(undefined, undefined, undefined, true as const),
      when: fc.constantFrom(undefined, true, false, { $eq: [{ $ref: 'input', path: ['n'] }, 1] }),
    })
    .map(({ attempts, when, pointOfNoReturn, ...rest }) => ({
      name,
      kind: 'agent' as const,
      agent: `agent-${name}`,
      input: {},
      timeoutMs: 60_000,
      recovery: [retry(attempts)],
      ...(when === undefined ? {} : { when }),
      ...(pointOfNoReturn === undefined ? {} : { pointOfNoReturn }),
      ...rest,
    }));

const anyStep = (name: string, before: readonly string[]): fc.Arbitrary<PlanStep> =>
  fc.oneof<fc.WeightedArbitrary<PlanStep>[]>(
    { weight: 3, arbitrary: planStep(name, before) },
    { weight: 1, arbitrary: kindStep(name, before) },
  );

const plansOf = (step: typeof anyStep): fc.Arbitrary<Plan> =>
  fc
    .integer({ min: 1, max: NAMES.length })
    .chain((count) => fc.tuple(...NAMES.slice(0, count).map((name, at) => step(name, NAMES.slice(0, at)))))
    .map((steps) => ({ v: 1 as const, workflow: 'flow', withinMs: HOUR, steps, output: { ok: true } }));

export const plans: fc.Arbitrary<Plan> = plansOf(planStep);

const MODE: Partial<Record<StepStatus, Mode>> = {
  running: 'execute',
  probing: 'probe',
  compensating: 'undo',
};

const failure = { code: 'x', message: 'y' };
const stepRecord = (step: PlanStep): fc.Arbitrary<Step> =>
  step.kind === 'agent' ? agentRecord(step.name) : kindRecord(step, past);

const agentRecord = (name: string): fc.Arbitrary<Step> =>
  fc
    .record({
      status: fc.constantFrom<StepStatus>(
        ...([
          'running',
          'retrying',
          'waiting',
          'unknown',
          'probing',
          'fenced',
          'done',
          'failed',
          'skipped',
        ] as const),
        ...(['compensating', 'compensated', 'compensation-failed', 'done', 'done'] as const),
      ),
      // In an execution's second epoch, some records are from the first.
      epoch: fc.constantFrom(1, 1, 2),
      version: fc.integer({ min: 1, max: 9 }),
      attempt: fc.integer({ min: 1, max: 4 }),
      stage: fc.integer({ min: 0, max: 1 }),
      stageAttempt: fc.integer({ min: 0, max: 3 }),
      undoAttempt: fc.integer({ min: 0, max: 3 }),
      probes: fc.integer({ min: 0, max: 20 }),
      mayHaveActed: fc.boolean(),
      processDeadlineAt: instant,
      changedAt: past,
      claimedAt: past,
      leaseUntil: instant,
      retryAt: fc.option(instant, { nil: undefined }),
      waiting: fc.boolean(),
      deferred: fc.option(
        fc.record(
          {
            mode: fc.constantFrom<Mode>('execute', 'probe', 'undo'),
            why: fc.constantFrom(
              'breaker' as const,
              'unclaimed' as const,
              'not-deployed' as const,
              'rate' as const,
            ),
            at: past,
          },
          { noNullPrototype: true },
        ),
        { nil: undefined },
      ),
    })
    .map(({ leaseUntil, retryAt, waiting, deferred, ...rest }) => {
      const mode = MODE[rest.status];
      // An undo that waits for its next attempt is 'compensating' and has no lease.
      const held = mode !== undefined && !(mode === 'undo' && waiting);
      return {
        name,
        life: 'life1',
        key: 1,
        keyVariant: 0,
        writeId: `w-${name}`,
        token: `token-${name}`,
        heartbeat: 0,
        attempts: [],
        mode: mode ?? 'execute',
        ...rest,
        ...(rest.attempt % 2 === 0 ? twoProcesses(name, rest) : {}),
        ...(held ? { leaseUntil } : {}),
        ...(!held && retryAt !== undefined ? { retryAt } : {}),
        ...(!held && retryAt !== undefined && deferred !== undefined ? { deferred } : {}),
        ...(rest.status === 'done' ? { output: { of: name } } : {}),
        ...(rest.status === 'failed' ? { failure } : {}),
      };
    });

/** An earlier attempt that may also be alive, even for longer. */
const twoProcesses = (
  name: string,
  { processDeadlineAt, changedAt }: Pick<Step, 'processDeadlineAt' | 'changedAt'>,
): Pick<Step, 'processes'> => ({
  processes: [
    { token: `older-${name}`, deadlineAt: processDeadlineAt },
    { token: `token-${name}`, deadlineAt: Math.min(processDeadlineAt, changedAt + HOUR / 2) },
  ],
});

/** Two pauses: the first is over; the second is in progress if the status is paused. */
function pausesOf(status: Execution['status'], pausedForMs: number): Pick<Execution, 'pauses'> {
  const pause = { reason: 'why', withinMs: HOUR / 2 };
  const first = { ...pause, number: 1, at: NOW - 2 * HOUR, endedAt: NOW - 2 * HOUR + 1 };
  if (status !== 'paused') return { pauses: [first] };
  return { pauses: [first, { ...pause, number: 2, at: NOW - pausedForMs }] };
}

const execution: fc.Arbitrary<Execution> = fc
  .record({
    epoch: fc.constantFrom(1, 1, 2),
    pausedFor: fc.integer({ min: 0, max: HOUR }),
    status: fc.constantFrom(
      // An execution that is following up is decided by another plan
      // (`test/core/execution/on-failure.test.ts`).
      ...EXECUTION_STATUSES.filter((status) => status !== 'following-up'),
      'running' as const,
      'running' as const,
      'compensating' as const,
    ),
    version: fc.integer({ min: 1, max: 9 }),
    deadlineAt: instant,
    wakeAt: instant,
    announced: fc.boolean(),
    n: fc.constantFrom(1, 2),
    list: lists,
    at: times(NOW),
    isChild: fc.boolean(),
    kind: fc.constantFrom('failure' as const, 'cancel' as const, 'deadline' as const),
    causeAt: past,
  })
  .map((drawn) => {
    const {
      status,
      version,
      epoch,
      deadlineAt,
      wakeAt,
      announced,
      kind,
      causeAt,
      isChild,
      pausedFor,
      ...input
    } = drawn;
    const open = !isTerminal(status);
    const isForward = open && status !== 'compensating';
    return {
      id: 'e-1',
      life: 'life1',
      workflow: 'flow',
      plan: 'hash',
      status,
      version,
      writeId: 'w-exec',
      epoch,
      input,
      inputHash: 'h',
      startedAt: NOW - HOUR,
      deadlineAt,
      ...(isChild ? { parent: { executionId: 'p-1', step: 'sub', index: 0 } } : {}),
      ...(open || !announced ? { wakeAt } : {}),
      ...(isForward ? {} : { cause: { kind, at: causeAt, failure } }),
      ...pausesOf(status, pausedFor),
      ...(open ? {} : { endedAt: NOW - 1 }),
      commands: [],
      dispatches: {},
    };
  });

export interface Case {
  readonly plan: Plan;
  readonly state: Snapshot;
}

const keysOf = (plan: Plan): Record<string, string> =>
  Object.fromEntries(plan.steps.filter(isCallback).map(({ name }) => [name, `key-${name}`]));

const stateOf = (plan: Plan): fc.Arbitrary<Snapshot> =>
  fc
    .record({
      execution,
      steps: fc.tuple(...plan.steps.map((step) => fc.option(stepRecord(step), { nil: undefined }))),
    })
    .map(({ execution: record, steps }) => ({
      execution: { ...record, callbackKeys: keysOf(plan) },
      steps: Object.fromEntries(steps.flatMap((step) => (step === undefined ? [] : [[step.name, step]]))),
    }));

const casesOf = (of: fc.Arbitrary<Plan>): fc.Arbitrary<Case> =>
  of.chain((plan) => stateOf(plan).map((state): Case => ({ plan, state })));

/** Cases whose plans have only agents' steps. */
export const cases: fc.Arbitrary<Case> = casesOf(plans);
/** Cases whose plans have steps of all kinds, with the known messages of the mailbox. */
export const mixedCases: fc.Arbitrary<Case> = fc
  .tuple(casesOf(plansOf(anyStep)), knownMailbox(NOW))
  .map(([{ plan, state }, mailbox]) => ({ plan, state: { ...state, ...defined({ mailbox }) } }));

/** Running cases whose steps all take messages. */
export const receivingCases: fc.Arbitrary<Case> = fc
  .tuple(casesOf(plansOf(receive)), knownMailbox(NOW))
  .map(([{ plan, state }, mailbox]) => {
    const { cause: _, endedAt: _endedAt, ...rest } = state.execution;
    const span = { startedAt: NOW - 30_000, deadlineAt: NOW + HOUR };
    const open = { ...rest, ...span, status: 'running' as const };
    return { plan, state: { ...state, execution: open, ...defined({ mailbox }) } };
  });

/** Any message, about existing and missing steps. */
export const messages: fc.Arbitrary<Message> = fc.record({
  v: fc.constant(1 as const),
  execution: fc.constant('e-1'),
  step: fc.constantFrom(...NAMES, 'nobody', 'constructor', '__proto__'),
  attempt: fc.integer({ min: 0, max: 6 }),
  mode: fc.constantFrom<Mode>('execute', 'probe', 'undo'),
  seq: fc.integer({ min: 0, max: 10 }),
});

/** Freezes a value deeply, so that code that changes its input throws. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const item of Object.values(value)) frozen(item);
  return value;
}
