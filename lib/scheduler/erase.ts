/**
 * Erases an execution that is over: its records, those of the executions that its steps ran, and the large
 * values of all of them.
 *
 * Owns: what may be erased, and in which order. Does not own: what is removed after the retention
 * (`supervisor/audit.ts`, `supervisor/audit-values.ts`).
 *
 * Invariants
 * - E1 nothing is erased that may still act or be asked: the execution and all below it have ended, were
 *   announced, and have no attempt that may be acting. A record that keeps a process with an older state from
 *   beginning work (F1, S10) stays until any write of that process has been answered.
 * - E2 the execution's own record goes first, provided it is the very one that E1 was checked on: from then
 *   on no process continues it. The records beside it then belong to no execution (S6), and each is removed
 *   provided it is still the one that was found. Records that a new life of the id has written since are not
 *   touched.
 * - E3 a call that dies or runs out of time is completed by repeating it: the records of the steps, which
 *   name the other executions, go last.
 */

import { storedPlanOf } from '../core/plan/on-failure.ts';
import type { Erasure, Page, StoredValue } from '../core/ports.ts';
import { valuesOf } from '../core/records/large-values.ts';
import type { Execution, Step } from '../core/records/state.ts';
import { isTerminal } from '../core/records/state.ts';
import { isOfEarlierLife, START_MS } from '../core/records/retention.ts';
import { besideOf, isBeside, type Found, type Removable } from '../core/supervision/audit.ts';
import { type Caller, callerText } from '../core/values/caller.ts';
import { defined } from '../core/values/defined.ts';
import { refuse, type SteadfastError } from '../core/values/errors.ts';
import { isExecutionId } from '../core/values/names.ts';
import { cut, timeText } from '../core/values/text.ts';
import { childIdOf } from '../core/waiting/child.ts';
import { laneFreeAt } from '../core/waiting/lane.ts';
import { planOf } from '../engine/plans.ts';
import { sideBySide } from '../engine/side-by-side.ts';
import type { Scheduler } from './start.ts';

/** The API answers within 29 s. */
const WITHIN_MS = 20_000;
const AT_A_TIME = 8;
/** How often a mailbox is read that others write meanwhile. */
const MOST_LAPS = 10;
/** The default of `Erasure`. */
const WRITTEN_WITHIN_MS = 60_000;

/**
 * Erases an execution and all below it.
 * @throws SteadfastError `unknown-execution` if none of its records exists; `not-erasable` if it is open, may
 * still act, or belongs to another execution
 */
export async function erase(
  scheduler: Scheduler,
  executionId: string,
  by?: Caller,
): Promise<{ readonly executionId: string; readonly status: 'erased' | 'erasing' }> {
  const { erasure, clock, log } = scheduler.ports;
  if (erasure === undefined) throw refuse('not-erasable', 'this API cannot erase executions');
  const records = isExecutionId(executionId) ? await erasure.recordsOf(executionId) : [];
  if (!records.some(({ kind }) => kind !== 'input' && kind !== 'unreadable'))
    throw refuse('unknown-execution', `there is no execution '${cut(executionId, 70)}'`);
  const erasing = { ...scheduler, erasure, judged: new Map(), untilAt: clock.now() + WITHIN_MS };
  await refusePart(erasing, executionIn(records));
  await refuseUnfinished(erasing, executionId, records);
  const isOver = await eraseAll(erasing, executionId);
  log.note({ what: 'erased', executionId, ...defined({ detail: by && callerText(by) }) });
  return { executionId, status: isOver ? 'erased' : 'erasing' };
}

type Erasing = Scheduler & {
  readonly erasure: Erasure;
  /** The executions found to be over, by id. */
  readonly judged: Map<string, Execution>;
  readonly untilAt: number;
};

const notErasable = (why: string): SteadfastError => refuse('not-erasable', why);

/** Refuses an execution that another one runs: it is erased with that one, which may still undo it. */
async function refusePart({ ports }: Erasing, execution: Execution | undefined): Promise<void> {
  const { parent } = execution ?? {};
  if (execution === undefined || parent === undefined) return;
  const owner = await ports.store.readExecution(parent.executionId);
  if (owner === undefined || isOfEarlierLife(execution, { ...parent, since: owner.startedAt })) return;
  throw notErasable(`it belongs to ${parent.executionId}: erase that one`);
}

/** E1 */
async function refuseUnfinished(erasing: Erasing, id: string, records: readonly Found[]): Promise<void> {
  const execution = executionIn(records);
  const { ports, plans, erasure } = erasing;
  if (records.some(({ kind }) => kind === 'unreadable'))
    throw notErasable(`a record of ${id} is damaged, or of a newer release`);
  if (execution !== undefined) {
    if (!isTerminal(execution.status))
      throw notErasable(`${id} is ${execution.status}: wait for its end, or cancel it`);
    if (execution.wakeAt !== undefined)
      throw notErasable(`${id} has ended, and its end is not announced yet: try again in a minute`);
    const plan = await planOf(ports.store, plans, execution.plan);
    const own = stepsIn(records).filter(({ life }) => life === execution.life);
    const untilAt = laneFreeAt(storedPlanOf(plan), Object.fromEntries(own.map((step) => [step.name, step])));
    if (untilAt > ports.clock.now())
      throw notErasable(`an attempt of ${id} may still be acting: try again after ${timeText(untilAt)}`);
    const { writtenWithinMs = WRITTEN_WITHIN_MS } = erasure;
    if (lastNewAt(execution, records) + writtenWithinMs > ports.clock.now())
      throw notErasable(
        `a step of ${id} has just begun, or has just been stopped, which some process may not know yet: try again in a minute`,
      );
    erasing.judged.set(id, execution);
  }
  const below = await childrenOf(erasure, id, records);
  await sideBySide(below, AT_A_TIME, async (child) =>
    refuseUnfinished(erasing, child, await erasure.recordsOf(child)),
  );
}

/**
 * Returns when the last record was made, as far as the records show. Once they are gone, a claim or start
 * that was decided earlier finds no record in its way and would repeat the work. The start of a step's
 * execution may be recorded as late as that execution's end.
 */
const lastNewAt = ({ startedAt }: Execution, records: readonly Found[]): number =>
  Math.max(
    startedAt,
    ...stepsIn(records).map(({ attempts: [first], changedAt, children }) =>
      first === undefined || children !== undefined ? changedAt : first.claimedAt,
    ),
  );

/**
 * Removes the execution's own record. @returns its records that existed, and the execution of another life if
 * there is one now
 */
async function removeOwn(
  { erasure, judged }: Erasing,
  id: string,
): Promise<{ readonly records: readonly Found[]; readonly found: Execution | undefined }> {
  for (;;) {
    const records = await erasure.recordsOf(id);
    const found = executionIn(records);
    const known = judged.get(id);
    if (found === undefined || found.life !== known?.life) return { records, found };
    if (found.version !== known.version)
      throw notErasable(`${id} changed while it was being erased: try again`);
    const own = records.find(({ kind }) => kind === 'execution') as Removable;
    if ((await erasure.remove(own)) === 'removed') return { records, found };
  }
}

/** Erases the records of one execution and all below it. @returns true if none is left */
async function eraseAll(erasing: Erasing, id: string): Promise<boolean> {
  const { erasure, ports, untilAt } = erasing;
  const { records, found } = await removeOwn(erasing, id);
  const judged = erasing.judged.get(id);
  const isOther = found !== undefined && found.life !== judged?.life;
  const now = ports.clock.now();
  const inputs = records.filter((one) => one.kind === 'input');
  await removeEach(
    erasure,
    inputs.filter(({ key, storedAt }) =>
      key === found?.inputKey ? !isOther : key === judged?.inputKey || isOfNoStart(storedAt, now),
    ),
  );
  const kept = isOther ? found.life : undefined;
  if (!(await removeMail(erasing, id, records, kept))) return false;
  const below = await childrenOf(erasure, id, records);
  // From the last number down, because a repeated call searches for the remaining ones from the first number
  // up.
  for (const child of below.toReversed())
    if (ports.clock.now() > untilAt || !(await eraseAll(erasing, child))) return false;
  const beside = records.filter(isBeside).filter((one) => besideOf(one).life !== kept);
  const lives = new Set([judged?.life, ...beside.map((one) => besideOf(one).life)]);
  await removeValues(erasure, id, (life, storedAt) =>
    life === kept ? false : lives.has(life) || isOfNoStart(storedAt, now),
  );
  await removeEach(erasure, beside);
  return true;
}

/**
 * Removes a mailbox. A sender, or a supervisor that removes the wake time, may write it in between, so it is
 * read again until it is empty. The audit removes records that a sender writes even later, and the send is
 * refused.
 * @returns true if none of its records is left
 */
async function removeMail(
  { erasure, ports, untilAt }: Erasing,
  id: string,
  records: readonly Found[],
  kept: string | undefined,
): Promise<boolean> {
  const mailIn = (all: readonly Found[]): Removable[] =>
    all.filter((one): one is Removable => one.kind === 'mail' && one.life !== kept);
  let left = mailIn(records);
  for (let lap = 0; lap < MOST_LAPS && left.length > 0 && ports.clock.now() <= untilAt; lap += 1) {
    await removeEach(erasure, left);
    left = mailIn(await erasure.recordsOf(id));
  }
  return left.length === 0;
}

/** True if no start under way can need a value that no record names. */
const isOfNoStart = (storedAt: number, now: number): boolean => storedAt < now - START_MS;

async function removeEach(erasure: Erasure, found: readonly Removable[]): Promise<void> {
  // A conflict means that a new execution owns the record.
  await sideBySide(found, AT_A_TIME, (one) => erasure.remove(one));
}

const lifeIn = (key: string): string => key.split('/')[2] ?? '';

/**
 * Removes the values of all lives. A start that died, or that found the execution, may have left values of a
 * life of its own.
 */
async function removeValues(
  { values }: Erasure,
  id: string,
  isLeft: (life: string, storedAt: number) => boolean,
): Promise<void> {
  let cursor: string | undefined;
  do {
    const page: Page<StoredValue> = (await values?.list(valuesOf(id), cursor)) ?? { items: [] };
    const left = page.items.filter(({ key, storedAt }) => isLeft(lifeIn(key), storedAt));
    const keys = left.map(({ key }) => key);
    if (keys.length > 0) await (values?.erase ?? values?.remove)?.(keys);
    ({ cursor } = page);
  } while (cursor !== undefined);
}

/**
 * Returns the executions of its steps, of all epochs and tries. They were started in the order of their
 * numbers, so the first missing number beyond those in the step's record is the end. An earlier number may be
 * missing, because it expired once this execution's own record was gone.
 */
async function childrenOf(erasure: Erasure, id: string, records: readonly Found[]): Promise<string[]> {
  const steps = stepsIn(records);
  const epochs = Math.max(executionIn(records)?.epoch ?? 1, ...steps.map(({ epoch }) => epoch));
  const ids: string[] = [];
  for (const { name, children } of steps) {
    if (children === undefined) continue;
    for (let epoch = 1; epoch <= epochs; epoch += 1) {
      const [item, later] = [
        (at: number) => childIdOf({ id, epoch, try: 1 }, name, at),
        (at: number) => childIdOf({ id, epoch, try: at + 2 }, name, 0),
      ];
      ids.push(...(await thereOf(erasure, item, children.started)));
      ids.push(...(await thereOf(erasure, later, (children.try ?? 1) - 1)));
    }
  }
  return ids;
}

/** @param least how many ids are read, even if some of them are missing */
async function thereOf(erasure: Erasure, idAt: (at: number) => string, least: number): Promise<string[]> {
  const ids: string[] = [];
  for (let asked = 0; ; ) {
    const some = Array.from({ length: asked === 0 ? 1 : AT_A_TIME }, (_, at) => idAt(asked + at));
    const found = await Promise.all(some.map((id) => erasure.recordsOf(id)));
    const there = some.filter((_, at) => found[at]?.length !== 0);
    ids.push(...there);
    asked += some.length;
    if (there.length < some.length && asked >= least) return ids;
  }
}

const executionIn = (records: readonly Found[]): Execution | undefined =>
  records.flatMap((one) => (one.kind === 'execution' ? [one.execution] : []))[0];

const stepsIn = (records: readonly Found[]): Step[] =>
  records.flatMap((one) => (one.kind === 'step' ? [one.step] : []));
