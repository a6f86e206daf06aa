/**
 * Judges what the store in memory does not check: writes that DynamoDB would refuse, complete lists,
 * retention.
 *
 * Owns: the sizes of items as DynamoDB counts them, and valid text; complete pages of lists; S11 retention by
 * TTL and audit, at the end of a world. Does not own: the format of items (`lib/aws/dynamo-items.ts`), the
 * audit's pass.
 */

import { isBuiltIn } from '../../lib/core/plan/built-in.ts';
import { type Found, isLeftBehind } from '../../lib/core/supervision/audit.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Json, JsonObject } from '../../lib/core/values/json.ts';
import { expiresAt, isPastChild, MIN_RETENTION_MS, touchedAt } from '../../lib/core/records/retention.ts';
import { type Incident, asIncident } from '../../lib/core/records/question.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../lib/core/records/state.ts';
import type { MemoryTable } from '../../lib/memory/table.ts';

/** @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html */
const MAX_ITEM_BYTES = 400 * 1024;
/** The size of all other fields of a record, whose length does not depend on data. */
const REST_BYTES = 4_096;

type Values = readonly unknown[];

/** The fields whose length depends on data. A large execution's input is in its own item. */
const valuesOf = {
  execution: ({ output, outputAt, cause, pauses, retries, dispatches }: Execution): Values => [
    outputAt ?? output,
    cause,
    pauses,
    retries,
    dispatches,
  ],
  step: ({ output, outputAt, givenInput, failure, progress, attempts, children }: Step): Values => [
    outputAt ?? output,
    givenInput,
    failure,
    progress,
    attempts,
    children,
  ],
  incident: ({ failure, reason }: Incident): Values => [failure, reason],
};

/**
 * Why DynamoDB would refuse the write; undefined if it would accept it.
 * @param before the stored record, which it has accepted
 */
export function refusalOf(
  before: Snapshot | undefined,
  { execution, step, question }: Write,
): string | undefined {
  const incident = asIncident(question);
  return (
    (execution &&
      refusalOfItem(valuesOf.execution(execution), before && valuesOf.execution(before.execution))) ??
    (step && refusalOfItem(valuesOf.step(step), mapped(before?.steps[step.name], valuesOf.step))) ??
    (incident && refusalOfItem(valuesOf.incident(incident), undefined))
  );
}

const mapped = <From, To>(value: From | undefined, to: (value: From) => To): To | undefined =>
  value === undefined ? undefined : to(value);

function refusalOfItem(values: Values, taken: Values | undefined): string | undefined {
  if (taken !== undefined && values.every((value, at) => value === taken[at])) return undefined;
  const size: Size = { bytes: REST_BYTES, isText: true };
  for (const value of values) if (value !== undefined) add(size, value as Json);
  if (!size.isText) return 'text that is no well-formed Unicode';
  return size.bytes > MAX_ITEM_BYTES ? `an item of ${size.bytes} bytes` : undefined;
}

interface Size {
  bytes: number;
  isText: boolean;
}

const LONG_CHARS = 64;

function add(size: Size, value: Json): void {
  if (typeof value === 'string') {
    // Only long texts are measured; short ones are estimated.
    size.bytes += value.length > LONG_CHARS ? Buffer.byteLength(value) : value.length * 3;
    // A half of a surrogate pair cannot be encoded in UTF-8, in which the store keeps all text.
    if (!value.isWellFormed()) size.isText = false;
  } else if (Array.isArray(value)) {
    for (const one of value as readonly Json[]) add(size, one);
  } else if (typeof value === 'object' && value !== null) {
    for (const key of Object.keys(value)) {
      size.bytes += key.length + 4;
      add(size, (value as JsonObject)[key] as Json);
    }
  } else size.bytes += 8;
}

const LIST_PAGE = 7;

/**
 * Checks that the pages of a list contain every execution once, latest start first, also with equal starts.
 */
export function judgeList(table: MemoryTable): string[] {
  const expected = new Map<string, string[]>();
  for (const id of table.ids()) {
    const { workflow, parent } = (table.read(id) as Snapshot).execution;
    // Built-in workflows are listed only by name.
    if (parent?.part !== true && !isBuiltIn(workflow))
      expected.set(workflow, [...(expected.get(workflow) ?? []), id]);
  }
  const all = [...expected.keys()];
  const queries = [all, ...(all.length > 1 ? all.map((workflow) => [workflow]) : [])];
  return queries.flatMap((workflows) => {
    const ids = workflows.flatMap((workflow) => expected.get(workflow) ?? []).sort();
    const listed: Execution[] = [];
    let cursor: string | undefined;
    do {
      const page = table.list({ workflows, limit: LIST_PAGE, ...(cursor === undefined ? {} : { cursor }) });
      listed.push(...page.items);
      ({ cursor } = page);
    } while (cursor !== undefined && listed.length <= ids.length);
    const isLatestFirst = listed.every((one, at) => one.startedAt <= (listed[at - 1] ?? one).startedAt);
    const isWhole = JSON.stringify(listed.map(({ id }) => id).sort()) === JSON.stringify(ids);
    return isLatestFirst && isWhole
      ? []
      : [`a list of ${workflows.join(', ')} gives ${listed.length} of ${ids.length} executions`];
  });
}

const RETENTION_MS = 30 * 86_400_000;
const HOUR_MS = 3_600_000;

/**
 * Checks that ended executions stay for their retention and are removed some time later. Empties the table.
 */
export function judgeRetention(table: MemoryTable): string[] {
  const problems: string[] = [];
  let lastEndAt = 0;
  for (const id of table.ids()) {
    const execution = table.read(id)?.execution;
    const { endedAt, parent, wakeAt } = execution ?? {};
    if (execution === undefined || endedAt === undefined || wakeAt !== undefined) continue;
    lastEndAt = Math.max(lastEndAt, endedAt);
    const goneAt = expiresAt(execution, RETENTION_MS);
    if (parent === undefined && (goneAt ?? 0) < endedAt + RETENTION_MS)
      problems.push(
        `${id}: S11 it expires ${endedAt + RETENTION_MS - (goneAt ?? 0)} ms before its retention is over`,
      );
    if (parent !== undefined && goneAt !== undefined) problems.push(`${id}: S11 a child expires by itself`);
  }
  if (problems.length > 0 || lastEndAt === 0) return problems;
  const soon = lastEndAt + HOUR_MS;
  const early = removals(table, soon).filter((found) => !isOfEarlierLife(table, found, soon));
  if (early.length > 0) problems.push(`S11 ${early.length} records are removed beside what is kept`);
  const late = lastEndAt + RETENTION_MS + MIN_RETENTION_MS + HOUR_MS;
  const ids = Array.from(table.ids());
  for (const id of ids) if (table.read(id)?.execution.parent === undefined) table.expire(id);
  // Runs several passes, because records of a child are removed after the child.
  for (let left = removals(table, late); left.length > 0; left = removals(table, late))
    for (const found of left) if (found.kind !== 'unreadable') table.remove(found);
  const kept = table.found();
  if (kept.length > 0)
    problems.push(`S11 ${kept.length} records are kept for ever, the first a ${kept[0]?.kind}`);
  return problems;
}

/** Whether the record is from an earlier life of the id. It must be older than the shortest retention. */
function isOfEarlierLife(table: MemoryTable, found: Found, now: number): boolean {
  if (found.kind === 'mail') return found.life !== table.read(found.executionId)?.execution.life;
  if (found.kind !== 'step' && found.kind !== 'question') return false;
  const record = found.kind === 'step' ? found.step : found.question;
  const isOther = record.life !== table.read(found.executionId)?.execution.life;
  return isOther && touchedAt(record) < now - MIN_RETENTION_MS;
}

/** The records that an audit removes at that time. */
function removals(table: MemoryTable, now: number): Found[] {
  return table.found().filter((found) => {
    if (found.kind === 'unreadable') return false;
    if (found.kind !== 'execution') return isLeftBehind(found, table.read(found.executionId)?.execution, now);
    const { parent } = found.execution;
    const isAlone = parent !== undefined && table.read(parent.executionId) === undefined;
    return isAlone && isPastChild(found.execution, RETENTION_MS, now);
  });
}
