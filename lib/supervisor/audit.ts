/**
 * The audit: each run reads a part of the whole table, and repairs what no index would show (P5).
 *
 * Owns: the pass through the table, its bounds, where the next run continues, and that a bad record does not
 * stop the others. Does not own: which records are out of order (`core/supervision/audit.ts`). Any number may
 * run at once: their writes are conditional, and a run stops if another's receipt came first.
 *
 * The table is read in segments, side by side, because records that executions leave behind must be removed
 * as fast as they appear. Reads are eventually consistent, at half the price: a repair is written on the
 * version that was read, and a record is removed only after its execution has been read strongly (V5). A run
 * records its position once a minute: if it dies, the next run reads that minute again, and finds the
 * repaired records in order.
 */

import {
  type Found,
  heal,
  isLeftBehind,
  mayBeLeftBehind,
  type Removable,
} from '../core/supervision/audit.ts';
import { sayable } from '../core/values/errors.ts';
import type { Inventory, Ports, Receipts } from '../core/ports.ts';
import { defined } from '../core/values/defined.ts';
import type { AuditCounts, AuditReceipt, SegmentPlace } from '../core/records/receipts.ts';
import { isOfEarlierLife, isPastChild } from '../core/records/retention.ts';
import type { Execution } from '../core/records/state.ts';
import { sideBySide } from '../engine/side-by-side.ts';
import { decisionInputsOf } from '../engine/decision-inputs.ts';
import { commit } from '../engine/commit.ts';

/** How many parts of the table are read at a time. Another number restarts the pass under way. */
const SEGMENTS = 8;
/** How many records of one page are handled at a time; with `SEGMENTS` this bounds the calls under way. */
const RECORDS_AT_A_TIME = 4;
const CHECKPOINT_MS = 60_000;
/** A table with at most this many records is read each hour: that costs about a dollar a month at most. */
const SMALL_TABLE = 50_000;
const SMALL_EVERY_MS = 3_600_000;

export interface AuditOptions {
  /** No page is read after this time. */
  readonly untilAt: number;
  /** The most pages of one run, which limits its cost. */
  readonly maxPages: number;
  /** The least time from the beginning of a pass to the next, or an hour if the table is small. @default 0 */
  readonly passEveryMs?: number;
  /** How long an ended execution is kept; absent: for ever. */
  readonly retentionMs?: number;
}

export type AuditPorts = Ports & { readonly inventory: Inventory; readonly receipts: Receipts };

type Deed = 'healed' | 'removed' | 'failed' | 'nothing';

/** The outcome of one run. */
export interface Audited {
  /** The latest receipt: this run's, or the previous one if another pass is not due. */
  readonly receipt: AuditReceipt;
  /** How many records this run alone removed. */
  readonly removed: number;
}

/** Makes one run: from where the last one stopped to the table's end or a bound. */
export async function audit(ports: AuditPorts, options: AuditOptions): Promise<Audited> {
  const { audit: before } = await ports.receipts.read();
  const { passEveryMs = 0 } = options;
  const isSmall = before?.whole !== undefined && before.whole.scanned <= SMALL_TABLE;
  const everyMs = isSmall ? Math.min(passEveryMs, SMALL_EVERY_MS) : passEveryMs;
  const nextAt = (before?.pass.startedAt ?? 0) + everyMs;
  if (before !== undefined && before.segments === undefined && ports.clock.now() < nextAt)
    return { receipt: before, removed: 0 };
  return new Run(ports, options, before).toItsEnd();
}

/**
 * How long ago the last pass through the whole table ended; if there was none, how long the first has been
 * under way.
 */
export const auditAgeMs = ({ whole, pass }: AuditReceipt, now: number): number =>
  Math.max(0, now - (whole?.endedAt ?? pass.startedAt));

class Run {
  readonly #ports: AuditPorts;
  readonly #options: AuditOptions;
  readonly #places: SegmentPlace[];
  #receipt: AuditReceipt | undefined;
  #pass: AuditCounts;
  #pages = 0;
  #savedAt: number;
  /** Set if another run is at work: its receipt came first. */
  #isSecond = false;

  constructor(ports: AuditPorts, options: AuditOptions, before: AuditReceipt | undefined) {
    this.#ports = ports;
    this.#options = options;
    this.#receipt = before;
    this.#savedAt = ports.clock.now();
    const blank = { startedAt: this.#savedAt, scanned: 0, healed: 0, removed: 0, failed: 0 };
    const underWay = before?.segments?.length === SEGMENTS ? before : undefined;
    this.#pass = underWay?.pass ?? blank;
    this.#places = [...(underWay?.segments ?? Array.from({ length: SEGMENTS }, () => ({})))];
  }

  async toItsEnd(): Promise<Audited> {
    const removedBefore = this.#pass.removed;
    await sideBySide([...this.#places.keys()], SEGMENTS, (index) => this.#readSegment(index));
    return { receipt: await this.#save(), removed: this.#pass.removed - removedBefore };
  }

  async #readSegment(index: number): Promise<void> {
    const { clock, inventory } = this.#ports;
    while (this.#places[index]?.over !== true && this.#mayGoOn(clock.now())) {
      this.#pages += 1;
      const { items, cursor } = await inventory.page({ index, of: SEGMENTS }, this.#places[index]?.cursor);
      const deeds = await auditPage(this.#ports, items, this.#options.retentionMs);
      this.#pass = withDeeds(this.#pass, items.length, deeds);
      this.#places[index] = cursor === undefined ? { over: true } : { cursor };
      if (clock.now() >= this.#savedAt + CHECKPOINT_MS) await this.#save();
    }
  }

  /** True if the run may read another page. It reads at least one, even beyond its bounds. */
  readonly #mayGoOn = (now: number): boolean =>
    !this.#isSecond &&
    (this.#pages === 0 || (this.#pages < this.#options.maxPages && now < this.#options.untilAt));

  async #save(): Promise<AuditReceipt> {
    const { clock, random, log, receipts } = this.#ports;
    const now = clock.now();
    this.#savedAt = now;
    const isOver = this.#places.every(({ over }) => over === true);
    const whole = isOver ? { ...this.#pass, endedAt: now } : this.#receipt?.whole;
    const receipt: AuditReceipt = {
      version: (this.#receipt?.version ?? 0) + 1,
      writeId: random.id(),
      auditedAt: now,
      ...(isOver ? {} : { segments: [...this.#places] }),
      pass: this.#pass,
      ...defined({ whole }),
    };
    if (this.#isSecond) return receipt;
    this.#receipt = receipt;
    if ((await receipts.write(receipt)) === 'conflict') {
      this.#isSecond = true;
      log.note({ what: 'receipt-failed', detail: 'another audit was faster' });
    }
    return receipt;
  }
}

async function auditPage(
  ports: AuditPorts,
  items: readonly Found[],
  retentionMs: number | undefined,
): Promise<Deed[]> {
  const shown = items.flatMap((found) => (found.kind === 'execution' ? [found.execution] : []));
  const met: Met = {
    shown: new Map(shown.map((execution) => [execution.id, execution])),
    read: new Map(),
    retentionMs,
  };
  return sideBySide(items, RECORDS_AT_A_TIME, async (found) => {
    try {
      return await auditOne(ports, found, met);
    } catch (error) {
      const executionId = found.kind === 'execution' ? found.execution.id : found.executionId;
      const detail = sayable(error);
      ports.log.note({ what: 'audit-failed', executionId, detail });
      return 'failed';
    }
  });
}

interface Met {
  /** Executions as this page has them; they may be older than the records beside them. */
  readonly shown: ReadonlyMap<string, Execution>;
  /** Executions that were read strongly, each once. */
  readonly read: Map<string, Promise<Execution | undefined>>;
  readonly retentionMs: number | undefined;
}

async function auditOne(ports: AuditPorts, found: Found, met: Met): Promise<Deed> {
  switch (found.kind) {
    case 'execution': {
      if (await hasOutlivedParent(ports, found.execution, met)) return remove(ports, found);
      const decision = heal(found, decisionInputsOf(ports));
      // After a conflict nothing is to be done: another process has just written the record, with a wake
      // time.
      return decision !== undefined && (await commit(ports, decision, found.execution)) === 'written'
        ? 'healed'
        : 'nothing';
    }
    case 'unreadable':
      ports.log.note({ what: 'audit-failed', executionId: found.executionId, detail: 'unreadable' });
      return 'failed';
    default: {
      if (!mayBeLeftBehind(found, ports.clock.now())) return 'nothing';
      const isLeft = (execution: Execution | undefined): boolean =>
        isLeftBehind(found, execution, ports.clock.now());
      return (await mayGo(ports, found.executionId, met, isLeft)) ? remove(ports, found) : 'nothing';
    }
  }
}

/** True if the parent of an old child is gone: until then it may recall the child. */
async function hasOutlivedParent(ports: AuditPorts, execution: Execution, met: Met): Promise<boolean> {
  const { parent } = execution;
  const { retentionMs } = met;
  if (parent === undefined || retentionMs === undefined) return false;
  if (!isPastChild(execution, retentionMs, ports.clock.now())) return false;
  return mayGo(
    ports,
    parent.executionId,
    met,
    (owner) => owner === undefined || isOfEarlierLife(execution, { ...parent, since: owner.startedAt }),
  );
}

/** True if the execution is gone. If the page shows it, its records stay; otherwise a strong read decides. */
async function mayGo(
  { store }: AuditPorts,
  executionId: string,
  { shown, read }: Met,
  isGone: (execution: Execution | undefined) => boolean,
): Promise<boolean> {
  const onPage = shown.get(executionId);
  if (onPage !== undefined && !isGone(onPage)) return false;
  const known = read.get(executionId) ?? store.readExecution(executionId);
  read.set(executionId, known);
  return isGone(await known);
}

async function remove(ports: AuditPorts, found: Removable): Promise<Deed> {
  if ((await ports.inventory.remove(found)) === 'conflict') return 'nothing';
  const executionId = found.kind === 'execution' ? found.execution.id : found.executionId;
  ports.log.note({ what: 'leftover-removed', executionId });
  return 'removed';
}

function withDeeds(pass: AuditCounts, scanned: number, deeds: readonly Deed[]): AuditCounts {
  const count = (deed: Deed): number => deeds.filter((one) => one === deed).length;
  return {
    startedAt: pass.startedAt,
    scanned: pass.scanned + scanned,
    healed: pass.healed + count('healed'),
    removed: pass.removed + count('removed'),
    failed: pass.failed + count('failed'),
  };
}
