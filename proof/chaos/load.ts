/**
 * Simulates clients: they start executions at a steady rate, repeat requests with the same key until there is
 * an answer, repeat some starts, cancel some executions.
 *
 * Owns: the behaviour of a careful client, and the answers it got. Does not own: what is started, and how the
 * outside world treats it (`order-plan.ts`, `failure/plan.ts`).
 */

import type { RuleInput } from '../../examples/world/behaviour.ts';
import type { External } from './stage.ts';
import type { StartedKey } from './table-audit.ts';

/** A request without an answer by then is given up and repeated. */
const REQUEST_LIMIT_MS = 10_000;
const AGAIN_AFTER_MS = 300;
/** The external services check all their rules at every call; rules of the oldest orders are dropped. */
const MAX_RULES = 5_000;

/** One execution of the load: how the outside world treats it, and what its client does. */
export interface PlannedStart {
  /** Its idempotency key. */
  readonly key: string;
  readonly workflow: string;
  readonly input: unknown;
  /** Its own rules for the outside world; the first one that fits a call applies. */
  readonly rules: readonly RuleInput[];
  /** When its client starts it again with the same key, after the first time. */
  readonly repeatAfterMs?: number;
  /** When a client cancels it, after its start. */
  readonly cancelAfterMs?: number;
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

interface Answer {
  readonly status: number;
  readonly body: { readonly executionId?: string; readonly error?: { readonly code?: string } };
}

export interface LoadCounts {
  asked: number;
  /** Requests without a usable answer, which were repeated. */
  again: number;
  repeats: number;
  cancels: number;
}

export class Load {
  readonly counts: LoadCounts = { asked: 0, again: 0, repeats: 0, cancels: 0 };
  /** Answers that no client may ever get. */
  readonly problems: string[] = [];
  readonly #apiUrl: string;
  readonly #world: External;
  readonly #rulesLast: boolean;
  readonly #planned: (index: number) => PlannedStart;
  readonly #ids = new Map<string, string[]>();
  readonly #startedAt = new Map<string, number>();
  readonly #underWay = new Set<Promise<void>>();
  #rules = 0;
  #peaceful = false;
  #stopped = false;

  /**
   * @param planned the start with this number, from 0
   * @param rulesLast the external services keep to their rules until everything is over
   */
  constructor(apiUrl: string, world: External, planned: (index: number) => PlannedStart, rulesLast = false) {
    this.#apiUrl = apiUrl;
    this.#world = world;
    this.#planned = planned;
    this.#rulesLast = rulesLast;
  }

  /** Starts at a steady rate until the time is over. */
  async run(ratePerSecond: number, untilAt: number): Promise<void> {
    const everyMs = 1_000 / ratePerSecond;
    const beganAt = Date.now();
    for (let index = 0; ; index += 1) {
      const dueAt = beganAt + index * everyMs;
      if (this.#stopped || dueAt >= untilAt) return;
      await pause(dueAt - Date.now());
      this.#follow(this.#live(this.#planned(index)));
    }
  }

  /** Ends the faults of the external services, unless their rules last. */
  async makePeace(): Promise<void> {
    if (this.#rulesLast) return;
    this.#peaceful = true;
    await this.#world.clear();
  }

  stop(): void {
    this.#stopped = true;
  }

  get unanswered(): number {
    return this.#underWay.size;
  }

  keys(): readonly StartedKey[] {
    return [...this.#ids].map(([key, executionIds]) => ({ key, executionIds }));
  }

  startedAt(executionId: string): number | undefined {
    return this.#startedAt.get(executionId);
  }

  #follow(work: Promise<void>): void {
    const followed = work.catch((error: unknown) => {
      if (!this.#stopped) this.problems.push(error instanceof Error ? error.message : String(error));
    });
    this.#underWay.add(followed);
    void followed.finally(() => this.#underWay.delete(followed));
  }

  async #live(start: PlannedStart): Promise<void> {
    this.#ids.set(start.key, []);
    await this.#prepareWorld(start);
    const first = this.#start(start);
    if (start.repeatAfterMs === 0) this.#follow(this.#repeat(start, 0));
    const executionId = await first;
    if (start.repeatAfterMs !== undefined && start.repeatAfterMs > 0) {
      this.#follow(this.#repeat(start, start.repeatAfterMs));
    }
    if (executionId === undefined || start.cancelAfterMs === undefined) return;
    await pause(start.cancelAfterMs);
    await this.#cancel(executionId);
  }

  async #prepareWorld({ rules }: PlannedStart): Promise<void> {
    if (this.#peaceful) return;
    this.#rules += rules.length;
    if (this.#rules > MAX_RULES && !this.#rulesLast) {
      this.#rules = rules.length;
      await this.#world.clear();
    }
    for (const rule of rules) await this.#world.behave(rule);
  }

  async #repeat(start: PlannedStart, afterMs: number): Promise<void> {
    await pause(afterMs);
    this.counts.repeats += 1;
    await this.#start(start);
  }

  async #start({ key, workflow, input }: PlannedStart): Promise<string | undefined> {
    const path = `/workflows/${workflow}/executions`;
    const answer = await this.#insist(path, { input, idempotencyKey: key });
    const { executionId } = answer.body;
    if (answer.status !== 202 || executionId === undefined) {
      this.problems.push(`the start of ${key} was answered ${answer.status} ${answer.body.error?.code}`);
      return undefined;
    }
    this.#ids.get(key)?.push(executionId);
    if (!this.#startedAt.has(executionId)) this.#startedAt.set(executionId, Date.now());
    return executionId;
  }

  async #cancel(executionId: string): Promise<void> {
    this.counts.cancels += 1;
    const body = { reason: 'the customer changed their mind', commandId: `cancel-${executionId}` };
    const { status } = await this.#insist(`/executions/${executionId}/cancel`, body);
    // 409: it had ended or was being undone already.
    if (status !== 202 && status !== 409)
      this.problems.push(`the cancel of ${executionId} was answered ${status}`);
  }

  /** Repeats a request until there is an answer other than a server error. */
  async #insist(path: string, body: unknown): Promise<Answer> {
    for (;;) {
      this.counts.asked += 1;
      const answer = await this.#post(path, body).catch(() => undefined);
      if (answer !== undefined && answer.status < 500) return answer;
      if (this.#stopped) throw new Error('stopped');
      this.counts.again += 1;
      await pause(AGAIN_AFTER_MS);
    }
  }

  async #post(path: string, body: unknown): Promise<Answer> {
    const response = await fetch(`${this.#apiUrl}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  }
}
