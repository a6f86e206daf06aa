/**
 * Carries an execution on: evaluates, writes and sends until nothing is left to do now.
 *
 * Owns: the loop around `decide`, its bound, and the handling of a lost race (read again, decide again). Does
 * not own: the decisions, or the order of effects (`commit.ts`). L4 no step is delayed by another whose
 * executions cannot be started, stopped or read, nor by an event bus that takes nothing.
 */

import type { Away } from '../core/values/away.ts';
import { isRepeated, type Plan } from '../core/plan/plan.ts';
import type { Ports, WriteResult } from '../core/ports.ts';
import {
  type AffectedSteps,
  type Decision,
  evaluateNext,
  joined,
  type Next,
} from '../core/decisions/decision.ts';
import type {
  ChildrenDone,
  Admissions,
  EvaluateEvent,
  Evaluation,
  TryNow,
} from '../core/decisions/events.ts';
import type { LaneDone } from '../core/records/lane.ts';
import type { Mailbox } from '../core/records/mailbox.ts';
import { defined } from '../core/values/defined.ts';
import { type Snapshot, withWrite } from '../core/records/snapshot.ts';
import { errorName } from '../core/values/errors.ts';
import { type HandedOn, notifyParent, withChildren } from './children.ts';
import { atLane, carryOnHanded, leaveIfOver } from './lanes.ts';
import { commit } from './commit.ts';
import { decisionInputsOf } from './decision-inputs.ts';
import { withoutWakeTime } from './mailbox.ts';
import { isStillThere } from './still-there.ts';
import { type Decided, decideWith } from './large-values.ts';

/**
 * The most writes for each step in one evaluation: a lease's end, a skip or a fence, a deferral. An approval
 * has an opening and an end, a reminder or another deadline, and the announcement of each.
 */
const PASSES_PER_STEP = 6;
/**
 * Allows for rounds without effects, which an undo passes one by one. If there are more, it continues at the
 * wake time.
 */
const PASSES_OF_ROUNDS = 120;
/** Allows for lost races. */
const SPARE_PASSES = 20;

const mostPasses = ({ steps, onFailure = [] }: Plan): number =>
  (steps.length + onFailure.length) * PASSES_PER_STEP +
  steps.filter(isRepeated).length * PASSES_OF_ROUNDS +
  SPARE_PASSES;

/** The knowledge of a supervisor's sweep beyond the execution that it evaluates. */
export interface Oversight {
  /** Asks which messages may be sent to agents, if there are any to send. Never rejects. */
  readonly ask: (agents: Readonly<Record<string, number>>) => Promise<Admissions>;
  readonly graceFrom?: number | undefined;
  readonly away?: readonly Away[] | undefined;
}

export interface Start {
  readonly by: EvaluateEvent['by'];
  readonly affected: AffectedSteps;
  /** Only if a supervisor evaluates. */
  readonly oversight?: Oversight;
  /**
   * Set if this process evaluates the parent afterwards, because it starts or stops the child: then the
   * child's end need not carry the parent on.
   */
  readonly forParent?: true;
  readonly tryNow?: TryNow;
  /** Collects executions that get a place in a lane meanwhile; the owner of this list carries them on. */
  readonly handedOn?: HandedOn;
  /**
   * The mailbox, written or read by this process before the execution. Its messages are evaluated, then its
   * wake time is removed.
   */
  readonly mailbox?: Mailbox;
  /** A state to decide on without reading first. */
  readonly known?: { readonly state: Snapshot; readonly fresh: boolean; readonly readAt: number };
}

/**
 * @returns the state as last known; undefined if the execution does not exist
 * @throws the ports' errors
 */
export async function reconcile(
  ports: Ports,
  plan: Plan,
  executionId: string,
  start: Start,
): Promise<Snapshot | undefined> {
  const handedOn: HandedOn = start.handedOn ?? [];
  const effects = new Effects();
  try {
    const state = await passes(ports, plan, executionId, start, handedOn, effects);
    if (start.mailbox !== undefined && !effects.isCut && !effects.hasTaken)
      await withoutWakeTime(ports, start.mailbox);
    return state;
  } finally {
    if (start.handedOn === undefined && handedOn.length > 0) await carryOnHanded(ports, handedOn, reconcile);
  }
}

/** The event that makes one process evaluate the state. */
function evaluationOf(
  ports: Ports,
  { by, oversight, tryNow }: Start,
  looked: Pick<EvaluateEvent, 'affected' | 'fresh' | 'readAt' | 'failing'>,
  known: { readonly admissions: Admissions; readonly lostRace: boolean; readonly laneLeft: boolean },
): Evaluation {
  const { admissions, lostRace, laneLeft } = known;
  const inputs = decisionInputsOf(ports);
  return {
    type: 'evaluate',
    by,
    ...looked,
    // The store's answer may have set back a clock that was ahead, so the time of the read is limited to now.
    readAt: Math.min(looked.readAt, inputs.now),
    ...(lostRace ? { lostRace } : {}),
    ...(laneLeft ? { laneLeft } : {}),
    ...defined({ tryNow }),
    ...(oversight === undefined
      ? {}
      : defined({ graceFrom: oversight.graceFrom, away: oversight.away, admissions })),
    ...inputs,
  };
}

async function passes(
  ports: Ports,
  plan: Plan,
  executionId: string,
  start: Start,
  handedOn: HandedOn,
  effects: Effects,
): Promise<Snapshot | undefined> {
  let { affected } = start;
  const { oversight } = start;
  let admissions: Admissions = {};
  let state = start.known?.state;
  let fresh = start.known?.fresh ?? true;
  let readAt = start.known?.readAt ?? 0;
  let lostRace = false;
  let laneLeft = false;
  const most = mostPasses(plan);
  for (let pass = 0; pass < most; pass += 1) {
    if (state === undefined) {
      readAt = ports.clock.now();
      state = await ports.store.read(executionId);
      fresh = true;
      if (state === undefined) return undefined;
    }
    const looked = { affected, fresh, readAt, ...effects.failing };
    const known = { admissions, lostRace, laneLeft };
    const deciding = decideWith(ports, plan, state, evaluationOf(ports, start, looked, known));
    const { decision, state: loaded }: Decided = deciding instanceof Promise ? await deciding : deciding;
    state = loaded;
    if (decision.next.kind === 'ask') {
      admissions = { ...admissions, ...(await oversight?.ask(decision.next.agents)) };
      continue;
    }
    if (decision.next.kind === 'start-children' && !(await isStillThere(ports, state.execution, readAt)))
      return undefined;
    // Before the write, because the write records that the parent knows.
    if (decision.notifyParent !== undefined)
      await notifyParent(ports, decision.notifyParent, start.forParent === true ? undefined : reconcile);
    const result = await effects.commit(ports, decision, state.execution);
    if (result !== 'written') {
      lostRace ||= result === 'conflict';
      state = undefined;
      continue;
    }
    // A process that loses one more race and then writes the end still notifies the parent.
    if (decision.write !== undefined) lostRace = false;
    const about = await effects.over(ports, executionId, decision.next, handedOn);
    if (about === 'failed') continue;
    laneLeft ||= about?.type === 'lane-left';
    const done = about === undefined ? decision : await record(ports, plan, state, about);
    if ('isLost' in done && decision.next.kind === 'lane') await leaveIfOver(ports, decision.next, handedOn);
    const { next, write } = done;
    state = withWrite(state, write);
    if (next.kind !== 'evaluate') return effects.thrownAfter(state);
    affected = about === undefined ? next.affected : joined(affected, next.affected);
    fresh = next.fresh;
    if (fresh) state = undefined;
  }
  effects.isCut = true;
  ports.log.note({ what: 'passes-exhausted', executionId });
  return effects.thrownAfter(state);
}

/**
 * Performs the effects. Steps whose child executions could not be started, stopped or read, or whose
 * questions could not be announced, are left out: the evaluation continues without them, and then fails.
 */
class Effects {
  /** Set if it ended before everything was done. */
  isCut = false;
  /** Set if a message was taken, and with it the mailbox's wake time. */
  hasTaken = false;
  readonly #steps: string[] = [];
  #first: unknown;

  get failing(): { readonly failing?: readonly string[] } {
    return this.#steps.length === 0 ? {} : { failing: [...this.#steps] };
  }

  async over(
    ports: Ports,
    executionId: string,
    next: Next,
    handedOn: HandedOn,
  ): Promise<ChildrenDone | LaneDone | 'failed' | undefined> {
    try {
      if (next.kind === 'lane') return await atLane(ports, next, handedOn);
      return await withChildren(ports, next, reconcile);
    } catch (error) {
      if (!('step' in next) || typeof next.step !== 'string') throw error;
      this.#first ??= error;
      this.#steps.push(next.step);
      const detail = errorName(error);
      const what = next.kind === 'lane' ? 'lane-failed' : 'children-failed';
      ports.log.note({ what, executionId, step: next.step, detail });
      return 'failed';
    }
  }

  /**
   * @returns 'unannounced' if the bus did not take a change of a question, or if the announcement could not
   * be recorded
   */
  async commit(
    ports: Ports,
    decision: Decision,
    before: Snapshot['execution'],
  ): Promise<WriteResult | 'unannounced'> {
    try {
      const result = await commit(ports, decision, before);
      this.hasTaken ||= result === 'written' && decision.write?.taken !== undefined;
      return result;
    } catch (error) {
      const { announce } = decision;
      if (announce === undefined || announce.about === 'end') throw error;
      const { executionId, step } = announce;
      this.#first ??= error;
      // A question about a pause or the deadline may have no step.
      this.#steps.push(step ?? '');
      const detail = errorName(error);
      ports.log.note({ what: 'not-announced', executionId, detail, ...defined({ step }) });
      return 'unannounced';
    }
  }

  /** @throws the first failure, if any: the caller counts it, and tries again later */
  thrownAfter(state: Snapshot | undefined): Snapshot | undefined {
    if (this.#steps.length > 0) throw this.#first;
    return state;
  }
}

/**
 * Records what was done to other executions, on the state that led to it. After a lost race the state is
 * evaluated again.
 */
async function record(
  ports: Ports,
  plan: Plan,
  state: Snapshot,
  event: ChildrenDone | LaneDone,
): Promise<Pick<Decision, 'next' | 'write'> & { readonly isLost?: true }> {
  const deciding = decideWith(ports, plan, state, { ...event, ...decisionInputsOf(ports) });
  const { decision } = deciding instanceof Promise ? await deciding : deciding;
  const again = { next: evaluateNext([event.step]) };
  return (await commit(ports, decision, state.execution)) === 'conflict'
    ? { ...again, isLost: true }
    : { ...again, ...decision };
}

/** Continues after another decision (a delivery, a report, a cancel). */
export const continueWith = async (
  ports: Ports,
  plan: Plan,
  state: Snapshot,
  decision: Decision,
  readAt: number,
): Promise<void> => {
  const { next } = decision;
  if (next.kind !== 'evaluate') return;
  const known = next.fresh
    ? {}
    : { known: { state: withWrite(state, decision.write), fresh: decision.write === undefined, readAt } };
  await reconcile(ports, plan, state.execution.id, { by: 'agent', affected: next.affected, ...known });
};

/**
 * Writes what was decided and continues from there. What fails after the write, a supervisor repeats at the
 * wake time.
 * @returns 'conflict' if another write came first: read and decide again
 */
export async function carryOut(
  ports: Ports,
  plan: Plan,
  state: Snapshot,
  decision: Decision,
  readAt: number,
  step?: string,
): Promise<WriteResult> {
  const result = await commit(ports, decision, state.execution);
  if (result === 'conflict') return result;
  await continueWith(ports, plan, state, decision, readAt).catch(() => {
    ports.log.note({ what: 'follow-up-failed', executionId: state.execution.id, ...defined({ step }) });
  });
  return result;
}
