/**
 * Simulates operators who act in bulk: they filter or name executions, check the found ones, and confirm most
 * actions.
 *
 * Owns: which bulk actions a world has, when each of their calls is made, and repeating calls without an
 * answer. Does not own: their results (`bulk-world.ts`, `oracle-bulks.ts`).
 */

import { BULK_ACTIONS, type BulkAction, type BulkCommand } from '../../lib/core/operators/bulk.ts';
import { BULK } from '../../lib/core/plan/built-in.ts';
import { isSteadfastError } from '../../lib/core/values/errors.ts';
import { type Snapshot, openIncidents, openQuestions } from '../../lib/core/records/snapshot.ts';
import type { ExecutionStatus } from '../../lib/core/moves.ts';
import { type BulkRequest, collectBulk, confirmBulk, makeBulk } from '../../lib/scheduler/bulks.ts';
import type { Scheduler } from '../../lib/scheduler/start.ts';
import type { BulkWorld } from './bulk-world.ts';
import { callerIn } from './cast.ts';
import { CLOCKS_DIFFER_MS } from './oracle-wake.ts';
import { isLiveIn } from './people.ts';
import { type Host, planOf } from './process.ts';

/** The fewest bulk actions of a world that has any. */
const FEWEST = 4;
const MOST = 10;
const LATEST_MS = 260_000;
/** The most executions that one action names. */
const MOST_NAMED = 24;
const NAMED_SHARE = 0.7;
/** The share of named executions that are drawn regardless of their status. */
const ANY_SHARE = 0.3;
const UNCONFIRMED_SHARE = 0.1;
const TWICE_SHARE = 0.3;
const AGAIN_MS = 20_000;
/** After this many lost answers, a call is given up. */
const TRIES = 60;

/** The share of actions without effect when they are made. */
const VAIN_SHARE = 0.1;
/** The share of answers to questions, high because they have the most kinds. */
const ANSWER_SHARE = 0.6;
const APPROVAL_SHARE = 0.95;
const ANSWERED = new Set<BulkAction>(['resolve', 'approve', 'reject']);

/** The statuses in which each action makes sense. … */
const MEANT: Readonly<Record<BulkAction, readonly ExecutionStatus[]>> = {
  retry: ['failed', 'waiting'],
  cancel: ['running', 'waiting', 'paused'],
  pause: ['running', 'waiting', 'paused'],
  resume: ['paused'],
  resolve: ['waiting', 'compensating', 'paused'],
  approve: ['waiting', 'paused'],
  reject: ['waiting', 'paused'],
};

/** Whether the execution has the question that the action answers. */
function isMeant(action: BulkAction, state: Snapshot): boolean {
  const { status } = state.execution;
  if (!MEANT[action].some((one) => one === status)) return false;
  const isAsked = openIncidents(state).length > 0;
  if (action === 'resolve' || (action === 'retry' && status === 'waiting')) return isAsked;
  if (action !== 'approve' && action !== 'reject') return true;
  return openQuestions(state).some(({ kind }) => kind === 'approval');
}

const GIVEN = Array<'give-output'>(6).fill('give-output');
const ANSWERS = ['retry', 'retry', 'undo-all', 'keep', 'continue', 'resume', ...GIVEN] as const;
/** Choices that may need the confirmation that nothing happened. */
const CHECKED = [...Array<'skip'>(20).fill('skip'), 'retry'] as const;

/** @param schedulerOf makes the scheduler's function, with the world's workflows, in a new process */
export function startBulkMakers(host: Host, bulks: BulkWorld, schedulerOf: () => Scheduler): void {
  const { choice } = bulks;
  const count = choice.between(FEWEST, MOST);
  for (let number = 0; number < count; number += 1)
    host.events.plan(choice.between(10_000, LATEST_MS), () =>
      new Maker(host, bulks, schedulerOf).make(number),
    );
}

/**
 * Whether a person may truthfully confirm that nothing happened: the subject of the question has no effect in
 * place, and nothing must be undone by hand.
 */
function isSayable(host: Host, { choice, nothingHappened }: BulkCommand, id: string): boolean {
  const [plan, state] = [planOf(host, id), host.external.table.read(id)];
  if (nothingHappened !== true || plan === undefined || state === undefined) return true;
  return openIncidents(state).every(
    (one) => !(choice === 'skip' && one.kind === 'undo') && !isLiveIn(host, plan, state, one),
  );
}

class Maker {
  readonly #host: Host;
  readonly #bulks: BulkWorld;
  readonly #schedulerOf: () => Scheduler;

  constructor(host: Host, bulks: BulkWorld, schedulerOf: () => Scheduler) {
    this.#host = host;
    this.#bulks = bulks;
    this.#schedulerOf = schedulerOf;
  }

  make(number: number): void {
    const request = this.#requestOf(number);
    this.#until(
      (scheduler) => makeBulk(scheduler, request),
      ({ id, isCollected }) => this.#collect(id, isCollected, request),
    );
  }

  #requestOf(number: number): BulkRequest {
    const { choice } = this.#bulks;
    const possible = BULK_ACTIONS.filter((action) => this.#meant(action).length > 0);
    const isVain = possible.length === 0 || choice.chance(VAIN_SHARE);
    const answered = isVain ? [] : possible.filter((one) => ANSWERED.has(one));
    // Approvals are answered more often, because they are open only for a short time.
    const answers = answered.flatMap((one) => (one === 'resolve' ? [one] : [one, one, one]));
    const isAnswer = answers.length > 0 && choice.chance(answers.length > 1 ? APPROVAL_SHARE : ANSWER_SHARE);
    const action = choice.pick(isAnswer ? answers : isVain ? BULK_ACTIONS : possible);
    const by = callerIn(this.#host);
    // An approval's answer has a mark of its call.
    const mark = by.by === undefined ? `bulk-${number}` : (this.#host.cast?.oracle.callForMany(by.by) ?? '');
    const isNamed = choice.chance(NAMED_SHARE);
    const command = this.#commandOf(action, mark, isNamed);
    const idempotencyKey = `bulk${number}`;
    if (isNamed) return { command, ids: this.#idsFor(command), idempotencyKey, ...by };
    const statuses = choice.chance(0.5) ? { statuses: [choice.pick(MEANT[action])] } : {};
    const workflow = choice.chance(0.3) ? { workflow: 'simulated-0' } : {};
    return { command, filter: { ...statuses, ...workflow }, idempotencyKey, ...by };
  }

  #commandOf(action: BulkAction, mark: string, isNamed: boolean): BulkCommand {
    const { choice } = this.#bulks;
    const said = { action, reason: mark };
    if (action === 'approve') return { ...said, comment: mark };
    if (action === 'cancel') return choice.chance(0.3) ? { ...said, undo: false } : said;
    if (action === 'pause') return { ...said, withinMs: choice.pick([20_000, 120_000]) };
    if (action === 'retry') return choice.chance(0.2) ? { ...said, input: { given: true } } : said;
    if (action !== 'resolve') return said;
    // Only named executions can have been checked one by one.
    const answer = choice.pick([...ANSWERS, ...(isNamed ? CHECKED : [])]);
    const isSaid = isNamed && (answer === 'skip' || choice.chance(0.5));
    const nothing = isSaid ? { nothingHappened: true as const } : {};
    const output = answer === 'give-output' ? { output: { given: true } } : {};
    return { ...said, choice: answer, ...nothing, ...output };
  }

  #idsFor(command: BulkCommand): string[] {
    const { choice } = this.#bulks;
    const isChecked = (id: string): boolean => isSayable(this.#host, command, id);
    const ids = this.#all().filter(isChecked);
    const meant = this.#meant(command.action).filter(isChecked);
    const found = new Set<string>(['simulated-0-none']);
    for (let at = choice.between(1, MOST_NAMED); at > 0 && ids.length > 0; at -= 1)
      found.add(choice.pick(meant.length === 0 || choice.chance(ANY_SHARE) ? ids : meant));
    return [...found];
  }

  #all(): string[] {
    return [...this.#host.external.table.ids()].filter((id) => !id.startsWith(BULK.name));
  }

  #meant(action: BulkAction): string[] {
    const { table } = this.#host.external;
    return this.#all().filter((id) => isMeant(action, table.read(id) as Snapshot));
  }

  #collect(id: string, isCollected: boolean, request: BulkRequest): void {
    if (isCollected) return this.#look(id, request);
    this.#until(
      (scheduler) => collectBulk(scheduler, id),
      (next) => this.#collect(id, next.isCollected, request),
    );
  }

  /** Checks the found executions, and mostly confirms. */
  #look(id: string, request: BulkRequest): void {
    const { command, by } = request;
    const { choice } = this.#bulks;
    if (choice.chance(UNCONFIRMED_SHARE)) return;
    const as = command.action === 'approve' || command.action === 'reject' ? 'answer' : 'confirm';
    const named = 'ids' in request ? (request.ids ?? []) : [];
    const confirm = (): void => {
      if (named.every((one) => isSayable(this.#host, command, one)))
        this.#until((scheduler) => confirmBulk(scheduler, id, as, by));
    };
    // Waits so long that a checking person sees every question that was open when the action was made.
    const leastMs = command.nothingHappened === true ? CLOCKS_DIFFER_MS : 0;
    const afterMs = leastMs + choice.pick([100, 1_000, 10_000, 60_000]);
    this.#host.events.plan(afterMs, confirm);
    if (choice.chance(TWICE_SHARE)) this.#host.events.plan(afterMs + choice.between(0, 30_000), confirm);
  }

  /** Repeats a call until there is an answer. */
  #until<Answer>(
    ask: (scheduler: Scheduler) => Promise<Answer>,
    then: (answer: Answer) => void = () => undefined,
    tries = TRIES,
  ): void {
    let answered = false;
    const over = (): void => {
      answered = true;
    };
    ask(this.#schedulerOf()).then(
      (answer) => {
        if (answered) return;
        over();
        then(answer);
      },
      // A refusal is an answer, too.
      (error: unknown) => isSteadfastError(error) && over(),
    );
    this.#host.events.plan(AGAIN_MS, () => {
      if (answered || tries <= 1) return;
      over();
      this.#until(ask, then, tries - 1);
    });
  }
}
