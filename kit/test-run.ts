/**
 * One execution of a test.
 *
 * Owns: letting time pass, and the acts of people. Does not own: the events (`driver.ts`), the type of a
 * state (`run-state.ts`).
 */

import { explain, type Explanation } from '../lib/explain/why.ts';
import { choicesFor } from '../lib/core/operators/incidents.ts';
import { type Duration, parseDuration } from '../lib/core/values/duration.ts';
import { graphOf, hasChildren, isCallback, type Plan, type PlanStep } from '../lib/core/plan/plan.ts';
import type { Caller } from '../lib/core/values/caller.ts';
import { isSteadfastError, refuse } from '../lib/core/values/errors.ts';
import type { CallbackAnswer } from '../lib/core/decisions/events.ts';
import type { Choice, Incident } from '../lib/core/records/question.ts';
import { type Snapshot, incidentsIn } from '../lib/core/records/snapshot.ts';
import { callbackToken, type Execution } from '../lib/core/records/state.ts';
import { childIds, idsOfTries } from '../lib/core/waiting/child.ts';
import { withOwnMailbox } from '../lib/engine/mailbox.ts';
import { closeCallback } from '../lib/scheduler/callbacks.ts';
import { cancel, type CommandRequest, pause, resume, retry } from '../lib/scheduler/commands.ts';
import { resolveIncident, type ResolutionRequest } from '../lib/scheduler/incidents.ts';
import { sendMessage } from '../lib/scheduler/messages.ts';
import type { Scheduler, Shown } from '../lib/scheduler/start.ts';
import { asSent } from './as-sent.ts';
import { checkOptions } from './test-options.ts';
import type { Driver, RunEnd } from './driver.ts';
import { type RunState, stateOf, stuckMessage } from './run-state.ts';

/** An incident of a run that waits for an answer. */
export interface OpenIncident extends Incident {
  /** The choices, with what makes one unsafe now or when it becomes safe. */
  readonly choices: readonly {
    readonly choice: Choice;
    readonly needs?: 'nothingHappened';
    /** Epoch ms. */
    readonly notBefore?: number;
  }[];
}

/** The person who gives a command. */
interface Operator {
  /** The person's name. @default 'operator' */
  readonly by?: string;
}

let commands = 0;
/** Numbers the messages: each has one id, even if its call is repeated. */
let messages = 0;
const SEND = { id: true, by: true } as const;

const isAlreadyResolved = (error: unknown, choice: Choice): boolean =>
  isSteadfastError(error) &&
  error.code === 'already-resolved' &&
  (error.details as { readonly choice?: Choice } | undefined)?.choice === choice;

/** Longer than any workflow's deadline, including its undo. */
const LONGEST: Duration = '366d';

/** A test's person, recorded like `--as` on a laptop. */
export const local = (name: string): Caller => ({ kind: 'local', name });

/** One execution of a test. */
export class TestRun {
  /** The id of its execution. */
  readonly id: string;
  readonly #driver: Driver;

  /** Called by `start`. @internal */
  constructor(driver: Driver, id: string) {
    this.#driver = driver;
    this.id = id;
  }

  /**
   * Lets time pass until the execution's end is announced. It resolves for every kind of end. Incidents
   * resolve themselves at their deadline.
   * @param within the longest time, in the test's time; 366 days by default
   * @throws SteadfastError `stuck`; the message says what the execution waits for
   */
  async waitForEnd(within: Duration = LONGEST): Promise<RunState> {
    const isOver = ({ execution }: Snapshot): boolean =>
      execution.endedAt !== undefined && execution.wakeAt === undefined;
    return stateOf(await this.#until(isOver, within, 'end'));
  }

  /**
   * Lets time pass until `condition` is true; it is evaluated after every event.
   * @throws SteadfastError `stuck` if it never is
   */
  async until(condition: (state: RunState) => boolean, within: Duration = LONGEST): Promise<RunState> {
    const holds = (state: Snapshot, shown: Shown): boolean => condition(stateOf({ ...shown, state }));
    return stateOf(await this.#until(holds, within, 'come to what is waited for'));
  }

  /** Lets time pass until a person is asked. @throws SteadfastError `stuck` if none is */
  async waitForIncident(within: Duration = LONGEST): Promise<OpenIncident> {
    await this.until((state) => state.incidents.some((one) => one.closedAt === undefined), within);
    const [first] = await this.incidents();
    return first as OpenIncident;
  }

  /** The open incidents, with the choices that are safe now. */
  async incidents(): Promise<readonly OpenIncident[]> {
    const { state, plan } = await this.#driver.show(this.id);
    return incidentsIn(state)
      .filter((incident) => incident.closedAt === undefined)
      .map((incident) => ({
        ...incident,
        choices: choicesFor(plan, state, incident, this.#driver.world.clock.now()),
      }));
  }

  /**
   * Resolves the open incident, or the one with the number `incident`. `by` names the person, 'operator' by
   * default.
   * @throws SteadfastError `unknown-incident`, `already-resolved`, `unsafe-choice`, `bad-input`
   */
  async resolve(
    request: Omit<ResolutionRequest, 'incident' | 'by'> & {
      readonly incident?: number;
      readonly by?: string;
    },
  ): Promise<void> {
    const [open] = await this.incidents();
    const number = request.incident ?? open?.number;
    if (number === undefined) {
      throw refuse(
        'unknown-incident',
        `execution ${this.id} has no open question; await waitForIncident() first`,
      );
    }
    const { by = 'operator', ...rest } = request;
    const sent = asSent(rest, 'answer') as unknown as typeof rest;
    const asked = { ...sent, by: local(by), incident: number };
    let asks = 0;
    await this.#ask(async (scheduler) => {
      asks += 1;
      try {
        await resolveIncident(scheduler, this.id, asked);
      } catch (error) {
        // The scheduler died after it had written the answer. The client repeats it, and reads that its own
        // answer was accepted.
        if (asks === 1 || !isAlreadyResolved(error, rest.choice)) throw error;
      }
    });
  }

  /**
   * Lets time pass until the callback or approval is open and can be answered.
   * @throws SteadfastError `unknown-step`; `stuck` if it never opens
   */
  async waitForQuestion(step: string, within: Duration = LONGEST): Promise<RunState> {
    await this.#token(step);
    return this.until(({ steps }) => steps[step]?.waitsUntil !== undefined, within);
  }

  /**
   * Completes a callback as the external party, like `POST /callbacks/{token}/complete`, even before the step
   * begins.
   * @throws SteadfastError `unknown-step`, `already-closed`, `bad-output` (details: the schema's issues)
   */
  complete(step: string, output: unknown = null): Promise<void> {
    return this.#settle(step, { kind: 'complete', output: asSent(output, 'output') });
  }

  /**
   * Fails a callback as an external party that cannot do the work.
   * @throws SteadfastError `unknown-step`, `already-closed`
   */
  fail(step: string, failure: { readonly code?: string; readonly message?: string } = {}): Promise<void> {
    const { code = `${step}-failed`, message = 'failed by the test' } = failure;
    return this.#settle(step, { kind: 'fail', failure: { code, message } });
  }

  /**
   * Sends a heartbeat of a callback as the external party.
   * @throws SteadfastError `unknown-step`, `already-closed`
   */
  heartbeat(step: string): Promise<void> {
    return this.#settle(step, { kind: 'heartbeat' });
  }

  /**
   * Approves an approval as a person.
   * @param given `by`: the person, 'approver' by default; steps read `local:<by>`
   * @throws SteadfastError `unknown-step`, `already-closed`, `bad-output`; `not-another`, `not-open` if it
   * must be another person's
   */
  approve(step: string, given: { readonly by?: string; readonly comment?: string } = {}): Promise<void> {
    const { by, ...output } = given;
    return this.#settle(step, { kind: 'complete', output }, by);
  }

  /**
   * Rejects an approval as a person; the step fails with `rejected`.
   * @param given `reason`: why; `by`: the person, 'approver' by default
   * @throws SteadfastError `unknown-step`, `already-closed`; `not-another`, `not-open` if it must be another
   * person's
   */
  reject(step: string, given: { readonly reason?: string; readonly by?: string } = {}): Promise<void> {
    const { reason = 'rejected by the test', by } = given;
    return this.#settle(step, { kind: 'fail', failure: { code: 'rejected', message: reason } }, by);
  }

  /**
   * The existing executions of a child, repeat or map step, in order.
   * @throws SteadfastError `unknown-step`
   */
  async children(step: string): Promise<readonly TestRun[]> {
    const { state, plan } = await this.#driver.show(this.id);
    if (!hasChildren(graphOf(plan).step.get(step))) throw this.#noStep(step, plan, hasChildren);
    const record = state.steps[step];
    const ids =
      record === undefined
        ? []
        : new Set([...idsOfTries(state.execution, record), ...childIds(state.execution, record)]);
    return [...ids].filter((id) => this.#driver.created.has(id)).map((id) => new TestRun(this.#driver, id));
  }

  /**
   * Sends a message to the execution, like `POST /executions/{id}/messages`, even before a step waits for it.
   * @param options `id`: a message repeated under the same id counts once. `by`: the sender
   * @throws SteadfastError `unknown-message`, `bad-message` (details: the schema's issues), `ended`
   */
  async send(
    name: string,
    body: unknown = null,
    options: { readonly id?: string; readonly by?: string } = {},
  ): Promise<void> {
    checkOptions('send', options, SEND);
    messages += 1;
    const { by, id = `message-${messages}` } = options;
    const request = { name, body: asSent(body, 'body'), id, ...(by === undefined ? {} : { by: local(by) }) };
    await this.#ask((scheduler) => sendMessage(scheduler, { executionId: this.id }, request));
  }

  async #settle(step: string, answer: CallbackAnswer, by = 'approver'): Promise<void> {
    const token = await this.#token(step);
    await this.#ask((scheduler) => closeCallback(scheduler, token, answer, local(by)));
  }

  async #token(step: string): Promise<string> {
    const { state, plan } = await this.#driver.show(this.id);
    const token = callbackToken(state.execution, step);
    if (token !== undefined) return token;
    throw this.#noStep(step, plan, isCallback);
  }

  #noStep(step: string, plan: Plan, wanted: (one: PlanStep) => boolean): Error {
    const known = plan.steps.filter(wanted).map(({ name, kind }) => `'${name}' (${kind})`);
    const message = `execution ${this.id} has no such step '${step}'; it has: ${known.join(', ') || 'none'}`;
    return refuse('unknown-step', message);
  }

  /**
   * Cancels the execution: no new work starts, and effects are undone. With `undo: false` they stay in place,
   * and it ends as `failed`.
   * @throws SteadfastError `not-cancelable` if it has ended or is being undone
   */
  cancel(reason?: string, options: Operator & { readonly undo?: boolean } = {}): Promise<void> {
    const { undo, by } = options;
    return this.#command(cancel, reason, by, undo === undefined ? {} : { undo });
  }

  /**
   * Pauses the execution: no new work starts; attempts in progress finish.
   * @param options `within`: the time after which a person is asked, '7d' by default
   * @throws SteadfastError `not-pausable`, `bad-duration`
   */
  async pause(reason?: string, options: Operator & { readonly within?: Duration } = {}): Promise<void> {
    const { within, by } = options;
    const withinMs = within === undefined ? {} : { withinMs: parseDuration(within, "pause's within") };
    await this.#command(pause, reason, by, withinMs);
  }

  /** Ends the pause. @throws SteadfastError `not-resumable` */
  resume(reason?: string, { by }: Operator = {}): Promise<void> {
    return this.#command(resume, reason, by, {});
  }

  /**
   * Continues a failed execution where it failed, or resolves all open incidents of a waiting one with
   * 'retry'.
   * @throws SteadfastError `not-retryable`
   */
  retry(reason?: string, { by }: Operator = {}): Promise<void> {
    return this.#command(retry, reason, by, {});
  }

  async #command<Own extends object>(
    command: (scheduler: Scheduler, id: string, request: CommandRequest & Own) => Promise<Execution>,
    reason: string | undefined,
    by = 'operator',
    own: Own,
  ): Promise<void> {
    commands += 1;
    // One id for all repeats, because the process may die before it answers.
    const commandId = `command-${commands}`;
    const request = { ...own, commandId, by: local(by), ...(reason === undefined ? {} : { reason }) };
    await this.#ask((scheduler) => command(scheduler, this.id, request));
  }

  /** The current state; no time passes. */
  async state(): Promise<RunState> {
    return stateOf(await this.#driver.show(this.id));
  }

  /** The plan and the stored records. */
  records(): Promise<Shown> {
    return this.#driver.show(this.id);
  }

  /**
   * The answer of `GET /executions/{id}/why`: what happened, the evidence, and what happens next and when.
   */
  async why(): Promise<Explanation> {
    const { plan, state } = await this.#driver.show(this.id);
    const { world } = this.#driver;
    return explain(plan, await withOwnMailbox(world, plan, state), world.clock.now());
  }

  #ask<Answer>(request: (scheduler: Scheduler) => Promise<Answer>): Promise<Answer> {
    return this.#driver.ask(() => this.id, request);
  }

  async #until(
    isOver: (state: Snapshot, shown: Shown) => boolean,
    within: Duration,
    what: string,
  ): Promise<Shown> {
    const untilAt = this.#driver.world.clock.now() + parseDuration(within, 'within');
    let last: Shown | undefined;
    const check = async (): Promise<boolean> => {
      last = await this.#driver.show(this.id);
      return isOver(last.state, last);
    };
    const end: RunEnd = await this.#driver.run(check, untilAt);
    if (end !== 'over' && !(await check())) {
      const { plan, state } = last as unknown as Shown;
      const why = explain(plan, state, this.#driver.world.clock.now());
      throw refuse('stuck', stuckMessage(this.id, what, end, within, why), { why });
    }
    return last as unknown as Shown;
  }
}
