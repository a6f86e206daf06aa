/**
 * Judges bulk actions by the writes to their executions and the writing processes.
 *
 * Owns: S22 of bulk actions: no execution obeys before the confirmation, twice, or for an attempt that began
 * after its page was counted; only matching executions are found; a retry or an answer applies only to
 * failures and questions from before the action; the counts equal the executions that got the command. Does
 * not own: commands that operators give one by one (`oracle-commands.ts`), what a command may write
 * (`oracle.ts`).
 *
 * A command's effect is found by comparing the records before and after, not by the remembered command id.
 */

import {
  type Bulk,
  type BulkAction,
  type BulkPage,
  type BulkPageResult,
  type BulkResult,
} from '../../lib/core/operators/bulk.ts';
import type { BulkWrite } from '../../lib/core/ports.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import type { ExecutionStatus } from '../../lib/core/moves.ts';
import { type Deed, deedsIn } from './deeds.ts';
import type { Kind, KindCounts } from './kinds.ts';
import { CLOCKS_DIFFER_MS } from './oracle-wake.ts';
import type { Process } from './process.ts';

/** A process that works on a page. */
export interface PageAttempt {
  readonly key: string;
  readonly bulk: string;
  /** Whether the page was already counted when the process began it. */
  readonly isLate: boolean;
  /** Executions that have obeyed or remembered the command. */
  readonly told: Set<string>;
  isOver: boolean;
}

const OBEYED: Readonly<Record<BulkAction, readonly Deed['what'][]>> = {
  retry: ['retried', 'resolved', 'remembered'],
  cancel: ['canceled', 'remembered'],
  pause: ['paused', 'remembered'],
  resume: ['resumed', 'remembered'],
  resolve: ['resolved'],
  approve: ['approved'],
  reject: ['rejected'],
};

const KIND: Readonly<Record<BulkAction, Kind>> = {
  retry: 'bulkRetried',
  cancel: 'bulkCanceled',
  pause: 'bulkPaused',
  resume: 'bulkResumed',
  resolve: 'bulkResolved',
  approve: 'bulkApproved',
  reject: 'bulkRejected',
};

/** Actions that an execution remembers, even if nothing had to change. */
const IS_WRITTEN: ReadonlySet<BulkAction> = new Set(['retry', 'cancel', 'pause', 'resume']);

const pageKey = (bulk: string, page: number): string => `${bulk}/${page}`;

export class OracleBulks {
  readonly violations: string[] = [];
  readonly #bulks = new Map<string, Bulk>();
  readonly #pages = new Map<string, BulkPage>();
  readonly #results = new Map<string, BulkPageResult>();
  readonly #attempts = new Map<Process, PageAttempt>();
  /** Changes by bulk action and execution. */
  readonly #obeyed = new Map<string, Deed[]>();
  /** The workflow of each execution, and every status that was written, by execution. */
  readonly #seen = new Map<string, { readonly workflow: string; readonly statuses: Set<ExecutionStatus> }>();

  /** Judges a write of bulk records. */
  wrote({ bulk, pages = [], result }: BulkWrite, process: Process, kinds: KindCounts): void {
    if (bulk !== undefined) this.#bulks.set(bulk.id, bulk);
    for (const page of pages) {
      const key = pageKey(page.bulk, page.page);
      const before = this.#pages.get(key);
      if (before?.writeId === page.writeId) return;
      this.#pages.set(key, page);
      if (before === undefined) this.#judgeFound(page);
      else this.#violate(page.bulk, `page ${page.page} is written once more`);
    }
    if (result === undefined) return;
    const key = pageKey(result.bulk, result.page);
    const before = this.#results.get(key);
    if (before?.writeId === result.writeId) return;
    this.#results.set(key, result);
    this.#judgeCounted(before, result, this.#attempts.get(process), kinds);
  }

  #judgeFound({ bulk, page, ids }: BulkPage): void {
    const known = this.#bulks.get(bulk);
    if (known?.confirmedAt !== undefined) this.#violate(bulk, `page ${page} is found after it was confirmed`);
    const others = [...this.#pages.values()].filter((one) => one.bulk === bulk && one.page !== page);
    const twice = ids.find((id) => others.some((one) => one.ids.includes(id)));
    if (twice !== undefined) this.#violate(bulk, `${twice} is on two of its pages`);
    const { workflow, statuses } = known?.filter ?? {};
    for (const id of ids) {
      const seen = this.#seen.get(id);
      if (seen === undefined) continue;
      if (workflow !== undefined && seen.workflow !== workflow)
        this.#violate(bulk, `${id} is of workflow '${seen.workflow}', and '${workflow}' is meant`);
      if (statuses?.some((one) => seen.statuses.has(one)) === false)
        this.#violate(bulk, `${id} was never ${statuses.join(' or ')}, which are meant`);
    }
  }

  #judgeCounted(
    before: BulkPageResult | undefined,
    result: BulkPageResult,
    attempt: PageAttempt | undefined,
    kinds: KindCounts,
  ): void {
    const { bulk, page } = result;
    const known = this.#bulks.get(bulk);
    if (known === undefined) return;
    if (before !== undefined) this.#violate(bulk, `page ${page} is counted once more`);
    const { ids = [] } = this.#pages.get(pageKey(bulk, page)) ?? {};
    const refused = refusedIn(result);
    if (refused > 0) kinds.bulkRefused += 1;
    if (result.applied + refused !== ids.length)
      this.#violate(bulk, `page ${page} has ${result.applied} and ${refused} of ${ids.length}`);
    const isWritten = IS_WRITTEN.has(known.command.action);
    const obeyed = ids.filter((id) => this.#obeyed.has(`${bulk}/${id}`)).length;
    if (isWritten && result.applied > obeyed)
      this.#violate(bulk, `page ${page} counts ${result.applied}, and ${obeyed} have obeyed`);
    const unsure = result.refused['internal']?.count ?? 0;
    const told = attempt?.told.size ?? 0;
    if (told > result.applied + unsure)
      this.#violate(bulk, `page ${page} counts ${result.applied} of ${told} that it has told`);
  }

  #countedPages(bulk: string): number {
    return [...this.#results.values()].filter((one) => one.bulk === bulk).length;
  }

  /** Notes that a process begins a page. */
  begins(process: Process, { bulk, page }: { readonly bulk: string; readonly page: number }): PageAttempt {
    const key = pageKey(bulk, page);
    const isLate = this.#results.has(key);
    const attempt = { key, bulk, isLate, told: new Set<string>(), isOver: false };
    this.#attempts.set(process, attempt);
    return attempt;
  }

  over(process: Process): void {
    const attempt = this.#attempts.get(process);
    if (attempt !== undefined) attempt.isOver = true;
  }

  /** Judges a write of an execution, perhaps by a process that works on a page. */
  judge(before: Snapshot, write: Write, writer: Process | undefined, kinds: KindCounts): void {
    this.#see(before.execution);
    if (write.execution !== undefined) this.#see(write.execution);
    const attempt = writer && this.#attempts.get(writer);
    const bulk = attempt && this.#bulks.get(attempt.bulk);
    if (attempt === undefined || bulk === undefined) return;
    const { commands, id, parent } = before.execution;
    const isCommanded = (write.execution?.commands ?? commands).join() !== commands.join();
    for (const deed of deedsIn(before, write)) {
      // A child changes together with its parent, if that has obeyed; and is retried with one that others
      // have retried, by whoever evaluates that (seed 52191).
      const isOfParent = isBelowAny(id, attempt.told) || (deed.what === 'retried' && parent !== undefined);
      const isWithParent = !isCommanded && deed.incident === undefined && isOfParent;
      if (OBEYED[bulk.command.action].includes(deed.what) && !isWithParent)
        this.#judgeDeed(bulk, attempt, id, deed, kinds);
    }
  }

  /** Forgets an erased execution, because the next one of its key may be on the same page. */
  forget(executionId: string): void {
    for (const key of this.#obeyed.keys()) if (key.endsWith(`/${executionId}`)) this.#obeyed.set(key, []);
    // Its next life may be listed before one of its writes is judged (seed 40863).
    this.#seen.delete(executionId);
  }

  #see({ id, workflow, status }: Execution): void {
    const { statuses } = this.#seen.get(id) ?? { statuses: new Set<ExecutionStatus>() };
    this.#seen.set(id, { workflow, statuses: statuses.add(status) });
  }

  #judgeDeed(bulk: Bulk, attempt: PageAttempt, executionId: string, deed: Deed, kinds: KindCounts): void {
    const { id, createdAt, command } = bulk;
    const about = `${executionId} is ${deed.what}`;
    if (this.#pages.get(attempt.key)?.ids.includes(executionId) !== true)
      this.#violate(id, `${about}, and is not on page ${attempt.key}`);
    if (bulk.confirmedAt === undefined) this.#violate(id, `${about} before it was confirmed`);
    if (attempt.isLate) this.#violate(id, `${about} by an attempt that began when its page was counted`);
    if (deed.since !== undefined && deed.since > createdAt + CLOCKS_DIFFER_MS)
      this.#violate(id, `${about} for what came ${deed.since - createdAt} ms after it was made`);
    const key = `${id}/${executionId}`;
    const others = this.#obeyed.get(key) ?? [];
    // A retry of a waiting execution answers each of its questions.
    const isAnother = others.every((one) => one.incident !== deed.incident && one.incident !== undefined);
    if (!isAnother) this.#violate(id, `${about}, and was ${others[0]?.what} before`);
    this.#obeyed.set(key, [...others, deed]);
    attempt.told.add(executionId);
    kinds[deed.what === 'remembered' ? 'bulkRemembered' : KIND[command.action]] += 1;
    if (deed.incident === undefined) return;
    if (command.choice === 'skip') kinds.bulkSkipped += 1;
    if (command.choice === 'give-output') kinds.bulkGaveOutput += 1;
    if (command.nothingHappened === true) kinds.bulkVouched += 1;
  }

  /** Checks that all pages were counted if the bulk action's execution succeeded. */
  judgeEnd(isDone: (bulk: string) => boolean): void {
    for (const { id, pages } of this.#bulks.values())
      if (isDone(id) && this.#countedPages(id) !== pages)
        this.#violate(id, `${this.#countedPages(id)} of its ${pages} pages are counted`);
  }

  #violate(bulk: string, problem: string): void {
    this.violations.push(`S22 bulk action ${bulk}: ${problem}`);
  }
}

const isBelowAny = (id: string, others: Iterable<string>): boolean =>
  [...others].some((other) => id.startsWith(`${other}.`));

const refusedIn = ({ refused }: BulkResult): number =>
  Object.values(refused).reduce((sum, { count }) => sum + count, 0);
