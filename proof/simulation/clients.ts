/**
 * Simulates clients that start executions of one to three workflows, repeat requests with the same key, and
 * cancel some.
 *
 * Owns: the requested executions, and which requests were accepted.
 */

import type { Plan } from '../../lib/core/plan/plan.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { WorkflowPauses } from '../../lib/core/ports.ts';
import { cancel } from '../../lib/scheduler/commands.ts';
import { idOfKey, type Scheduler, start, type StartRequest } from '../../lib/scheduler/start.ts';
import { withAcceptance } from './acceptance.ts';
import { withBeats } from './beats.ts';
import { CHAINED, chainedShare, inChain } from './carried.ts';
import { emphasised } from './emphasis.ts';
import { withGroups } from './groups.ts';
import { giveOnce } from './operators.ts';
import { pausedWorkflows } from './whole-pauses.ts';
import { withOnFailure } from './on-failure.ts';
import { TOLERANT, withTolerance } from './tolerance.ts';
import { type Choice, randomPlan, withAskingList } from './plans.ts';
import { hashOf } from './bulk-world.ts';
import { type Host, newProcess, portsOf } from './process.ts';
import { passThrough } from './service.ts';
import { withContainers } from './containers.ts';
import { withMessages } from './mail.ts';
import { drawnInstant, withRareOptions } from './rare-options.ts';
import { withShortWait } from './short-waits.ts';
import { ACCOUNTS, withLane } from './lanes.ts';
import { withRounds } from './rounds.ts';
import { withStages } from './stages.ts';
import { withReminders } from './reminders.ts';
import { withTimes } from './within.ts';

/** A client without an answer repeats its request after this time. */
const PATIENCE_MS = 35_000;
const PROCESS_MS = 30_000;
/** The distance between the moments at which clients start together. */
const TOGETHER_MS = 10_000;
/** The share of cancels without undo. */
const LEFT_SHARE = 0.3;
/** The fewest executions of a world. */
const FEWEST = 4;
const MOST = 100;

const IDS = { hash: hashOf, newId: () => 'unused' };

type Registered = Scheduler['workflows'];

export class Clients {
  /** How many starts the seed has drawn. */
  readonly drawn: number;
  readonly #host: Host;
  readonly #workflows: Registered;
  readonly #held: WorkflowPauses | undefined;
  readonly #published = new Set<string>();
  readonly #accepted = new Set<string>();
  readonly #requests: StartRequest[] = [];

  /**
   * @param startsTogether whether clients start at the same few moments
   * @param kept the starts that take place. @default all
   */
  constructor(host: Host, startsTogether: boolean, kept?: ReadonlySet<number>) {
    this.#host = host;
    const { choice } = host;
    const workflows = Array.from({ length: choice.between(1, 3) }, (_, at) => workflowOf(host, at));
    this.#workflows = new Map(
      workflows.map((one) => [one.name, { workflow: one, planHash: `plan-of-${one.name}` }]),
    );
    this.#held = pausedWorkflows(host, this.#workflows.keys());
    const count = choice.between(FEWEST, MOST);
    for (let at = 0; at < count; at += 1) {
      const request = {
        workflow: choice.pick(workflows).name,
        input: {
          order: at,
          flag: choice.chance(0.5),
          items: listOf(randomList(choice), host),
          ...(host.laning === undefined ? {} : { account: host.laning.between(1, ACCOUNTS) }),
          ...(host.rare === undefined ? {} : { at: drawnInstant(host.rare, host.events.now) }),
        },
        idempotencyKey: `k${at}`,
      };
      const drawnMs = choice.between(0, 60_000);
      const afterMs = startsTogether ? drawnMs - (drawnMs % TOGETHER_MS) : drawnMs;
      if (!(kept?.has(at) ?? true)) continue;
      this.#requests.push(request);
      host.events.plan(afterMs, () => this.#start(request));
    }
    this.drawn = count;
  }

  get plans(): readonly Plan[] {
    return [...this.#workflows.values()].map(({ workflow }) => workflow.plan);
  }

  get allAccepted(): boolean {
    return this.#accepted.size === this.#requests.length;
  }

  /** Repeats every start with its key, after the earlier executions have expired. */
  startAgain(afterMs: number): void {
    const { choice, events } = this.#host;
    this.#accepted.clear();
    for (const request of this.#requests)
      events.plan(afterMs + choice.between(0, 60_000), () => this.#start(request));
  }

  /** Repeats the start of this execution, late. */
  repeat(executionId: string): void {
    const isOf = ({ workflow, idempotencyKey: key = '' }: StartRequest): boolean =>
      idOfKey(IDS, workflow, key) === executionId;
    const request = this.#requests.find(isOf);
    if (request !== undefined) this.#start(request);
  }

  /**
   * Makes a process of the scheduler's function. Warm processes share their knowledge; a fifth of the
   * processes are new.
   */
  scheduler(): Scheduler {
    const host = this.#host;
    const isNew = host.choice.chance(0.2);
    const process = newProcess(host, PROCESS_MS);
    // A warm process has a correct clock, because it has had answers from the store.
    const published = isNew || process.wrong !== undefined ? new Set<string>() : this.#published;
    const ports = portsOf(host, process);
    return {
      ...IDS,
      ports: this.#held === undefined ? ports : Object.assign(ports, { workflowPauses: this.#held }),
      workflows: this.#workflows,
      plans: host.plans,
      published,
      pauses: new Map(),
      personalRoles: host.cast?.personalRoles ?? new Set(),
    };
  }

  #start(request: StartRequest): void {
    let answered = false;
    const { cast } = this.#host;
    const by = cast === undefined ? {} : { by: cast.starter() };
    start(this.scheduler(), { ...request, ...by }).then(
      ({ id, version, pauses = [] }) => {
        answered = true;
        if (version === 1 && pauses.length > 0) this.#host.kinds.bornPaused += 1;
        this.#accept(id);
      },
      () => undefined,
    );
    // A client without an answer repeats the request with the same key; an impatient one always does.
    this.#host.events.plan(PATIENCE_MS, () => {
      if (answered && !this.#host.faults.injects('repeatedStart')) return false;
      return this.#start(request);
    });
  }

  #accept(executionId: string): void {
    if (this.#accepted.has(executionId)) return;
    this.#accepted.add(executionId);
    const { choice, emphasis, events, faults } = this.#host;
    if (!faults.injects('canceled')) return;
    events.plan(choice.between(0, 60_000), () => {
      const undo = !choice.chance(emphasis?.leaves ?? LEFT_SHARE);
      giveOnce(this.#host, executionId, 'c1', (to, asked) => cancel(to, executionId, { ...asked, undo }));
    });
  }
}

const workflowOf = (host: Host, at: number): Workflow => {
  const { choice, emphasis, groups, tolerance, cast, times, stages, containers } = host;
  const {
    onFailure,
    reminders,
    accepting,
    repeating,
    laning,
    beats,
    waits,
    answers,
    carried,
    sending,
    rare,
  } = host;
  const isChain = carried !== undefined && choice.chance(chainedShare(host));
  const chain = isChain ? inChain(randomPlan(choice, `simulated-${at}`, 0, CHAINED)) : undefined;
  // A plan without agent steps would make an empty chain.
  if (chain !== undefined && chain.steps.length > 0) {
    const followed = onFailure === undefined ? chain : withOnFailure(chain, onFailure);
    return asWorkflow(host, laning === undefined ? followed : withLane(followed, laning));
  }
  const drawn = randomPlan(choice, `simulated-${at}`, 0, emphasis?.counts);
  const listed = answers === undefined ? drawn : withAskingList(drawn, answers);
  const usual = emphasis === undefined ? listed : emphasised(listed, emphasis, choice);
  const grouped = groups === undefined ? usual : withGroups(usual, groups);
  const changing = stages === undefined ? grouped : withStages(grouped, stages);
  const contained = containers === undefined ? changing : withContainers(changing, containers);
  const tolerant =
    tolerance === undefined ? contained : withTolerance(contained, tolerance, emphasis === TOLERANT);
  const asking = cast === undefined ? tolerant : cast.withApprovals(tolerant);
  const sent = sending === undefined ? asking : withMessages(asking, sending);
  const timed = times === undefined ? sent : withTimes(sent, times);
  const followed = onFailure === undefined ? timed : withOnFailure(timed, onFailure);
  const reminded = reminders === undefined ? followed : withReminders(followed, reminders);
  const taking = accepting === undefined ? reminded : withAcceptance(reminded, accepting);
  const repeated = repeating === undefined ? taking : withRounds(taking, repeating, sending);
  const beating = beats === undefined ? repeated : withBeats(repeated, beats);
  const waiting = waits === undefined ? beating : withShortWait(beating, waits);
  const whole = rare === undefined ? waiting : withRareOptions(waiting, rare);
  return asWorkflow(host, laning === undefined ? whole : withLane(whole, laning));
};

function asWorkflow({ endsSilently }: Host, made: Plan): Workflow {
  const plan = endsSilently ? silent(made) : made;
  const parts = { kind: 'steadfast:workflow', name: plan.workflow, input: passThrough, plan, agents: [] };
  return parts as unknown as Workflow;
}

/** Changes the plan and its children's so that their ends are not announced. */
const silent = (plan: Plan): Plan => ({
  ...plan,
  announceEnds: false,
  steps: plan.steps.map((step) => {
    if (step.kind === 'child') return { ...step, plan: silent(step.plan) };
    if (step.kind !== 'map' || step.each.kind !== 'child') return step;
    return { ...step, each: { ...step.each, plan: silent(step.each.plan) } };
  }),
});

/**
 * The share of lists that are slightly longer than one part, in worlds with steps that may fail or with wrong
 * answers.
 */
const JUST_IN_PARTS = 0.24;

const listOf = (drawn: number[], { tolerance, answers }: Host): number[] => {
  const stream = tolerance ?? answers;
  return stream?.chance(JUST_IN_PARTS) === true
    ? Array.from({ length: stream.between(26, 31) }, (_, at) => at)
    : drawn;
};

/** Most lists are short; a few are long enough to have parts. */
const randomList = (choice: Choice): number[] =>
  Array.from({ length: choice.chance(0.03) ? choice.between(26, 60) : choice.between(0, 5) }, (_, at) => at);
