/** Records for the contract suites, with every field that a store must keep. */

import type { Plan } from '../../lib/core/plan/plan.ts';
import type { Execution, Step } from '../../lib/core/records/state.ts';

export const anExecution = (changes: Partial<Execution> = {}): Execution => ({
  id: 'e-1',
  life: 'life1',
  workflow: 'flow',
  plan: 'hash-1',
  status: 'running',
  version: 1,
  writeId: 'w-1',
  epoch: 1,
  input: {
    text: 'ünï € 😀 "quoted"',
    list: [1, 0.1, -5, null, true, { deep: [[]] }],
    S: 'x',
    N: 1,
    pk: 'y',
    v: 9,
  },
  inputHash: 'abc',
  startedAt: 1_700_000_000_000,
  deadlineAt: 1_700_003_600_000,
  wakeAt: 1_700_000_030_000,
  commands: [],
  dispatches: {},
  dispatched: 0,
  ...changes,
});

/** Every optional field is there. */
export const fullExecution = (changes: Partial<Execution> = {}): Execution =>
  anExecution({
    status: 'canceled',
    epoch: 3,
    tags: { team: 'a', 'cost.centre': '' },
    endedAt: 1_700_000_100_000,
    commands: ['c-1', 'c-2'],
    cause: { kind: 'cancel', at: 5, step: 'a', failure: { code: 'canceled', message: 'because' } },
    earlierPauses: { number: 2, at: 6, endedAt: 9, ms: 2 },
    output: { total: 1e21, small: 1e-7, empty: '', nothing: null },
    dispatches: { 'a/execute/1@5': { count: 3, lastAt: 9 } },
    dispatched: 7,
    ...changes,
  });

export const aStep = (changes: Partial<Step> = {}): Step => ({
  name: 'a',
  life: 'life1',
  key: 1,
  keyVariant: 0,
  status: 'running',
  version: 1,
  writeId: 'w-1',
  epoch: 1,
  attempt: 1,
  stage: 0,
  stageAttempt: 1,
  token: 't-1',
  leaseUntil: 1_700_000_030_000,
  mode: 'execute',
  claimedAt: 1_700_000_000_000,
  processDeadlineAt: 1_700_000_060_000,
  mayHaveActed: false,
  heartbeat: 0,
  probes: 0,
  undoAttempt: 0,
  changedAt: 0,
  attempts: [],
  ...changes,
});

export const fullStep = (changes: Partial<Step> = {}): Step =>
  aStep({
    status: 'compensating',
    epoch: 2,
    attempt: 3,
    stage: 2,
    stageAttempt: 4,
    givenInput: { by: 'hand' },
    key: 3,
    keyVariant: 1,
    keyInput: { by: ['hand'] },
    keySpent: true,
    mode: 'undo',
    mayHaveActed: true,
    heartbeat: 12,
    progress: 'row 500',
    progressAt: 1_700_000_001_000,
    heartbeatAt: 1_700_000_001_500,
    retryAt: 1_700_000_002_000,
    deferred: { mode: 'undo', why: 'breaker', at: 1_700_000_000_400, since: 1_700_000_000_300 },
    output: { chargeId: 'c-1', nested: [{ a: null }] },
    failure: { code: 'x', message: 'ÿ' },
    probes: 4,
    undoAttempt: 2,
    changedAt: 1_700_000_000_500,
    attempts: [
      {
        number: 1,
        mode: 'execute',
        claimedAt: 1,
        endedAt: 2,
        outcome: 'unknown',
        failure: { code: 'a', message: 'b' },
      },
      { number: 1, mode: 'probe', claimedAt: 3, endedAt: 4, outcome: 'done' },
    ],
    ...changes,
  });

export const aPlan: Plan = {
  v: 1,
  workflow: 'flow',
  withinMs: 60_000,
  steps: [
    {
      name: 'a',
      kind: 'agent',
      agent: 'worker',
      input: { n: { $ref: 'input', path: ['n'] }, euro: '€' },
      after: [],
      when: { $eq: [{ $ref: 'input', path: ['n'] }, 1] },
      effect: 'probed',
      timeoutMs: 60_000,
      leaseMs: 30_000,
      pickupMs: 30_000,
      settleMs: 5_000,
      recovery: [{ kind: 'retry', attempts: 3, firstMs: 1_000, maxMs: 30_000 }],
      undo: 'none',
    },
  ],
  output: {},
};
