/**
 * Calls `decide` with interned records, interns the results, and caches every answer.
 *
 * Owns: converting the model's state to a real snapshot and back. Does not own: the rules (`rules.ts`), the
 * moves (`agents.ts`, `actors.ts`).
 */

import { newExecution } from '../../lib/core/execution/start.ts';
import { performedStep, planInStatus } from '../../lib/core/plan/on-failure.ts';
import type { AgentStep, Plan } from '../../lib/core/plan/plan.ts';
import type { AffectedSteps, Decision, Next } from '../../lib/core/decisions/decision.ts';
import type { ChildEnd } from '../../lib/core/records/children.ts';
import type { ChildEvent, Event } from '../../lib/core/decisions/events.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { type Execution, isTerminal, type Mode, type Step } from '../../lib/core/records/state.ts';
import { adoptsLateSuccess } from '../../lib/core/step/lease.ts';
import { openWork, workKey } from '../../lib/core/step/ready.ts';
import { mayStillSucceed } from '../../lib/core/step/turn.ts';
import { endOf } from '../../lib/core/waiting/child-end.ts';
import {
  ALL_STEPS,
  type FamilyWork,
  type Hint,
  keyOf,
  MODES,
  type Outcome,
  type ReportKind,
  REPORTS,
  slotOf,
  type Stored,
} from './codes.ts';
import { type ModelConfig, stepsOf } from './config.ts';
import { Interner, Memo } from './intern.ts';
import type { Rules } from './rules.ts';
import {
  abstractExecution,
  type Abstraction,
  abstractStep,
  NEVER,
  ownedBy,
  nextChange,
  NOW,
  TICK,
} from './times.ts';

/** The largest random number, so that every backoff is its longest. */
const INPUTS = { writeId: 'w', now: NOW, random: 1 - 1e-9 } as const;
const READ_NOW = { readAt: NOW } as const;

type FamilyEvent = ChildEvent extends infer One ? (One extends ChildEvent ? One : never) : never;

export class Decider {
  readonly plan: Plan;
  readonly rules: Rules;
  readonly outcomes: Interner<Outcome> = new Interner('outcomes');
  readonly #abstraction: Abstraction;
  readonly #executions = new Interner<Execution>('executions');
  readonly #steps = new Interner<Step | null>('steps');
  readonly #names: readonly string[];
  readonly #answers = new Memo<Outcome>();
  readonly #moves = new Memo<number>();
  readonly #unread = new Memo<{ kind: 'read' | 'send' | 'end'; sends: number }>();

  readonly #born: Partial<Execution>;

  /** @param born the fields that the execution has from its parent, if it has one */
  constructor(config: ModelConfig, rules: Rules, born: Partial<Execution> = {}) {
    this.#born = born;
    this.plan = config.plan;
    this.rules = rules;
    this.#abstraction = { giveUp: config.giveUp, noDispatches: config.forge };
    this.#names = stepsOf(config.plan).map((step) => step.name);
    this.#steps.idOf(null);
  }

  execution(id: number): Execution {
    return this.#executions.at(id);
  }

  step(id: number): Step | undefined {
    return this.#steps.at(id) ?? undefined;
  }

  first(): Stored {
    const given = { id: 'e', life: 'l', plan: 'p', input: { flag: true }, inputHash: '', writeId: '' };
    const execution = { ...newExecution(this.plan, { ...given, ...this.#born }, NOW), deadlineAt: NEVER };
    return { exec: this.#idOfExecution(execution), steps: this.#names.map(() => 0) };
  }

  isTerminal(exec: number): boolean {
    return isTerminal(this.execution(exec).status);
  }

  #idOfExecution(execution: Execution, ticks = 0): number {
    return this.#executions.idOf(abstractExecution(execution, ticks, this.#abstraction));
  }

  #idOfStep(step: Step, ticks = 0): number {
    return this.#steps.idOf(abstractStep(step, ticks, this.#abstraction));
  }

  /**
   * The records as `decide` gets them.
   * @param own the step whose record bears the asker's token, or -1
   * @param acted whether to use the token of the attempt that a probe is about, if there is one
   */
  snapshot({ exec, steps }: Stored, own = -1, acted = false): Snapshot {
    const records: Record<string, Step> = {};
    for (const [at, id] of steps.entries()) {
      const record = this.step(id);
      if (record !== undefined) records[record.name] = at === own ? ownedBy(record, 'me', acted) : record;
    }
    const execution = this.execution(exec);
    const { dispatches } = execution;
    if (Object.keys(dispatches).length === 0) return { execution, steps: records };
    const keyed = openWork(this.plan, { execution, steps: records }).flatMap((work) => {
      const key = workKey(work);
      const known = dispatches[key.replace(/@.*$/, '')];
      return known === undefined ? [] : [[key, known] as const];
    });
    return { execution: { ...execution, dispatches: Object.fromEntries(keyed) }, steps: records };
  }

  affectedOf(bits: number): AffectedSteps {
    return (bits & ALL_STEPS) === 0 ? this.#names.filter((_, at) => (bits & (1 << at)) !== 0) : 'all';
  }

  #bitsOf(affected: AffectedSteps): number {
    if (affected === 'all') return ALL_STEPS;
    return affected.reduce((bits, name) => bits | (1 << this.#names.indexOf(name)), 0);
  }

  evaluate(stored: Stored, by: 'agent' | 'supervisor', affected: number, fresh: boolean): Outcome {
    const key = keyOf(stored, by === 'agent' ? 1 : 2, affected, fresh ? 1 : 0);
    return this.#answers.get(key, () =>
      this.#ask(this.snapshot(stored), {
        type: 'evaluate',
        by,
        affected: this.affectedOf(affected),
        fresh,
        ...READ_NOW,
        ...INPUTS,
      }),
    );
  }

  /** @param life ticks until the process is dead */
  deliver(stored: Stored, hint: Hint, life: number): Outcome {
    const { step, mode } = hint;
    const undone = this.step(stored.steps[step] as number)?.undoAttempt ?? 0;
    const attempt = mode === 2 ? undone + 1 : hint.attempt;
    return this.#answers.get(keyOf(stored, 3, slotOf(hint), life), () =>
      this.#ask(this.snapshot(stored), {
        type: 'deliver',
        message: {
          v: 1,
          execution: 'e',
          step: this.#names[step] as string,
          attempt,
          mode: MODES[mode] as Mode,
          seq: 0,
        },
        agent: (stepsOf(this.plan)[step] as AgentStep).agent,
        token: 'me',
        processDeadlineAt: NOW + life * TICK,
        ...READ_NOW,
        ...INPUTS,
      }),
    );
  }

  report(stored: Stored, step: number, own: boolean, kind: ReportKind, onTime: boolean): Outcome {
    const key = `${keyOf(stored, 4, step * 8 + (own ? 1 : 0) + (onTime ? 2 : 0), 0)}${kind}`;
    return this.#answers.get(key, () => {
      const event = this.#reportEvent(step, kind, onTime);
      return this.#ask(this.snapshot(stored, own ? step : -1), event);
    });
  }

  #reportEvent(step: number, kind: ReportKind, onTime: boolean): Event {
    return {
      type: 'report',
      step: this.#names[step] as string,
      token: 'me',
      report: REPORTS[kind],
      onTime,
      ...INPUTS,
    };
  }

  heartbeat(stored: Stored, step: number): Outcome {
    const event = { type: 'heartbeat', step: this.#names[step] as string, token: 'me', ...INPUTS } as const;
    return this.#answers.get(keyOf(stored, 5, step, 0), () => this.#ask(this.snapshot(stored, step), event));
  }

  /**
   * The death of the process whose attempt is the latest to execute or to undo, whether or not it has its
   * lease.
   */
  die(stored: Stored, step: number): Outcome {
    const event = {
      type: 'process-died',
      step: this.#names[step] as string,
      token: 'me',
      ...INPUTS,
    } as const;
    return this.#answers.get(keyOf(stored, 12, step, 0), () =>
      this.#ask(this.snapshot(stored, step, true), event),
    );
  }

  cancel(stored: Stored): Outcome {
    const event = { type: 'cancel', commandId: 'c', reason: '', ...INPUTS } as const;
    return this.#answers.get(keyOf(stored, 6, 0, 0), () => this.#ask(this.snapshot(stored), event));
  }

  /** @param command the operator's command */
  obey(stored: Stored, command: 'pause' | 'resume' | 'retry'): Outcome {
    const event = { type: command, commandId: 'c', reason: '', ...INPUTS } as const;
    return this.#answers.get(keyOf(stored, { pause: 8, resume: 9, retry: 10 }[command], 0, 0), () =>
      this.#ask(this.snapshot(stored), event),
    );
  }

  /** Decides on the result of an act on a child, or on a child's notice, with the caller's read. */
  hear(stored: Stored, event: FamilyEvent): Outcome {
    const key = `${keyOf(stored, 11, 0, 0)}${JSON.stringify(event)}`;
    return this.#answers.get(key, () => this.#ask(this.snapshot(stored), { ...event, ...INPUTS } as Event));
  }

  /** The number of an execution, or of a placeholder for a child that must never begin. */
  idOf(execution: Execution): number {
    return this.#idOfExecution(execution);
  }

  end(stored: Stored): ChildEnd {
    return endOf(this.plan, this.snapshot(stored));
  }

  /** True if a report of success that comes after the end of its lease is written (`agent/reporting.ts`). */
  adopts(stored: Stored, step: number): boolean {
    const state = this.snapshot(stored);
    const planned = stepsOf(this.plan)[step] as AgentStep;
    const record = this.step(stored.steps[step] as number);
    return (
      record !== undefined &&
      adoptsLateSuccess(record, mayStillSucceed(planInStatus(this.plan, state.execution), planned, state))
    );
  }

  /**
   * The next act of a holder whose claim led to `stored`, after an on-time `done`: read again, or send or end
   * without a read. It is known at the claim, because the holder decides on the claim's snapshot.
   */
  unread(stored: Stored, step: number, mode: number): { kind: 'read' | 'send' | 'end'; sends: number } {
    return this.#unread.get(keyOf(stored, 7, step, mode), () => {
      const snapshot = this.snapshot(stored, step);
      const kind = mode === 1 ? 'found' : 'done';
      const done = this.rules.decide(this.plan, snapshot, this.#reportEvent(step, kind, true));
      if (done.next.kind !== 'evaluate' || done.next.fresh || done.write?.step === undefined) {
        return { kind: 'read', sends: 0 };
      }
      const record = done.write.step;
      const after = { ...snapshot, steps: { ...snapshot.steps, [record.name]: record } };
      const affected = [record.name];
      const evaluate = {
        type: 'evaluate',
        by: 'agent',
        affected,
        fresh: false,
        ...READ_NOW,
        ...INPUTS,
      } as const;
      const decision = this.rules.decide(this.plan, after, evaluate);
      if (decision.write !== undefined) return { kind: 'end', sends: 0 };
      if (decision.next.kind === 'evaluate') return { kind: 'read', sends: 0 };
      return { kind: 'send', sends: this.#slotsOf(decision) };
    });
  }

  #slotsOf(decision: Decision): number {
    return decision.sends.reduce((bits, { message }) => {
      const step = this.#names.indexOf(message.step);
      return bits | slotOf({ step, mode: MODES.indexOf(message.mode), attempt: message.attempt });
    }, 0);
  }

  #ask(state: Snapshot, event: Event): Outcome {
    let decision: Decision;
    const problems: string[] = [];
    try {
      decision = this.rules.decide(this.plan, state, event);
    } catch (error) {
      problems.push(`S14 decide threw: ${String(error)}`);
      decision = { sends: [], next: { kind: 'idle' }, notes: [] };
    }
    const { write, next, notes } = decision;
    if (write?.execution !== undefined && write.execution.version !== state.execution.version + 1) {
      problems.push('S3 execution: version not + 1');
    }
    const { step } = write ?? {};
    if (step !== undefined && step.version !== (state.steps[step.name]?.version ?? 0) + 1) {
      problems.push(`S3 '${step.name}': version not + 1`);
    }
    return {
      exec: write?.execution === undefined ? -1 : this.#idOfExecution(write.execution),
      step: step === undefined ? -1 : this.#names.indexOf(step.name),
      stepTo: step === undefined ? 0 : this.#idOfStep(step),
      sends: this.#abstraction.noDispatches ? 0 : this.#slotsOf(decision),
      next: nextOf(next),
      ...(isFamily(next) ? { family: next } : {}),
      ...(decision.notifyParent === undefined ? {} : { end: decision.notifyParent.end }),
      fresh: next.kind === 'evaluate' && next.fresh,
      affected: next.kind === 'evaluate' ? this.#bitsOf(next.affected) : 0,
      announces: decision.announce?.about === 'end',
      early: next.kind === 'wait' || notes.some((note) => note.detail === 'early'),
      what: notes.map((note) => note.what).join(', '),
      problems,
    };
  }

  /** Records `ticks` later. */
  later(kind: 'exec' | 'step', id: number, ticks: number): number {
    return this.#moves.get(`${kind}${id}/${ticks}`, () => {
      if (kind === 'exec') return this.#idOfExecution(this.execution(id), ticks);
      const record = this.step(id);
      return record === undefined ? 0 : this.#idOfStep(record, ticks);
    });
  }

  /** A decided but unwritten claim, `ticks` later; its lease counts from the write. */
  laterClaim(id: number, ticks: number, life: number): number {
    return this.#moves.get(`claim${id}/${ticks}/${life}`, () => {
      const record = this.step(this.later('step', id, ticks)) as Step;
      const leaseMs = performedStep(this.plan, record.name)?.leaseMs ?? 0;
      const leaseUntil = NOW + Math.min(leaseMs, life * TICK);
      return this.#idOfStep({ ...record, claimedAt: NOW, leaseUntil });
    });
  }

  changed(id: number, change: Partial<Execution>): number {
    return this.#idOfExecution({ ...this.execution(id), ...change });
  }

  /** Ticks until the record changes by time alone; 0: never. */
  nextChange(kind: 'exec' | 'step', id: number): number {
    return this.#moves.get(`next${kind}${id}`, () => {
      const record = kind === 'exec' ? this.execution(id) : this.step(id);
      return record === undefined ? 0 : nextChange(record);
    });
  }
}

const isFamily = (next: Next): next is FamilyWork =>
  next.kind === 'start-children' || next.kind === 'stop-children' || next.kind === 'gather';

function nextOf(next: Next): Outcome['next'] {
  if (isFamily(next)) return 'family';
  return next.kind === 'evaluate' || next.kind === 'perform' || next.kind === 'idle' ? next.kind : 'other';
}
