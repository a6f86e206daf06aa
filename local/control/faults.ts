/**
 * Decides when an armed fault is due, and causes it. Does not own: finding a function by name (control.ts).
 *
 * Invariants
 * - I1 for a function without an armed fault, no code here runs.
 * - I2 "before a call": the call is not executed. "After a call": it is executed, and its answer is never
 *   sent.
 * - I3 a fault for N calls hits exactly the next N that match, in order of arrival.
 */
import type { AwsCall } from '../gateway/aws-call.ts';
import type { Interception, Interceptor } from '../gateway/aws-gateway.ts';
import type { FunctionProcess } from '../lambda/function-process.ts';
import type { LocalFunction } from '../lambda/local-function.ts';
import {
  type ArmedFault,
  type CallFault,
  type FaultAction,
  type FaultHit,
  type FaultMoment,
  type FaultState,
  throttlingAnswer,
} from './fault.ts';

/** The target of a fault: a function, or only its processes with events of one queue. */
export interface FaultTarget {
  readonly local: LocalFunction;
  readonly queueArn?: string;
}

interface Armed extends FaultTarget {
  readonly id: string;
  readonly action: FaultAction;
  readonly moment: FaultMoment | CallFault;
  readonly operation: string | undefined;
  readonly delayMs: number;
  /** How many matching calls pass first. */
  skip: number;
  /** How many more calls it hits. */
  left: number;
  readonly hits: FaultHit[];
  readonly settle: (hit: FaultHit) => void;
}

const isAtWork = ({ queueArn }: FaultTarget, process: FunctionProcess | undefined): boolean =>
  process !== undefined && (queueArn === undefined || process.event?.includes(`"${queueArn}"`) === true);

/** How many past faults the list shows. */
const KEPT = 100;

export class Faults implements Interceptor {
  readonly #armed = new Map<string, Armed[]>();
  readonly #all: Armed[] = [];
  #count = 0;

  isArmed(caller: string): boolean {
    return this.#armed.has(caller);
  }

  /** Arms a kill or a freeze; with the moment `now` it happens at once. */
  armProcessFault(target: FaultTarget, action: 'kill' | 'freeze', moment: FaultMoment): ArmedFault {
    const isNow = moment === 'now' || 'holding' in moment;
    const call = isNow || 'nextEvent' in moment ? undefined : moment;
    const nth = call === undefined ? 1 : 'beforeCall' in call ? call.beforeCall : call.afterCall;
    if (!Number.isInteger(nth) || nth < 1)
      throw new Error(`beforeCall and afterCall count from 1, got ${nth}`);
    const { armed, result } = this.#arm(target, action, moment, call?.operation, 1, nth - 1, 0);
    if (isNow) this.#hitNow(armed, moment === 'now' ? undefined : moment.holding);
    return result;
  }

  /** Arms delaying, throttling or ambiguous answers for the next calls. */
  armCallFault(
    target: FaultTarget,
    action: 'delay' | 'throttle' | 'ambiguous' | 'late',
    fault: CallFault,
    delayMs = 0,
  ): ArmedFault {
    if (!Number.isInteger(fault.calls) || fault.calls < 1)
      throw new Error(`calls must be 1 or more, got ${fault.calls}`);
    return this.#arm(target, action, fault, fault.operation, fault.calls, 0, delayMs).result;
  }

  list(): FaultState[] {
    return this.#all.map((armed) => ({
      id: armed.id,
      functionName: armed.local.spec.functionName,
      action: armed.action,
      moment: armed.moment,
      state: armed.left > 0 ? 'armed' : 'over',
      hits: [...armed.hits],
    }));
  }

  /** Clears all armed faults. */
  clear(): void {
    for (const armed of this.#all.filter((each) => each.left > 0)) {
      armed.left = 0;
      this.#note(armed, { outcome: 'cleared', at: Date.now(), pids: [] });
    }
    this.#armed.clear();
  }

  /** Called by the pool right before an event is handed to a process that is ready for it. */
  delivered(local: LocalFunction, process: FunctionProcess): void {
    const due = (this.#armed.get(local.spec.logicalId) ?? []).filter(
      (armed) => typeof armed.moment === 'object' && 'nextEvent' in armed.moment && isAtWork(armed, process),
    );
    for (const armed of due) {
      this.#spend(armed);
      const afterMs = (armed.moment as { afterMs?: number }).afterMs ?? 0;
      const { requestId } = process;
      if (afterMs <= 0) void this.#strike(armed, [process]);
      else {
        setTimeout(() => {
          if (process.requestId === requestId) void this.#strike(armed, [process]);
          else this.#note(armed, { outcome: 'missed', at: Date.now(), pids: [] });
        }, afterMs);
      }
    }
  }

  async intercept(call: AwsCall): Promise<Interception> {
    // Chooses the due fault before any `await`, so that faults hit calls in order of arrival. A call sent by
    // a process that has since been killed counts for no fault.
    const due = (this.#armed.get(call.caller) ?? []).filter(
      (armed) => isAtWork(armed, armed.local.processOf(call.accessKeyId)) && this.#isDue(armed, call),
    );
    const name = `${call.service} ${call.operation}`;
    let isHangUp = false;
    let throttled = false;
    let isLate = false;
    const after: Armed[] = [];
    for (const armed of due) {
      if ('afterCall' in Object(armed.moment) || armed.action === 'ambiguous') after.push(armed);
      else if (armed.action === 'delay') {
        this.#note(armed, { outcome: 'hit', at: Date.now(), pids: this.#pids(armed, call), call: name });
        await new Promise((resolve) => setTimeout(resolve, armed.delayMs));
      } else if (armed.action === 'throttle' || armed.action === 'late') {
        this.#note(armed, { outcome: 'hit', at: Date.now(), pids: this.#pids(armed, call), call: name });
        if (armed.action === 'late') isLate = true;
        else throttled = true;
      } else isHangUp = (await this.#strikeCaller(armed, call, name)) === 'dead' || isHangUp;
    }
    if (isHangUp) return { kind: 'hangUp' };
    if (throttled) return { kind: 'answer', answer: throttlingAnswer(call.service, call.operation) };
    if (after.length === 0) return { kind: 'execute', isLate };
    return { kind: 'execute', isLate, afterwards: async () => await this.#afterwards(after, call, name) };
  }

  async #afterwards(after: readonly Armed[], call: AwsCall, name: string): Promise<'answer' | 'hangUp'> {
    let isHangUp = false;
    for (const armed of after) {
      if (armed.action === 'ambiguous') {
        this.#note(armed, { outcome: 'hit', at: Date.now(), pids: this.#pids(armed, call), call: name });
        isHangUp = true;
      } else isHangUp = (await this.#strikeCaller(armed, call, name)) === 'dead' || isHangUp;
    }
    return isHangUp ? 'hangUp' : 'answer';
  }

  /** Kills or freezes the calling process. The call of a frozen process waits until it is thawed or dead. */
  async #strikeCaller(armed: Armed, call: AwsCall, name: string): Promise<'awake' | 'dead'> {
    const process = armed.local.processOf(call.accessKeyId);
    if (process === undefined) {
      this.#note(armed, { outcome: 'missed', at: Date.now(), pids: [], call: name });
      return 'dead';
    }
    await this.#strike(armed, [process], name);
    return await process.awakeOrDead();
  }

  /** @param holding a text that the event must contain */
  #hitNow(armed: Armed, holding?: string): void {
    this.#spend(armed);
    const alive = armed.local.processes.filter((process) => !process.dead);
    const busy = alive.filter(
      (process) => process.event?.includes(holding ?? '') === true && isAtWork(armed, process),
    );
    const targets = busy.length > 0 || holding !== undefined ? busy : alive;
    if (targets.length > 0) void this.#strike(armed, targets);
    else this.#note(armed, { outcome: 'nothing', at: Date.now(), pids: [] });
  }

  async #strike(armed: Armed, targets: readonly FunctionProcess[], call?: string): Promise<void> {
    const pids = targets.map((process) => process.pid);
    if (armed.action === 'kill') await Promise.all(targets.map(async (process) => await process.kill()));
    else for (const process of targets) process.freeze();
    this.#note(armed, { outcome: 'hit', at: Date.now(), pids, ...(call === undefined ? {} : { call }) });
  }

  #isDue(armed: Armed, call: AwsCall): boolean {
    if (typeof armed.moment === 'object' && 'nextEvent' in armed.moment) return false;
    if (armed.operation !== undefined && armed.operation !== call.operation) return false;
    if (armed.action === 'late' && !asksIndex(call)) return false;
    if (armed.skip > 0) {
      armed.skip -= 1;
      return false;
    }
    this.#spend(armed);
    return true;
  }

  #spend(armed: Armed): void {
    armed.left -= 1;
    if (armed.left > 0) return;
    const { logicalId } = armed.local.spec;
    const rest = (this.#armed.get(logicalId) ?? []).filter((each) => each !== armed);
    if (rest.length === 0) this.#armed.delete(logicalId);
    else this.#armed.set(logicalId, rest);
  }

  #arm(
    target: FaultTarget,
    action: FaultAction,
    moment: FaultMoment | CallFault,
    operation: string | undefined,
    left: number,
    skip: number,
    delayMs: number,
  ): { armed: Armed; result: ArmedFault } {
    this.#count += 1;
    const hits: FaultHit[] = [];
    const settlers: ((hit: FaultHit) => void)[] = [];
    const hit = new Promise<FaultHit>((resolve) => settlers.push(resolve));
    const id = `fault-${this.#count}`;
    const settle = (first: FaultHit) => settlers[0]?.(first);
    const armed: Armed = { id, ...target, action, moment, operation, delayMs, skip, left, hits, settle };
    const { logicalId } = target.local.spec;
    this.#armed.set(logicalId, [...(this.#armed.get(logicalId) ?? []), armed]);
    this.#all.push(armed);
    if (this.#all.length > KEPT) {
      const oldest = this.#all.findIndex((each) => each.left <= 0);
      if (oldest >= 0) this.#all.splice(oldest, 1);
    }
    return { armed, result: { id, hit } };
  }

  #note(armed: Armed, hit: FaultHit): void {
    armed.hits.push(hit);
    armed.settle(hit);
  }

  #pids(armed: Armed, call: AwsCall): number[] {
    const process = armed.local.processOf(call.accessKeyId);
    return process === undefined ? [] : [process.pid];
  }
}

const asksIndex = ({ service, operation, body }: AwsCall): boolean =>
  service === 'dynamodb' && operation === 'Query' && body.includes('"IndexName"');
