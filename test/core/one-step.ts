/** Builds small states: a step in all modes, its records, their execution. Also compares records. */

import { decide } from '../../lib/core/decide.ts';
import type { AgentStage, AgentStep, Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import { blankStep } from '../../lib/core/decisions/change.ts';
import type { Decision } from '../../lib/core/decisions/decision.ts';
import type { CallbackQuestion } from '../../lib/core/records/question.ts';
import type { Event, EvaluateEvent } from '../../lib/core/decisions/events.ts';
import type { Incident } from '../../lib/core/records/question.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Execution, LeasedStep, Mode, Step } from '../../lib/core/records/state.ts';
import { planStep, planWith } from '../author/refusals.ts';
import { NOW } from './states.ts';

export const inputs = { writeId: 'w-new', now: NOW, random: 0.5 };
/** A step with retries after 5 s and 10 s; its undo, after 1 s and 2 s. */
export const step: AgentStep = {
  ...planStep,
  recovery: [
    { kind: 'retry', attempts: 2, firstMs: 10_000, maxMs: 60_000 },
    { kind: 'withInput', input: { other: true }, attempts: 1, firstMs: 0, maxMs: 0 },
  ],
  undo: { kind: 'retry', attempts: 2, firstMs: 2_000, maxMs: 60_000 },
};
export const probed: AgentStep = { ...step, effect: 'probed' };
const STATUS = { execute: 'running', probe: 'probing', undo: 'compensating' } as const;
export const failure = { code: 'x', message: 'y' };

export const heldAs = (mode: Mode, more: Partial<Step> = {}): LeasedStep =>
  ({
    name: 'it',
    life: 'life1',
    key: 1,
    keyVariant: 0,
    status: STATUS[mode],
    version: 7,
    writeId: 'w-old',
    epoch: 1,
    attempt: 1,
    stage: 0,
    stageAttempt: 1,
    token: 't',
    leaseUntil: NOW + 20_000,
    mode,
    claimedAt: NOW - 10_000,
    processDeadlineAt: NOW + 50_000,
    mayHaveActed: mode !== 'execute',
    heartbeat: 3,
    probes: 0,
    undoAttempt: mode === 'undo' ? 1 : 0,
    changedAt: NOW - 99_000,
    attempts: [],
    ...more,
  }) as LeasedStep;

/** The changed fields. null means removed; undefined means that the field exists without a value, a fault. */
export function changesOf(before: object, after: object | undefined): Record<string, unknown> | undefined {
  if (after === undefined) return undefined;
  const [old, now] = [before, after] as Record<string, unknown>[];
  const names = [...new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})])];
  const isIn = (record: object | undefined, name: string): boolean => Object.hasOwn(record ?? {}, name);
  const same = (name: string): boolean =>
    isIn(old, name) === isIn(now, name) && JSON.stringify(old?.[name]) === JSON.stringify(now?.[name]);
  return Object.fromEntries(
    names.filter((name) => !same(name)).map((name) => [name, isIn(now, name) ? now?.[name] : null]),
  );
}

/** The changes at every end of an attempt: the next version, no holder, one line of history. */
export const always = (record: LeasedStep, outcome: string, said: object) => ({
  version: 8,
  writeId: 'w-new',
  leaseUntil: null,
  changedAt: NOW,
  attempts: [
    {
      number: record.mode === 'undo' ? record.undoAttempt : record.attempt,
      mode: record.mode,
      claimedAt: NOW - 10_000,
      endedAt: NOW,
      outcome,
      ...said,
    },
  ],
  ...said,
});

export const stalling = (ms: number): AgentStep => ({ ...step, maxNoProgressMs: ms });

/** One attempt by another agent. */
export const otherStage: AgentStage = {
  kind: 'useAgent',
  agent: 'other',
  undo: 'none',
  attempts: 1,
  firstMs: 0,
  maxMs: 0,
  effect: 'idempotent',
  timeoutMs: 60_000,
  leaseMs: 20_000,
  pickupMs: 20_000,
  settleMs: 5_000,
};

export const DEADLINE = NOW + 3_600_000;
export const planOf = (...steps: PlanStep[]): Plan => planWith({}, { steps });
export const recordOf = (name: string, status: Step['status'], more: Partial<Step> = {}): Step => ({
  ...blankStep(name, { life: 'life1', epoch: 1 }),
  status,
  version: 1,
  writeId: 'w',
  changedAt: NOW,
  ...more,
});
export const stateOf = (records: readonly Step[], execution: Partial<Execution> = {}): Snapshot => ({
  execution: {
    id: 'e-1',
    life: 'life1',
    workflow: 'flow',
    plan: 'p',
    status: 'running',
    version: 1,
    writeId: 'w',
    epoch: 1,
    input: {},
    inputHash: 'h',
    startedAt: NOW,
    deadlineAt: DEADLINE,
    commands: [],
    dispatches: {},
    ...execution,
  },
  steps: Object.fromEntries(records.map((record) => [record.name, record])),
});

/** An approval or a callback that was opened recently. */
export const callbackAsked = (name: string, more: Partial<CallbackQuestion> = {}): CallbackQuestion => ({
  step: name,
  life: 'life1',
  workflow: 'shop',
  version: 1,
  writeId: 'w',
  kind: 'callback',
  openedAt: NOW - 5,
  deadlineAt: NOW + 60_000,
  otherwise: 'fail',
  reminders: 0,
  ...more,
});

/** A question about the step `it` that was asked recently. */
export const incidentOf = (more: Partial<Incident> = {}): Incident => ({
  number: 1,
  life: 'life1',
  workflow: 'shop',
  version: 1,
  writeId: 'w',
  kind: 'recovery',
  step: 'it',
  stepVersion: 1,
  failure,
  openedAt: NOW - 5,
  deadlineAt: NOW + 500,
  otherwise: 'keep',
  reminders: 0,
  ...more,
});

/** A supervisor's evaluation that knows nothing of agents. */
export const see = (plan: Plan, state: Snapshot, more: Partial<EvaluateEvent> = {}): Decision =>
  decide(plan, state, {
    type: 'evaluate',
    by: 'supervisor',
    affected: ['x'],
    fresh: true,
    readAt: NOW,
    ...inputs,
    ...more,
  } as Event);
