/**
 * The order in which a deployment comes to rest, and goes on.
 *
 * Owns: what stops when, what is waited for, what is kept. Does not own: how a part is stopped (`aws.ts`),
 * what is printed (`command.ts`).
 *
 * Q1 nothing is changed before its former state is kept, and what is kept is never overwritten:
 * a run that begins again after a
 *    crash goes on with the states of the first.
 * Q2 nothing is forgotten before all of it is restored.
 * Q3 at the end of quiesce no step is leased, every process deadline has passed, and nothing writes.
 *
 * Starts stop first: messages wait in the triggers' queues, and callers get 429. Then the agents, and only
 * then is waited for leases: while agents take messages another lease may begin at any moment, and the wait
 * would never end. Without them it ends with the last process deadline at the latest. The supervisor goes on
 * meanwhile: the wait may be as long as an attempt, and what falls due in it is moved on.
 */

import { CliError, type Clock } from '../io.ts';
import type { Account, Former, Part, Role } from './account.ts';

/** Between two reads of a state that may take long to change. */
const POLL_EVERY_MS = 5_000;
/**
 * Finding the leases means reading the whole table: it gets this share of the time, so
 * that a large table costs little.
 */
const READING_SHARE = 0.1;
/** How much the clock of this machine may differ from those that wrote the deadlines. */
const CLOCK_ALLOWANCE_MS = 10_000;

export interface Options {
  /** Whether to wait until nothing is open before the agents stop. */
  readonly drain: boolean;
  /** Whether rules and schedules of triggers stop as well: what they would have sent is lost. */
  readonly sources: boolean;
  readonly say: (line: string) => void;
}

/** What was, or in a dry run would be, changed. */
export interface Change {
  readonly kind: string;
  readonly id: string;
  readonly role: Role;
}

const STEPS: readonly (readonly [role: Role, what: string])[] = [
  ['source', 'sources of triggers'],
  ['start', 'starts'],
  ['work', 'agents, commands and callbacks'],
  ['supervision', 'supervisor and audit'],
];
const keyOf = ({ kind, id }: { readonly kind: string; readonly id: string }): string => `${kind} ${id}`;
const changeOf = ({ kind, id, role }: Former | Part): Change => ({ kind, id, role });

/** In the order in which they stop. */
export function planned<One extends { readonly role: Role }>(
  parts: readonly One[],
  { sources }: Pick<Options, 'sources'>,
): One[] {
  return STEPS.filter(([role]) => role !== 'source' || sources).flatMap(([role]) =>
    parts.filter((part) => part.role === role),
  );
}

/** @returns what is at rest now. Called again after a crash it goes on, and ends the same */
export async function quiesce(account: Account, clock: Clock, options: Options): Promise<Change[]> {
  const parts = planned(await account.find(), options);
  const formers = await keep(account, parts);
  const stopped: Change[] = [];
  for (const [role, what] of STEPS) {
    const now = formers.filter((former) => former.role === role);
    if (now.length === 0) continue;
    if (role === 'work' && options.drain) await untilNothingIsOpen(account, clock, options);
    options.say(`stopping ${what}: ${now.length}`);
    const there: Former[] = [];
    for (const former of now) if (await account.stop(former)) there.push(former);
    stopped.push(...there.map(changeOf));
    await untilStill(account, clock, options, there, tailOf(parts, there));
    if (role === 'work') await untilNoLease(account, clock, options);
  }
  return stopped;
}

/**
 * What is not at rest of a deployment that should be: a deployment in between enables again the rules that it
 * changes, and adds parts that quiesce has never seen. Sources are left out where none was stopped.
 */
export async function awake(account: Account): Promise<Change[]> {
  const kept = await account.load();
  const sources = kept.some(({ role }) => role === 'source');
  const parts = planned(await account.find(), { sources });
  const known = new Set(parts.map(keyOf));
  const found: Change[] = [];
  for (const part of [...parts, ...kept.filter((former) => !known.has(keyOf(former)))])
    if (!(await account.isStopped(part))) found.push(changeOf(part));
  return found;
}

/** @returns what is as it was. Called again after a crash it goes on, and ends the same */
export async function unquiesce(account: Account, { say }: Pick<Options, 'say'>): Promise<Change[]> {
  const formers = await account.load();
  const restored: Change[] = [];
  for (const [role, what] of STEPS.toReversed()) {
    const now = formers.filter((former) => former.role === role);
    if (now.length === 0) continue;
    say(`restoring ${what}: ${now.length}`);
    for (const former of now) {
      if (await account.restore(former)) restored.push(changeOf(former));
      else say(`no longer there, left out: ${keyOf(former)}`);
    }
  }
  await account.forget();
  await sayAdded(account, formers, say);
  return restored;
}

/** What a deployment in between has added is as that deployment made it. */
async function sayAdded(
  account: Account,
  formers: readonly Former[],
  say: (line: string) => void,
): Promise<void> {
  if (formers.length === 0) return;
  const known = new Set(formers.map(keyOf));
  const sources = formers.some(({ role }) => role === 'source');
  try {
    const unknown = planned(await account.find(), { sources }).filter((part) => !known.has(keyOf(part)));
    for (const part of unknown) say(`deployed since, left as it is: ${keyOf(part)}`);
  } catch (error) {
    // All of it is restored; what else there is can wait for the tags.
    if (!(error instanceof CliError)) throw error;
    say(`the parts deployed since then are unknown: ${error.message}`);
  }
}

/**
 * Keeps the state of each part that is not kept yet (Q1). What was kept before is stopped
 * again, also what is found no more.
 */
async function keep(account: Account, parts: readonly Part[]): Promise<Former[]> {
  const kept = await account.load();
  const known = new Set(kept.map(keyOf));
  const fresh: Former[] = [];
  for (const part of parts) {
    if (known.has(keyOf(part))) continue;
    const state = await account.state(part);
    const { role, kind, id } = part;
    // Tags are found for a while after what carried them is gone.
    if (state !== undefined) fresh.push({ role, kind, id, state });
  }
  if (fresh.length > 0) await account.save(fresh);
  return [...kept, ...fresh];
}

const tailOf = (parts: readonly Part[], stopped: readonly Former[]): number => {
  const keys = new Set(stopped.map(keyOf));
  return Math.max(0, ...parts.filter((part) => keys.has(keyOf(part))).map(({ tailMs }) => tailMs));
};

/** Waits until each has stopped, and what each had begun is over. */
async function untilStill(
  account: Account,
  clock: Clock,
  { say }: Options,
  parts: readonly Former[],
  tailMs: number,
): Promise<void> {
  let left = parts;
  for (;;) {
    const running: Former[] = [];
    for (const part of left) if (await account.runs(part)) running.push(part);
    if (running.length === 0) break;
    left = running;
    say(`${running.length} still stopping: ${running.map(keyOf).join(', ')}`);
    await clock.sleep(POLL_EVERY_MS);
  }
  if (tailMs === 0) return;
  say(`waiting ${Math.ceil(tailMs / 1_000)} s until running invocations have ended`);
  await clock.sleep(tailMs);
}

async function untilNoLease(account: Account, clock: Clock, { say }: Options): Promise<void> {
  for (;;) {
    const beganAt = clock.now();
    const { count, lastAt } = await account.leases(beganAt - CLOCK_ALLOWANCE_MS);
    if (count === 0) return;
    const now = clock.now();
    const seconds = Math.max(0, Math.ceil((lastAt - now) / 1_000));
    say(`${count} attempts leased or possibly still running, for ${seconds} s at most`);
    await clock.sleep(Math.max(POLL_EVERY_MS, (now - beganAt) / READING_SHARE));
  }
}

async function untilNothingIsOpen(account: Account, clock: Clock, { say }: Options): Promise<void> {
  for (;;) {
    const count = await account.open();
    if (count === 0) return;
    say(`${count} open; see which wait for a person: npx steadfast incidents`);
    await clock.sleep(POLL_EVERY_MS);
  }
}
