/**
 * The rules under test: the real `decide`, or the real `decide` with one rule taken away.
 *
 * Owns: the ablations, each of which changes only the input or the output of `decide`. Does not own: any
 * rule. If an ablation finds nothing, the model is blind or the rule is not needed (`docs/PROOF.md`).
 */

import { decide } from '../../lib/core/decide.ts';
import { type AgentStep, agentSteps, dependentsOf, type Plan } from '../../lib/core/plan/plan.ts';
import { blankStep } from '../../lib/core/decisions/change.ts';
import type { Decision } from '../../lib/core/decisions/decision.ts';
import type { Event } from '../../lib/core/decisions/events.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { type Execution, isLeased, isTerminal, type Step } from '../../lib/core/records/state.ts';
import { stepToFence } from '../../lib/core/step/ready.ts';

export type Decide = (plan: Plan, state: Snapshot, event: Event) => Decision;

export interface Rules {
  readonly decide: Decide;
  /** Writes succeed whatever the stored version is. */
  readonly unconditional?: boolean;
  /** A report is accepted from any process. */
  readonly anyToken?: boolean;
  /** What follows from a report is sent before the report is written, not after. */
  readonly sendFirst?: boolean;
  /** Stopping a child that does not exist takes no place. */
  readonly noPlaceHolder?: boolean;
  /** A child announces its end and its parent gets no notice. */
  readonly silent?: boolean;
}

export const REAL_RULES: Rules = { decide };
/** The rules that `lateTx` is compared with. The search must find nothing with them. */
export const DEFERRAL_RULES: Rules = { decide: (plan, state, event) => deferral(plan, state, event) };

export interface Ablation extends Rules {
  readonly rule: string;
  /** The configuration that must find it. */
  readonly run: string;
}

const withStep = (state: Snapshot, step: Step): Snapshot => ({
  ...state,
  steps: { ...state.steps, [step.name]: step },
});

const mapSteps = (state: Snapshot, change: (step: Step) => Step): Snapshot => ({
  ...state,
  steps: Object.fromEntries(Object.entries(state.steps).map(([name, step]) => [name, change(step)])),
});

const changeStep = (decision: Decision, change: (step: Step) => Step): Decision => {
  const { write } = decision;
  return write?.step === undefined
    ? decision
    : { ...decision, write: { ...write, step: change(write.step) } };
};

/** Pretends that every step that could still begin was fenced, although no write fenced it. */
const unfenced: Decide = (plan, given, event) => {
  let state = given;
  while (state.execution.status === 'compensating') {
    const open = stepToFence(plan, state);
    if (open === undefined) break;
    const record = state.steps[open.name] ?? blankStep(open.name, state.execution);
    const { leaseUntil: _, ...rest } = record;
    state = withStep(state, { ...rest, status: 'fenced' });
  }
  return decide(plan, state, event);
};

const unreadSinks: Decide = (plan, state, event) => {
  const decision = decide(plan, state, event);
  const { next } = decision;
  const sink = event.type === 'report' && event.onTime && dependentsOf(plan, event.step).length === 0;
  const done = decision.write?.step?.status === 'done';
  return sink && done && next.kind === 'evaluate'
    ? { ...decision, next: { ...next, fresh: false } }
    : decision;
};

const forgetful: Decide = (plan, state, event) => {
  const decision = decide(plan, state, event);
  const answered =
    event.type === 'report' &&
    event.report.kind === 'failed' &&
    state.steps[event.step]?.mayHaveActed === true;
  return answered ? changeStep(decision, (step) => ({ ...step, mayHaveActed: false })) : decision;
};

/** Accepted work counts as dead as soon as its execution is stopped. */
const dismissive: Decide = (plan, state, event) =>
  decide(plan, state.execution.status === 'compensating' ? mapSteps(state, dismissed) : state, event);

const dismissed = ({ accepted, ...rest }: Step): Step =>
  rest.status === 'accepted'
    ? { ...rest, status: 'failed', mayHaveActed: false }
    : { ...rest, ...(accepted && { accepted }) };

const impatient: Decide = (plan, state, event) =>
  decide(
    plan,
    mapSteps(state, (step) => ({ ...step, processDeadlineAt: 0 })),
    event,
  );

const credulous: Decide = (plan, state, event) =>
  decide(
    plan,
    event.type === 'report'
      ? mapSteps(state, (step) => ({ ...step, claimedAt: Number.MAX_SAFE_INTEGER }))
      : state,
    event,
  );

const unprobed: Decide = (plan, state, event) =>
  decide(
    { ...plan, steps: agentSteps(plan).map((step): AgentStep => ({ ...step, effect: 'idempotent' })) },
    state,
    event,
  );

const tokenless: Decide = (plan, state, event) =>
  decide(
    plan,
    event.type === 'report' ? mapSteps(state, (step) => ({ ...step, token: event.token })) : state,
    event,
  );

/**
 * After a lost attempt the next one waits for 40 minutes. A variant, not an ablation: today's rules retry at
 * once, so that a late success never meets a far wake time. A deferred step would make that possible.
 */
const deferral: Decide = (plan, state, event) => {
  const decision = decide(plan, state, event);
  if (event.type !== 'evaluate') return decision;
  return changeStep(decision, (step) =>
    step.status === 'retrying' ? { ...step, retryAt: event.now + 2_400_000 } : step,
  );
};

/** A late success writes the step alone, although a lost attempt is followed by a long wait. */
const stepAlone: Decide = (plan, state, event) => {
  const decision = deferral(plan, state, event);
  const { write } = decision;
  if (event.type !== 'report' || write?.execution === undefined) return decision;
  const { execution: _, ...rest } = write;
  return { ...decision, write: rest };
};

/** The next wake time follows only from the known deadlines. */
const withoutH: Decide = (plan, state, event) => {
  const decision = decide(plan, state, event);
  const execution = decision.write?.execution;
  if (event.type !== 'evaluate' || execution === undefined || decision.write === undefined) return decision;
  if (execution.status !== state.execution.status || isTerminal(execution.status)) return decision;
  const leases = Object.values(state.steps)
    .filter(isLeased)
    .map((step) => step.leaseUntil + 1_000);
  const wakeAt = Math.min(execution.deadlineAt, event.now + 600_000, ...leases);
  return { ...decision, write: { ...decision.write, execution: { ...execution, wakeAt } } };
};

/** The end is written without keeping its wake time. */
const unwatchedEnd: Decide = (plan, state, event) => {
  const decision = decide(plan, state, event);
  const execution = decision.write?.execution;
  if (decision.write === undefined || execution === undefined || !isTerminal(execution.status))
    return decision;
  const { wakeAt: _, ...rest } = execution;
  return { ...decision, write: { ...decision.write, execution: rest } };
};

/** An undo does not wait for the dependents of its step. */
const anyOrder: Decide = (plan, state, event) => {
  if (event.type !== 'deliver' || event.message.mode !== 'undo') return decide(plan, state, event);
  const dependents = new Set(dependentsOf(plan, event.message.step).map((step) => step.name));
  const hidden = mapSteps(state, (step) => {
    if (!dependents.has(step.name)) return step;
    const { leaseUntil: _, ...rest } = step;
    return { ...rest, status: 'fenced', mayHaveActed: false };
  });
  return decide(plan, hidden, event);
};

/** The undo ends without waiting for attempts under way. */
const hastyEnd: Decide = (plan, state, event) => {
  if (state.execution.status !== 'compensating' || event.type !== 'evaluate')
    return decide(plan, state, event);
  return decide(
    plan,
    mapSteps(state, (step) => {
      const { leaseUntil, ...rest } = step;
      return leaseUntil === undefined || step.mode !== 'execute' ? step : { ...rest, status: 'failed' };
    }),
    event,
  );
};

/** A lease that ended is not noticed. */
const unnoticed: Decide = (plan, state, event) =>
  decide(
    plan,
    event.type === 'evaluate'
      ? mapSteps(state, (step) =>
          step.leaseUntil === undefined ? step : { ...step, leaseUntil: Number.MAX_SAFE_INTEGER },
        )
      : state,
    event,
  );

/** A pause seems so old that no process that read the state before it could still claim. */
const settled: Decide = (plan, state, event) => {
  const { pauses, status } = state.execution;
  if (status !== 'paused' || event.type !== 'evaluate') return decide(plan, state, event);
  const longAgo = pauses?.map((pause) => ({ ...pause, at: 0, withinMs: Number.MAX_SAFE_INTEGER }));
  return decide(
    plan,
    { ...state, execution: { ...state.execution, ...(longAgo === undefined ? {} : { pauses: longAgo }) } },
    event,
  );
};

/** A child is recalled as if no step after its own had acted. */
const childFirst: Decide = (plan, state, event) => {
  if (state.execution.status !== 'compensating' || event.type !== 'evaluate')
    return decide(plan, state, event);
  const decision = decide(
    plan,
    mapSteps(state, (step) => {
      if (step.children !== undefined) return step;
      const { leaseUntil: _, ...rest } = step;
      return { ...rest, status: 'fenced', mayHaveActed: false };
    }),
    event,
  );
  return decision.next.kind === 'stop-children' ? decision : decide(plan, state, event);
};

/** An execution that is being undone does not know of its children. */
const heedless: Decide = (plan, state, event) => {
  if (state.execution.status !== 'compensating' || event.type !== 'evaluate')
    return decide(plan, state, event);
  return decide(
    plan,
    mapSteps(state, ({ children, ...step }) =>
      children === undefined ? step : { ...step, status: 'fenced' },
    ),
    event,
  );
};

/** Every notice of a child counts as news. */
const gullible: Decide = (plan, state, event) =>
  decide(
    plan,
    state,
    event.type === 'child-ended' ? { ...event, end: { ...event.end, version: 1_000 } } : event,
  );

/** A failure is tolerated although its possible effects are not undone. */
const careless: Decide = (plan, state, event) =>
  decide(
    plan,
    event.type === 'evaluate'
      ? mapSteps(state, (step) => (step.status === 'failed' ? { ...step, mayHaveActed: false } : step))
      : state,
    event,
  );

const isOfEnd = (plan: Plan, event: Event): boolean =>
  event.type === 'deliver' && plan.onFailure?.some(({ name }) => name === event.message.step) === true;

const withStatus = (state: Snapshot, status: Execution['status']): Snapshot => ({
  ...state,
  execution: { ...state.execution, status, end: { status: 'failed', at: 0, version: 1 } },
});

/** On-failure steps begin while earlier acts are being undone. */
const hurried: Decide = (plan, state, event) =>
  state.execution.status === 'compensating' && isOfEnd(plan, event)
    ? decide(plan, withStatus(state, 'following-up'), event)
    : decide(plan, state, event);

/** The death of one process counts for all of its step's attempts. */
const sweeping: Decide = (plan, state, event) => {
  const decision = decide(plan, state, event);
  if (event.type !== 'process-died') return decision;
  return changeStep(decision, (step) => {
    const { processes: _, ...rest } = step;
    return { ...rest, processDeadlineAt: event.now };
  });
};

export const ABLATIONS: Readonly<Record<string, Ablation>> = {
  fence: { rule: 'the fence (stepToFence)', run: 'one-idempotent', decide: unfenced },
  sinkRead: { rule: 'the second read of a sink (mayDecideUnread)', run: 'par2-unaided', decide: unreadSinks },
  sendFirst: { rule: 'write, then send', run: 'chain2-unaided', decide, sendFirst: true },
  sticky: { rule: 'mayHaveActed outlives later answers', run: 'one-idempotent', decide: forgetful },
  processDeadline: {
    rule: 'undo and belief wait for processDeadline',
    run: 'one-idempotent',
    decide: impatient,
  },
  acceptance: {
    rule: 'accepted work acts until it is over or undone',
    run: 'one-accepted',
    decide: dismissive,
  },
  belief: { rule: 'notDone is believed only after processDeadline', run: 'one-probed', decide: credulous },
  probe: { rule: 'a probed step is probed before it is repeated', run: 'one-probed', decide: unprobed },
  token: {
    rule: 'a report needs the current token',
    run: 'one-idempotent',
    decide: tokenless,
    anyToken: true,
  },
  version: {
    rule: 'writes are conditional on the version',
    run: 'one-idempotent',
    decide,
    unconditional: true,
  },
  lateTx: { rule: 'a late success brings the wake time forward', run: 'one-idempotent', decide: stepAlone },
  hRule: { rule: 'no wake time later than e + H', run: 'one-live', decide: withoutH },
  endWake: { rule: 'the end keeps its wake time until it was told', run: 'one-live', decide: unwatchedEnd },
  order: { rule: 'undo in reverse order', run: 'chain2-once', decide: anyOrder },
  endLeased: { rule: 'no end while a step is held', run: 'one-idempotent', decide: hastyEnd },
  lease: { rule: 'a lease that ended is noticed', run: 'one-live', decide: unnoticed },
  deaths: {
    rule: "a death lowers its own attempt's deadline alone",
    run: 'one-killed',
    decide: sweeping,
  },
  tolerance: {
    rule: 'a failure is tolerated once it is undone',
    run: 'one-tolerated-live',
    decide: careless,
  },
  followUp: {
    rule: 'what follows an end begins when nothing is owed any more',
    run: 'one-followed',
    decide: hurried,
  },
  childPlace: {
    rule: 'stopping takes the place of a child that does not exist',
    run: 'child-raced',
    decide,
    noPlaceHolder: true,
  },
  childStop: {
    rule: 'no end while a child is under way',
    run: 'child-stopped',
    decide: heedless,
  },
  childTold: { rule: 'the end of a child is told to its parent', run: 'child', decide, silent: true },
  childOrder: {
    rule: 'a child is taken back after what depends on it',
    run: 'child-recalled',
    decide: childFirst,
  },
  childNews: {
    rule: 'an end from before a retry is no news',
    run: 'child-retried',
    decide: gullible,
  },
  pauseWatched: {
    rule: 'the wake time of a pause is near while what was read before it may begin',
    run: 'one-paused',
    decide: settled,
  },
};
