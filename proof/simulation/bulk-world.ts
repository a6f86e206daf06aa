/**
 * Bulk actions in a simulated world: their records, with a judge behind every write, and the agent that
 * executes them.
 *
 * Owns: the processes' access to the records, and when a process dies during a page. Does not own: which bulk
 * actions are created (`bulk-makers.ts`), the judgement (`oracle-bulks.ts`). It draws from its own random
 * stream, so other worlds are unchanged.
 */

import type { AttemptContext, Implementation } from '../../lib/core/plan/agent.ts';
import { BULK } from '../../lib/core/plan/built-in.ts';
import type { Bulks, BulkWrite, WriteResult } from '../../lib/core/ports.ts';
import { actOnPage } from '../../lib/scheduler/bulk-page.ts';
import type { PageInput, PageOutput } from '../../lib/scheduler/bulk-workflow.ts';
import { createScheduler, type Scheduler } from '../../lib/scheduler/start.ts';
import { memoryBulks } from '../../lib/memory/bulks.ts';
import { OracleBulks } from './oracle-bulks.ts';
import { OracleCommands } from './oracle-commands.ts';
import type { Choice } from './plans.ts';
import { call, type Host, kill, planOf, portsOf, type Process } from './process.ts';

/** The share of pages whose process dies during the page, after this time. */
const KILLED_SHARE = 0.45;
const KILLED_AFTER_MS = [15, 250] as const;
/** The share of results whose process dies before or after writing them. */
const KILLED_BEFORE = 0.12;
const KILLED_AFTER = 0.12;

export class BulkWorld {
  readonly choice: Choice;
  readonly oracle = new OracleBulks();
  readonly commands = new OracleCommands();
  readonly #records = memoryBulks();

  constructor(choice: Choice) {
    this.choice = choice;
  }

  /** A process's access to the records. */
  portOf(host: Host, process: Process): Bulks {
    const reach = <Answer>(execute: () => Promise<Answer>): Promise<Answer> =>
      call(host, process, execute, host.outages.storeIsAway).then((answer) => answer);
    const { read, readPage, readResult, readResults } = this.#records;
    return {
      read: (bulk) => reach(() => read(bulk)),
      readPage: (bulk, page) => reach(() => readPage(bulk, page)),
      readResult: (bulk, page) => reach(() => readResult(bulk, page)),
      readResults: (bulk) => reach(() => readResults(bulk)),
      write: (records) => this.#write(host, process, records),
    };
  }

  #write(host: Host, process: Process, records: BulkWrite): Promise<WriteResult> {
    const { faults, kinds, outages } = host;
    const drawn = records.result === undefined || faults.healed() ? 1 : this.choice.random();
    const diesBefore = drawn < KILLED_BEFORE;
    const diesAfter = !diesBefore && drawn < KILLED_BEFORE + KILLED_AFTER;
    const write = async (): Promise<WriteResult> => {
      if (diesBefore) {
        kill(host, process);
        return 'conflict';
      }
      const written = this.#records.write(records);
      if (diesAfter) kill(host, process);
      const result = await written;
      if (result === 'written') this.oracle.wrote(records, process, kinds);
      if (result === 'written' && diesAfter) kinds.bulkKilledCounted += 1;
      return result;
    };
    return call(host, process, write, outages.storeIsAway).then((answer) => answer);
  }
}

/** Longer texts in a world are only bodies of bulk actions and plans. */
const LONGEST = 48;

/** A reproducible hash of a text, in letters, digits and dashes. */
export function hashOf(text: string): string {
  const plain = text.replace(/[^a-z0-9]/g, '-');
  if (plain.length <= LONGEST) return plain;
  let hash = 5381;
  for (let at = 0; at < text.length; at += 1) hash = (hash * 33 + text.charCodeAt(at)) % 4_294_967_291;
  return `hash-${text.length}-${hash.toString(36)}`;
}

/** A copy of a process with its own identity, for one page, because the process may work on several. */
const alone = (process: Process): Process => ({
  ...(process.wrong === undefined ? {} : { wrong: process.wrong }),
  get skewMs() {
    return process.skewMs;
  },
  get processDeadlineAt() {
    return process.processDeadlineAt;
  },
  set processDeadlineAt(at: number) {
    process.processDeadlineAt = at;
  },
  get dead() {
    return process.dead;
  },
  set dead(isDead: boolean) {
    process.dead = isDead;
    if (isDead) process.onDeath?.();
  },
  get frozenUntil() {
    return process.frozenUntil;
  },
  set frozenUntil(at: number) {
    process.frozenUntil = at;
  },
});

/** The agent of bulk actions, in one process. */
export const bulkService = (
  host: Host,
  process: Process,
  { choice, oracle }: BulkWorld,
): Implementation<PageInput, PageOutput> => ({
  execute: async (ctx: AttemptContext, input: PageInput) => {
    const { events, faults, kinds, ledger, order } = host;
    const own = alone(process);
    const page = oracle.begins(own, input);
    if (!faults.healed() && choice.chance(KILLED_SHARE))
      events.plan(choice.between(...KILLED_AFTER_MS), () => {
        if (page.isOver || process.dead) return;
        if (page.told.size > 0) kinds.bulkKilled += 1;
        kill(host, own);
      });
    try {
      const output = await actOnPage(schedulerOf(host, own), input, ctx);
      const plan = planOf(host, ctx.executionId);
      ledger.perform(ctx.idempotencyKey, { service: BULK.name, input }, 'idempotent');
      if (plan !== undefined) order.performed(plan, ctx, BULK.name, true);
      return output;
    } finally {
      oracle.over(own);
    }
  },
});

const schedulerOf = (host: Host, process: Process): Scheduler =>
  createScheduler(portsOf(host, process), [], { hash: hashOf, newId: () => '' }, host.cast?.personalRoles);
