/**
 * Fires `rate(…)` rules at their intervals; lets a caller fire, disable and enable one.
 *
 * Invariants
 * - I1 the first tick comes one interval after the start; a tick missed while the machine slept is not made
 *   up.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Json } from '../template/json.ts';
import type { RuleSpec } from '../template/routing-model.ts';
import type { EventBus } from './event-bus.ts';

/** A schedule as the control shows it. */
export interface ScheduleState {
  readonly logicalId: string;
  readonly name: string;
  readonly expression: string;
  readonly enabled: boolean;
  /** When it was disabled. */
  readonly disabledAt?: number;
  readonly ticks: number;
  readonly lastTickAt: number | undefined;
}

export class Schedules {
  readonly #rules: readonly RuleSpec[];
  readonly #bus: EventBus;
  readonly #clock: Clock;
  readonly #place: { readonly region: string; readonly accountId: string };
  readonly #ticks = new Map<string, { count: number; lastAt: number | undefined }>();
  readonly #timers = new Map<string, () => void>();
  /** When each rule was disabled: the start of the cloud if the template disables it. */
  readonly #disabledAt = new Map<string, number>();

  constructor(
    rules: readonly RuleSpec[],
    bus: EventBus,
    clock: Clock,
    place: { readonly region: string; readonly accountId: string },
  ) {
    this.#rules = rules.filter((rule) => rule.scheduleExpression !== undefined);
    this.#bus = bus;
    this.#clock = clock;
    this.#place = place;
    for (const { ruleName } of this.#rules)
      if (!bus.isEnabled(ruleName)) this.#disabledAt.set(ruleName, clock.now());
  }

  start(): void {
    for (const rule of this.#rules) this.#arm(rule);
  }

  stop(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  list(): ScheduleState[] {
    return this.#rules.map((rule) => ({
      logicalId: rule.logicalId,
      name: rule.ruleName,
      expression: rule.scheduleExpression ?? '',
      enabled: this.#bus.isEnabled(rule.ruleName),
      ...disabled(this.#disabledAt.get(rule.ruleName)),
      ticks: this.#ticks.get(rule.ruleName)?.count ?? 0,
      lastTickAt: this.#ticks.get(rule.ruleName)?.lastAt,
    }));
  }

  setEnabled(name: string, enabled: boolean): void {
    this.#bus.setEnabled(name, enabled);
    if (enabled) this.#disabledAt.delete(name);
    else if (!this.#disabledAt.has(name)) this.#disabledAt.set(name, this.#clock.now());
  }

  /** Fires a schedule now, enabled or not. Resolves when its functions have run (once). */
  async tick(name: string): Promise<void> {
    const rule = this.#rules.find((each) => each.ruleName === name);
    if (rule === undefined) throw new Error(`no schedule "${name}"`);
    const at = this.#clock.now();
    const count = (this.#ticks.get(name)?.count ?? 0) + 1;
    this.#ticks.set(name, { count, lastAt: at });
    const event: Json = {
      version: '0',
      id: randomUUID(),
      'detail-type': 'Scheduled Event',
      source: 'aws.events',
      account: this.#place.accountId,
      time: new Date(at).toISOString().replace(/\.\d+Z$/, 'Z'),
      region: this.#place.region,
      resources: [rule.arn],
      detail: {},
    };
    await this.#bus.deliver(rule, event);
  }

  #arm(rule: RuleSpec): void {
    if (rule.everyMs === undefined) return;
    const cancel = this.#clock.setTimer(rule.everyMs, () => {
      this.#arm(rule);
      if (this.#bus.isEnabled(rule.ruleName)) void this.tick(rule.ruleName);
    });
    this.#timers.set(rule.ruleName, cancel);
  }
}

const disabled = (at: number | undefined): Pick<ScheduleState, 'disabledAt'> =>
  at === undefined ? {} : { disabledAt: at };
