/**
 * Tests a workflow with its agents in memory.
 *
 * Owns: the test's methods (start, skip, fail, replace, until …) and their refusals. Does not own: running
 * the production roles (`driver.ts`), the type of a state (`run-state.ts`).
 */

import type { KeysOf } from '../lib/core/values/options.ts';
import type { Worker } from '../lib/agent/author-code.ts';
import type { Agent, Implementation } from '../lib/core/plan/agent.ts';
import { partProblem } from '../lib/core/plan/agent-parts.ts';
import { type Duration, parseDuration } from '../lib/core/values/duration.ts';
import { referenceProblems } from '../lib/author/schemas/reference-check.ts';
import type { Workflow } from '../lib/core/plan/workflow.ts';
import type { Note } from '../lib/core/decisions/decision.ts';
import type { Ended } from '../lib/core/records/ended.ts';
import type { QuestionNews } from '../lib/core/decisions/news.ts';
import { perSecondOf } from '../lib/core/values/rate.ts';
import { refuse } from '../lib/core/values/errors.ts';
import { jsonSchemaOf } from '../lib/infra/json-schema.ts';
import { start } from '../lib/scheduler/start.ts';
import {
  type AgentCall,
  FAULT,
  type FaultOptions,
  type LoggedLine,
  type PlannedFault,
} from './agent-calls.ts';
import { asSent } from './as-sent.ts';
import { Driver, missingAgent } from './driver.ts';
import { connect, type ExternalWorld } from './external-world.ts';
import { checkChoice, checkOptions, declaredIn } from './test-options.ts';
import type { Injects } from './process.ts';
import { local, TestRun } from './test-run.ts';

/** An agent with its implementation: the handler that its file exports, or a fake made with `.handler`. */
export interface TestAgent {
  readonly worker: Worker;
}

/** The options of `testWorkflow`: the agents, and settings that differ from the defaults. */
export interface TestOptions {
  /** The handlers of all agents of the workflow, including those in recoveries; an `httpAgent` needs none. */
  readonly agents: readonly TestAgent[];
  /** More workflows, such as those that run as children. */
  readonly workflows?: readonly Workflow[];
  /**
   * The rate of each agent's attempts, as in `agentSettings`: `{ 'charge-card': '50/s' }`.
   * @default no limit
   */
  readonly rates?: Readonly<Record<string, string>>;
  /**
   * Whether values above 32 KB, up to 16 MB each, are stored outside the table, as in a deployment.
   * @default true
   */
  readonly largeValues?: boolean;
  /**
   * The seed of the random part of backoffs: the same seed gives the same run.
   * @default 1
   */
  readonly seed?: number;
  /** The test's time at its start, in epoch ms. @default 1_700_000_000_000, in November 2023 */
  readonly startsAt?: number;
  /**
   * How long an agent's code may wait for something real, such as a test's server, in real ms. Then the
   * test's time continues.
   * @default 2_000
   */
  readonly patienceMs?: number;
}

/** The options of a test's start. */
export interface TestStartOptions {
  /** A repeated start with the same key and input returns the same execution. */
  readonly idempotencyKey?: string;
  /** Tags, in addition to those from its input. */
  readonly tags?: Readonly<Record<string, string>>;
  /** The name of the person who starts it, for approvals that need another person. @default 'starter' */
  readonly by?: string;
  /** The address to which its end and its questions would be sent: see `notifications`. Nothing is sent. */
  readonly callbackUrl?: string;
}

/** News of an execution that was started with a `callbackUrl`. */
export interface TestNotification {
  readonly to: string;
  readonly news: Ended | QuestionNews;
}

export const TEST = {
  agents: true,
  workflows: true,
  rates: true,
  largeValues: true,
  seed: true,
  startsAt: true,
  patienceMs: true,
} as const satisfies KeysOf<TestOptions>;
const START = {
  idempotencyKey: true,
  tags: true,
  by: true,
  callbackUrl: true,
} as const satisfies KeysOf<TestStartOptions>;

/** An agent: its declaration, or its name. */
export type AgentRef = string | { readonly spec: { readonly name: string } };

const STARTS_AT = 1_700_000_000_000;

/** Options that only `crashEverywhere` passes. */
export interface Inner {
  readonly injects?: Injects;
  /** How late an agent's service may act, in ms, if that is known. */
  readonly slowestMs?: (agent: string) => number | undefined;
  /** Prefix of the executions' ids. @default the workflow's name */
  readonly idPrefix?: string;
  readonly world?: ExternalWorld;
}

/**
 * Numbers the executions of this process, so that tests that share external services do not share idempotency
 * keys.
 */
let executions = 0;

/** Workflows whose references have been checked, because `crashEverywhere` makes a test for every fault. */
const checked = new WeakSet<Workflow>();

/**
 * Refuses the references that synthesis refuses, so that a tested workflow can be deployed.
 * @throws SteadfastError `workflow-refused`
 */
function checkReferences(workflow: Workflow): void {
  if (checked.has(workflow)) return;
  const problems = referenceProblems(workflow, jsonSchemaOf);
  if (problems.length > 0) throw refuse('workflow-refused', problems.join('\n'));
  checked.add(workflow);
}

/** A workflow under test, in memory: starts executions, plans faults, moves the time. */
export class WorkflowTest<I> {
  readonly #workflow: Workflow<I>;
  readonly #workers = new Map<string, Worker>();
  readonly #driver: Driver;
  /** A prefix of execution ids and idempotency keys, for tests that start the same workflow repeatedly. */
  readonly #idPrefix: string | undefined;
  /** The addresses of starts, by execution. */
  readonly #callbackUrls = new Map<string, string>();

  /** Called by `testWorkflow`. @internal */
  constructor(workflow: Workflow<I>, options: TestOptions, inner: Inner = {}) {
    this.#workflow = workflow;
    this.#idPrefix = inner.idPrefix;
    const workflows = [workflow as Workflow, ...(options.workflows ?? [])];
    for (const [at, given] of options.agents.entries()) this.#add(given, at);
    for (const declared of workflows.flatMap(declaredIn))
      if (!this.#workers.has(declared.agent.spec.name)) this.#workers.set(declared.agent.spec.name, declared);
    this.#checkRates(options.rates ?? {});
    for (const one of workflows) {
      this.#checkComplete(one);
      checkReferences(one);
    }
    this.#driver = new Driver({
      workflows,
      workers: this.#workers,
      rates: options.rates ?? {},
      largeValues: options.largeValues ?? true,
      injects: inner.injects ?? (() => false),
      lateMs: ({ name, settleMs }) => Math.max(settleMs, inner.slowestMs?.(name) ?? 0),
      seed: options.seed ?? 1,
      startsAt: options.startsAt ?? STARTS_AT,
      patienceMs: options.patienceMs ?? 2_000,
    });
    if (inner.world !== undefined) connect(inner.world, this.#driver.calls.wire);
  }

  #add(given: TestAgent, at: number): void {
    const { worker } = given ?? {};
    const name = worker?.agent?.spec?.name;
    if (name === undefined || typeof worker?.implementation?.execute !== 'function') {
      const spec = (given as { spec?: { name?: string } } | undefined)?.spec;
      const what =
        spec?.name === undefined ? 'no handler of an agent' : `agent '${spec.name}' without its work`;
      throw refuse(
        'not-a-handler',
        `agents[${at}] is ${what}; pass what \`theAgent.handler({ execute, … })\` returns, for example the handler that its file exports`,
      );
    }
    if (worker.lacks !== undefined) throw refuse('bad-agents', worker.lacks.message);
    if (this.#workers.has(name)) {
      throw refuse('bad-agents', `agents has two implementations of '${name}'; pass one, or use replace`);
    }
    this.#workers.set(name, worker);
  }

  #checkRates(rates: Readonly<Record<string, string>>): void {
    for (const [agent, rate] of Object.entries(rates)) {
      if (!this.#workers.has(agent)) throw missingAgent(agent, `rate ${rate}`);
      perSecondOf(rate);
    }
  }

  #checkComplete(workflow: Workflow): void {
    for (const { spec } of workflow.agents) {
      if (this.#workers.has(spec.name)) continue;
      const { plan } = workflow;
      const steps = [...plan.steps, ...(plan.onFailure ?? [])]
        .filter((step) => JSON.stringify(step).includes(`"agent":"${spec.name}"`))
        .map((step) => `'${step.name}'`);
      const whose = `step ${steps.join(', ')} of workflow '${workflow.name}'`;
      throw missingAgent(spec.name, whose);
    }
  }

  /**
   * Starts an execution, like `POST /workflows/{name}/executions`. Its agents run only while the test lets
   * time pass: `waitForEnd`, `until`, `skip`.
   * @throws SteadfastError `bad-input` (details: the schema's issues), `key-reused`, `too-large`
   */
  async start(input: I, options: TestStartOptions = {}): Promise<TestRun> {
    checkOptions('start', options, START);
    executions += 1;
    const { name } = this.#workflow;
    const id = `${this.#idPrefix ?? name}-${executions}`.slice(-64);
    const { idempotencyKey: key, by = 'starter', ...rest } = options;
    const idempotencyKey =
      key !== undefined && this.#idPrefix !== undefined ? `${this.#idPrefix}/${key}` : key;
    const request = {
      workflow: name,
      input: asSent(input, 'input'),
      ...rest,
      by: local(by),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    };
    const execution = await this.#driver.ask(
      () => id,
      (scheduler) => start(scheduler, request),
    );
    if (execution.callbackUrl !== undefined) this.#callbackUrls.set(execution.id, execution.callbackUrl);
    return new TestRun(this.#driver, execution.id);
  }

  /** Lets a duration of the test's time pass, with all events in it. No real time passes. */
  async skip(duration: Duration): Promise<void> {
    const untilAt = this.now() + parseDuration(duration, 'what is skipped');
    const end = await this.#driver.run(async () => false, untilAt);
    if (end === 'endless') throw refuse('stuck', `too much happens within ${duration}`);
  }

  /** The test's time, in epoch ms. */
  now(): number {
    return this.#driver.world.clock.now();
  }

  /** Replaces some functions of an agent from now on. */
  replace<AI, AO>(agent: Agent<AI, AO>, implementation: Partial<Implementation<AI, AO>>): void {
    const name = this.#known(agent);
    const problem = partProblem(implementation, false);
    if (problem !== undefined) throw refuse('bad-option', `replace of agent '${name}': ${problem}`);
    const worker = this.#workers.get(name) as Worker;
    const changed = { ...worker.implementation, ...(implementation as object) };
    this.#workers.set(name, { ...worker, implementation: changed });
  }

  /**
   * Makes the next calls throw without running. `TransientError` and `PermanentError` say that nothing was
   * done; after any other error the outcome is unknown.
   * @param options `with`: the error, a `TransientError` by default
   */
  fail(agent: AgentRef, options: FaultOptions & { readonly with?: Error } = {}): void {
    const { with: error, ...rest } = options;
    this.#plan(agent, rest, { kind: 'fail', ...(error === undefined ? {} : { error }) });
  }

  /** Makes the next calls do their work and lose the answer: the outcome is unknown. */
  loseReply(agent: AgentRef, options: FaultOptions = {}): void {
    this.#plan(agent, options, { kind: 'lose-reply' });
  }

  /**
   * Makes the next calls fail at once and do their work this much later, like a request to a slow service
   * whose connection breaks. The outcome is unknown, and an early probe finds no effect.
   */
  lateEffect(agent: AgentRef, options: FaultOptions & { readonly by: Duration }): void {
    const { by, ...rest } = options;
    this.#plan(agent, rest, { kind: 'late', byMs: parseDuration(by, 'by') });
  }

  /** Makes the next calls never answer, without doing their work; the attempt ends at its timeout. */
  hang(agent: AgentRef, options: FaultOptions = {}): void {
    this.#plan(agent, options, { kind: 'hang' });
  }

  /** Delays the next calls by this much, even beyond their timeout. */
  delay(agent: AgentRef, options: FaultOptions & { readonly by: Duration }): void {
    const { by, ...rest } = options;
    this.#plan(agent, rest, { kind: 'slow', byMs: parseDuration(by, 'by') });
  }

  /** Kills the agent's process at the next calls: before the work, or after it and before the report. */
  kill(agent: AgentRef, options: FaultOptions & { readonly when: 'before' | 'after' }): void {
    const { when, ...rest } = options;
    checkOptions('a fault', rest, FAULT);
    checkChoice('a fault: when', when, ['before', 'after']);
    this.#plan(agent, rest, { kind: when === 'before' ? 'die-before' : 'die-after' });
  }

  /** All calls of the agents' code so far, in order; or only those of one agent. */
  calls(agent?: AgentRef): readonly AgentCall[] {
    const { book } = this.#driver.calls;
    if (agent === undefined) return book;
    const name = this.#known(agent);
    return book.filter((call) => call.agent === name);
  }

  /** Lines that the agents' code wrote by `ctx.log`, in order, at every level. */
  get logged(): readonly LoggedLine[] {
    return this.#driver.calls.logged;
  }

  /** Announcements of questions (incidents, approvals, callbacks) on the event bus, in order. */
  get questionNews(): readonly QuestionNews[] {
    return this.#driver.world.questionNews;
  }

  /** Announcements of ends on the event bus, in order. */
  get announced(): readonly Ended[] {
    return this.#driver.world.announced;
  }

  /** Announcements that would be sent to the `callbackUrl` of a start, in order. */
  get notifications(): readonly TestNotification[] {
    const { announced, questionNews } = this.#driver.world;
    const asked = [...questionNews, ...announced].filter(({ notify }) => notify !== undefined);
    const atOf = (news: Ended | QuestionNews): number => (news.about === 'end' ? news.endedAt : news.at);
    return asked
      .toSorted((one, other) => atOf(one) - atOf(other))
      .map((news) => ({ to: this.#callbackUrls.get(news.executionId) ?? '', news }));
  }

  /** Log lines of the roles, in order. */
  get notes(): readonly Note[] {
    return this.#driver.world.notes;
  }

  /** All executions, including children, in the order of their starts. */
  runs(): readonly TestRun[] {
    return [...this.#driver.created].map((id) => new TestRun(this.#driver, id));
  }

  #plan(agent: AgentRef, options: FaultOptions, fault: Omit<PlannedFault, 'agent'>): void {
    checkOptions('a fault', options, FAULT);
    checkChoice('a fault: on', options.on ?? 'execute', ['execute', 'probe', 'undo']);
    this.#driver.calls.plan({ ...options, ...fault, agent: this.#known(agent) });
  }

  #known(agent: AgentRef): string {
    const name = typeof agent === 'string' ? agent : agent.spec.name;
    if (this.#workers.has(name)) return name;
    const known = [...this.#workers.keys()].join(', ');
    throw refuse('unknown-agent', `there is no agent '${name}' in this test; there are: ${known}`);
  }
}
