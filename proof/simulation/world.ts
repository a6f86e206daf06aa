/**
 * A simulated world: one seed, some executions of a few plans, the production roles, faults, and the verdict.
 *
 * Owns: the run in two phases (faults; then healed, when everything must end in bounded time), the judgement
 * of every write. Does not own: the protocol: every decision is the production `decide`, every effect goes
 * through the roles.
 */

import { BULK } from '../../lib/core/plan/built-in.ts';
import type { Plan } from '../../lib/core/plan/plan.ts';
import type { Note, Write } from '../../lib/core/decisions/decision.ts';
import type { Ended } from '../../lib/core/records/ended.ts';
import type { QuestionNews } from '../../lib/core/decisions/news.ts';
import { rootOf } from '../../lib/core/values/names.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { MOST_LAG_MS } from './index-history.ts';
import { judgeList as judgeItems } from './oracle-lists.ts';
import { seededRandom } from '../../lib/memory/world.ts';
import { startBulkMakers } from './bulk-makers.ts';
import { Clients } from './clients.ts';
import { countDeath } from './containers.ts';
import { ratesIn } from './streams.ts';
import { type FaultMode, type Faults, swarm } from './faults.ts';
import { noKinds } from './kinds.ts';
import { retryAtOnce, startOperators } from './operators.ts';
import { judgeAnswers } from './oracle-answers.ts';
import { OracleAsked } from './oracle-asked.ts';
import { judgeAttempt } from './oracle-attempts.ts';
import { judgeRecall } from './oracle-children.ts';
import type { Others } from './families.ts';
import { OracleGroups } from './oracle-groups.ts';
import { OracleInbox } from './oracle-inbox.ts';
import { problemsAnnounced, problemsAtEnd } from './oracle-ends.ts';
import { judgeKeys } from './oracle-keys.ts';
import { planSeen, recordsSeen } from './on-failure.ts';
import { countFollowed, judgeOnFailure } from './oracle-on-failure.ts';
import { OraclePoints } from './oracle-points.ts';
import { judgeTolerated } from './oracle-tolerate.ts';
import { judgeRisk } from './oracle-operations.ts';
import { countRetried } from './oracle-retries.ts';
import { judgeList, judgeRetention } from './oracle-store.ts';
import { OracleTimes } from './oracle-times.ts';
import { judgeWake, type Looked } from './oracle-wake.ts';
import { isAnnounced, judge } from './oracle.ts';
import { startErasers } from './erasers.ts';
import { startExternalParty } from './external-party.ts';
import { startPeople } from './people.ts';
import { drawRefusedIndex } from './refused-index.ts';
import { type Choice, choiceOf } from './plans.ts';
import { type Host, planOf } from './process.ts';
import { startSupervisors } from './supervisors.ts';
import { type Traits, traitsOf } from './traits.ts';
import type { WorldOptions, WorldResult } from './world-result.ts';
import { hostOf } from './world-host.ts';
import { INDEX_SHARDS, type WorldIndex, WorldTable } from './world-table.ts';

const START_AT = 1_700_000_000_000;
const FAULTY_MS = 15 * 60_000;
/**
 * After the heal everything must be over by then: all recoveries, undos, long backoffs, and a day for an
 * on-failure step (L1).
 */
const LIVENESS_MS = 30 * 3_600_000;
/**
 * A supervisor that lets one message through to a service under trial puts the others off to its next sweep;
 * with a full queue, for longer.
 */
const PUT_OFF_MS: Readonly<Record<FaultMode, number>> = { all: 31_000, none: 0, masked: 0, crowded: 900_000 };
/** How long ended executions are kept in a world that runs twice. */
const RETENTION_MS = 30 * 60_000;
const SMALL_PAGE = 5;
export class World {
  readonly #options: WorldOptions;
  readonly #traits: Traits;
  readonly #host: Host;
  readonly clients: Clients;
  readonly #table: WorldTable;
  /** Ends by execution: an end that another followed, after a retry or a recall, may be announced late. */
  readonly #announced = new Map<string, Set<string>>();
  readonly #violations: string[] = [];
  readonly #times = new OracleTimes();
  readonly #asked = new OracleAsked();
  readonly #inbox: OracleInbox;
  readonly #groups: OracleGroups;
  readonly #points: OraclePoints;
  readonly #others: Others = {
    read: (id) => this.#ofThisLife(id),
    planOf: (id) => planOf(this.#host, id),
  };
  /** The time from which all faults are over. */
  #healedAt: number | undefined;
  #interventions = 0;
  #healAt = START_AT + FAULTY_MS;
  #livesLeft: number;
  #executions = 0;
  readonly #ends: Record<string, number> = {};
  #deferred = 0;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.#traits = traitsOf(options.seed);
    const { livesTwice, hasSmallPages } = this.#traits;
    const isMild = options.mode === 'none' || options.mode === 'masked';
    this.#livesLeft = livesTwice ? 1 : 0;
    const kinds = noKinds();
    this.#inbox = new OracleInbox(kinds);
    const choice = choiceOf(seededRandom(options.seed));
    const faults = swarm(choice, options.mode, options.only, isMild ? {} : ratesIn(this.#traits));
    const index = this.#indexOf(choice, faults, hasSmallPages);
    this.#table = new WorldTable((id, before, write) => this.#judge(id, before, write), index);
    const differs = (problem: string): void => this.#violate('the file', `S12 ${problem}`);
    const file = options.fileOf?.(this.#table.shards, index, differs);
    const host = hostOf(
      { options, traits: this.#traits, startAt: START_AT, choice, faults },
      {
        table: this.#table,
        file,
        kinds,
        violate: (about, problem) => this.#violate(about, problem),
        announce: (news) => (news.about === 'end' ? this.#announce(news) : this.#judgeNews(news)),
        note: (note) => this.#note(note),
        over: () => this.clients.allAccepted && this.#table.open === 0,
        goes: (id) => this.#goes(id),
      },
    );
    this.#host = host;
    host.ledger.erased = host.erasures.lives;
    this.#points = new OraclePoints(this.#others, host.ledger);
    this.#groups = new OracleGroups(host.ledger, this.#others, kinds);
    this.clients = new Clients(host, this.#traits.startsTogether, options.starts);
    startSupervisors(host);
    startPeople(host);
    startOperators(host);
    startExternalParty(host);
    startErasers(host, (id) => this.clients.repeat(id));
    if (host.bulks !== undefined) startBulkMakers(host, host.bulks, () => this.clients.scheduler());
  }

  #graceFrom = Number.NEGATIVE_INFINITY;

  #announce(ended: Ended): void {
    const { executionId, status } = ended;
    this.#judgeAnnounced(ended);
    this.#announced.set(executionId, (this.#announced.get(executionId) ?? new Set()).add(status));
    retryAtOnce(this.#host, ended);
  }

  #indexOf(choice: Choice, faults: Faults, hasSmallPages: boolean): WorldIndex {
    return {
      created: (execution) => {
        this.#host.erasures.created(execution);
        for (const problem of this.#groups.created(execution)) this.#violate(execution.id, problem);
      },
      refuse: (executionId, why) => this.#violate(executionId, `S12 the store refuses ${why}`),
      page: hasSmallPages ? SMALL_PAGE : undefined,
      now: () => this.#host.events.now,
      lagMs: () => (faults.injects('staleIndex') ? choice.between(100, MOST_LAG_MS) : 0),
      refuses: drawRefusedIndex(this.#options.seed, faults, START_AT, INDEX_SHARDS),
    };
  }

  #note({ what, detail, agent }: Note): void {
    // Every caller asks first; otherwise nothing would follow until the deadline.
    if (detail?.startsWith('illegal-move') === true) this.#violations.push(`S2 ${what}: ${detail}`);
    countDeath(this.#host.kinds, what, detail);
    if (what === 'breaker-failed' && agent !== undefined) this.#host.breakers.troubled(agent);
    if (what === 'message-dropped' && detail?.includes('paused') === true) this.#host.kinds.pauseUnread += 1;
    if (what === 'deferred' && detail === 'unclaimed') this.#deferred += 1;
    if (what === 'lease-ended' || what === 'dispatched') this.#interventions += 1;
    if (what === 'grace') this.#graceFrom = this.#host.events.now;
    if (what === 'passes-exhausted') this.#violations.push('S14 a look did not come to an end');
  }

  #judge(executionId: string, stored: Snapshot, write: Write): void {
    const whole = planOf(this.#host, executionId);
    const now = this.#table.read(executionId);
    if (whole === undefined || now === undefined) return this.#violate(executionId, 'S14 it has no plan');
    countFollowed(this.#host.kinds, whole, stored, write);
    this.#judgeWrite(executionId, whole, recordsSeen(whole, stored), write, recordsSeen(whole, now));
  }

  #judgeWrite(id: string, whole: Plan, before: Snapshot, write: Write, after: Snapshot): void {
    const [plan, planAfter] = [planSeen(whole, before.execution), planSeen(whole, after.execution)];
    const { cast, jobs, jumping, kinds, lanes, ledger, running, writers } = this.#host;
    const { now } = this.#host.events;
    const [problems, isLagging]: [string[], boolean] = [[], (writers.writer?.frozenUntil ?? 0) > 0];
    judgeKeys(problems, plan, before, write);
    judgeTolerated(problems, plan, before, write, { ledger, kinds, now, others: this.#others });
    judgeItems(problems, plan, before, write, this.#others, kinds);
    writers.judge(problems, before, write);
    this.#host.bulks?.oracle.judge(before, write, writers.writer, kinds);
    this.#host.bulks?.commands.judge(problems, before, write, writers.writer);
    cast?.oracle.judge(problems, plan, before, write, this.#table.read(rootOf(id))?.execution, kinds);
    judge(problems, plan, before, write, after, { now, planAfter });
    this.#host.carried?.written(writers.writer, write);
    if (write.step !== undefined) {
      this.#host.order.written(before, write.step);
      this.#host.external.values?.judgeLost(id, before.steps[write.step.name], write.step);
      this.#asked.judge(problems, plan, before, write.step, { jobs, writer: writers.writer });
      judgeAttempt(problems, plan, before, write.step, { kinds, clocksJump: jumping !== undefined });
      this.#host.rates.judge(problems, plan, before, write.step);
      if (!isLagging) this.#host.breakers.judge(problems, plan, before, write.step);
    }
    judgeAnswers(problems, plan, before, write, kinds);
    countRetried(kinds, before, write);
    this.#times.judge(problems, {
      plan,
      before,
      write,
      now,
      healedAt: this.#healedAt,
      kinds,
      reminders: this.#inbox.reminders,
      isLagging,
    });
    this.#inbox.judge(problems, whole, before, write, after, now);
    judgeOnFailure(problems, whole, before, write);
    running.judge(problems, before, write, kinds, now);
    this.#judgeWaits(id, whole);
    for (const problem of [
      ...problems,
      ...this.#judgeWake(id, whole, { mayDie: true, write, before }),
      ...(isLagging ? [] : judgeRisk(after, write.execution, now)),
      ...judgeRecall(before.execution, write, this.#others),
      ...this.#points.judge(before, write),
      ...this.#groups.judge(plan, before, write, now),
      ...lanes.judge(before, write, writers.writer),
    ])
      this.#violate(id, problem);
  }

  /** If no process dies, a wait has its wake time as soon as it begins. */
  #judgeWaits(executionId: string, plan: Plan): void {
    const { mode } = this.#options;
    if ((mode !== 'none' && mode !== 'masked') || plan.steps.every(({ kind }) => kind !== 'wait')) return;
    this.#host.events.plan(1_000, () => {
      for (const problem of this.#judgeWake(executionId, plan, { mayDie: false }))
        this.#violate(executionId, problem);
      return false;
    });
  }

  #judgeWake(id: string, whole: Plan, looked: Looked): readonly string[] {
    const state = this.#table.read(id);
    const [{ now }, putOffMs] = [this.#host.events, PUT_OFF_MS[this.#options.mode]];
    const lost = this.#host.external.values?.lostKeys() ?? new Set<string>();
    return judgeWake(whole, state, { ...looked, now, putOffMs, graceFrom: this.#graceFrom, lost });
  }

  #judgeAnnounced(ended: Ended): void {
    const plan = planOf(this.#host, ended.executionId);
    const state = this.#table.read(ended.executionId);
    // A late announcement may belong to an end that another has followed.
    if (plan === undefined || state?.execution.endedAt !== ended.endedAt) return;
    for (const problem of problemsAnnounced(plan, state, ended, this.#others.read, this.#host.ledger))
      this.#violate(ended.executionId, problem);
  }

  #judgeNews(news: QuestionNews): void {
    const problem = this.#inbox.announce(news, this.#host.events.now);
    if (problem !== undefined) this.#violate(news.executionId, problem);
  }

  #violate(executionId: string, problem: string): void {
    this.#violations.push(`${executionId}: ${problem}`);
  }

  /** An answer of its file is still to come: until then nothing else happens. */
  get isAsking(): boolean {
    return this.#host.external.file?.isAsked === true;
  }

  /**
   * Runs the next event. The caller lets all promises go on as far as they can before it calls again.
   * @returns the verdict when the world is over
   */
  advance(): WorldResult | undefined {
    const { events, faults, over } = this.#host;
    if (!faults.healed() && events.now >= this.#healAt) {
      faults.heal();
      this.#healedAt = events.now;
    }
    if (this.#livesLeft > 0 && over()) this.#liveAgain();
    return over() || events.now > this.#healAt + LIVENESS_MS || !events.step() ? this.#verdict() : undefined;
  }

  /**
   * The same keys start everything again, beside the remains of the first executions, their children and
   * their effects.
   */
  #liveAgain(): void {
    const { events, faults } = this.#host;
    this.#livesLeft -= 1;
    this.#addEnds();
    for (const id of this.#table.ids()) {
      if (id.includes('.')) continue;
      this.#announced.delete(id);
      this.#table.expire(id);
      this.#host.external.file?.expire(id);
    }
    this.clients.startAgain(RETENTION_MS);
    // The first life may have waited a day for a person: the second has as long.
    this.#healAt = events.now + RETENTION_MS + (faults.healed() ? 0 : FAULTY_MS);
  }

  /** Nothing for a child of an earlier execution with its parent's id, whose place no other has taken yet. */
  #ofThisLife(executionId: string): Snapshot | undefined {
    const state = this.#table.read(executionId);
    const { parent } = state?.execution ?? {};
    if (parent === undefined) return state;
    return this.#table.read(parent.executionId)?.execution.startedAt === parent.since ? state : undefined;
  }

  /**
   * Judges the contents of the table, and counts what belongs to this life: children of an earlier one were
   * counted then.
   */
  #addEnds(): void {
    for (const id of this.#table.ids()) if (!this.#host.erasures.hasGone(id)) this.#addEnd(id);
  }

  #addEnd(id: string): void {
    const state = this.#table.read(id) as Snapshot;
    const { status } = state.execution;
    if (this.#ofThisLife(id) !== undefined) {
      this.#executions += 1;
      this.#ends[status] = (this.#ends[status] ?? 0) + 1;
    }
    const known = planOf(this.#host, id);
    const announced = this.#announced.get(id)?.has(status) === true || !isAnnounced(known, state);
    for (const problem of problemsAtEnd(known, state, this.#others.read, this.#host.ledger, announced))
      this.#violate(id, problem);
  }

  /** The execution is about to be erased, and its key may start another one. */
  #goes(id: string): void {
    this.#addEnd(id);
    this.#announced.delete(id);
    this.#host.bulks?.oracle.forget(id);
  }

  #verdict(): WorldResult {
    const { bulks, events, external, faults, kinds, ledger, order, arrivals, calls } = this.#host;
    const { seed, mode } = this.#options;
    external.file?.close();
    // No judge may get the answer of an index that lags.
    faults.heal();
    this.#addEnds();
    bulks?.oracle.judgeEnd((of) => this.#table.read(`${BULK.name}-${of}`)?.execution.status === 'succeeded');
    this.#host.erasures.judgeEnd();
    external.values?.judgeEnd(Array.from(this.#table.ids(), (id) => this.#table.read(id) as Snapshot));
    if (this.#traits.startsTogether) this.#violations.push(...judgeList(this.#table));
    // This comes last, because it empties the table.
    if (this.#traits.isRetained) this.#violations.push(...judgeRetention(this.#table));
    this.#violations.push(...this.#inbox.judgeEnd());
    if (!this.clients.allAccepted) this.#violations.push('L1 a start was never accepted');
    if ((mode === 'none' || mode === 'masked') && this.#interventions > 0) {
      this.#violations.push(`${mode === 'none' ? 'C1' : 'C2'} ${this.#interventions} interventions`);
    }
    return {
      seed,
      violations: [
        ...this.#violations,
        ...ledger.violations,
        ...order.violations,
        ...arrivals.violations,
        ...(bulks?.oracle.violations ?? []),
        ...this.#host.lanes.judgeEnd(),
      ],
      starts: this.clients.drawn,
      executions: this.#executions,
      simulatedMs: events.now - START_AT,
      faults: faults.counts,
      ends: this.#ends,
      interventions: this.#interventions,
      deferred: this.#deferred,
      kinds,
      calls,
    };
  }
}
