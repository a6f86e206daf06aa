/**
 * Records ⇄ DynamoDB items, and the keys. Pure.
 *
 * Owns: the spelling of keys and attributes (DESIGN: one table, `pk`/`sk`). Does not own: what the indexes
 * add to them (`dynamo-indexes.ts`), conditions (`dynamo-store.ts`).
 *
 * Keys are built from checked names only. Every item carries `v`; a newer one than this code
 * knows is refused, not guessed at. Payloads and nested records are JSON text: opaque to
 * DynamoDB, small, and read back exactly.
 */

import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Plan } from '../core/plan/plan.ts';
import { given } from '../core/values/given.ts';
import { refuse } from '../core/values/errors.ts';
import { isIncident, isOpen, type Question } from '../core/records/question.ts';
import type { Json } from '../core/values/json.ts';
import { isExecutionId, isStepName } from '../core/values/names.ts';
import { expiresAt } from '../core/records/retention.ts';
import type { Attempt, Execution, Step } from '../core/records/state.ts';
import { childrenOf, groupedChildren } from './children-text.ts';
import { INDEX_ATTRIBUTES, indexedExecution, indexedQuestion } from './dynamo-indexes.ts';
import { TABLE } from './names.ts';

export type Item = Record<string, AttributeValue>;

/** Version of the items that this code writes. */
const ITEM_VERSION = 1;
/** Version of items that name a value beside the table: older code would take the value for none. */
const NAMING_VERSION = 2;

const EXECUTION_SK = 'exec';
const STEP_PREFIX = 'step#';

export const executionKey = (id: string): Item => ({
  pk: { S: `exec#${checkedId(id)}` },
  sk: { S: EXECUTION_SK },
});

export const stepKey = (id: string, name: string): Item => {
  if (!isStepName(name)) throw refuse('bad-key', `'${name}' is not a step's name`);
  return { pk: { S: `exec#${checkedId(id)}` }, sk: { S: `${STEP_PREFIX}${name}` } };
};

export const planKey = (hash: string): Item => ({ pk: { S: `plan#${checkedId(hash)}` }, sk: { S: 'plan' } });

function checkedId(id: string): string {
  if (!isExecutionId(id)) throw refuse('bad-key', 'an id for a key has characters that are not allowed');
  return id;
}

export const idOfKey = (item: Item): string => text(item, TABLE.pk).slice('exec#'.length);

const NAMING: Item = { v: { N: String(NAMING_VERSION) } };

/** Attributes that are JSON text in the item. */
const EXECUTION_JSON: ReadonlySet<string> = new Set([
  'input',
  'inputAt',
  'output',
  'outputAt',
  'tags',
  'search',
  'commands',
  'cause',
  'end',
  'dispatches',
  'pauses',
  'earlierPauses',
  'retries',
  'parent',
  'callbackKeys',
  'startedBy',
  'people',
  'risk',
  'lane',
]);
const STEP_JSON: ReadonlySet<string> = new Set([
  'output',
  'outputAt',
  'failure',
  'attempts',
  'givenInput',
  'keyInput',
  'deferred',
  'accepted',
  'processes',
  'children',
  'by',
]);
const QUESTION_JSON: ReadonlySet<string> = new Set([
  'failure',
  'caller',
  'tags',
  'root',
  'unannounced',
  'shown',
]);

/** Left out of the item when they say nothing, which keeps a healthy step's item within one write unit. */
const EXECUTION_DEFAULTS: Readonly<Record<string, unknown>> = { dispatched: 0, epoch: 1 };
const STEP_DEFAULTS: Readonly<Record<string, unknown>> = {
  heartbeat: 0,
  probes: 0,
  undoAttempt: 0,
  stage: 0,
  stageAttempt: 0,
  key: 1,
  keyVariant: 0,
  mayHaveActed: false,
  epoch: 1,
};

/** @param retentionMs how long after its end it is kept; absent: for ever */
export function executionItem(execution: Execution, wakeShards: number, retentionMs?: number): Item {
  const { id, inputKey, inputAt } = execution;
  const left = ['id', ...(['commands', 'dispatches'] as const).filter((key) => isEmpty(execution[key]))];
  if (inputKey !== undefined || inputAt !== undefined) left.push('input');
  const item: Item = {
    ...executionKey(id),
    ...attributes(execution, EXECUTION_JSON, EXECUTION_DEFAULTS, left),
    ...(inputAt === undefined && execution.outputAt === undefined ? {} : NAMING),
  };
  Object.assign(item, indexedExecution(execution, wakeShards));
  const goneAt = retentionMs === undefined ? undefined : expiresAt(execution, retentionMs);
  // In seconds, as DynamoDB wants it; a put of the whole record removes it when an execution is restarted.
  if (goneAt !== undefined) item[TABLE.ttl] = { N: String(Math.ceil(goneAt / 1_000)) };
  return item;
}

/** @param input where it is not in the item itself */
export function executionOf(item: Item, input: Json = null): Execution {
  const base = { ...EXECUTION_DEFAULTS, commands: [], dispatches: {}, id: idOfKey(item), input };
  return { ...base, ...values(item, EXECUTION_JSON) } as unknown as Execution;
}

export function stepItem(executionId: string, step: Step): Item {
  const { name, attempts } = step;
  const isKnown = attempts.length <= 1 && JSON.stringify(attempts) === JSON.stringify(onlyAttempt(step));
  const left = isKnown ? ['name', 'attempts'] : ['name'];
  const names = step.outputAt !== undefined || step.children?.rounds?.inputAt !== undefined;
  const own = attributes(step, STEP_JSON, STEP_DEFAULTS, left);
  const item = { ...stepKey(executionId, name), ...own, ...(names ? NAMING : {}) };
  const children = step.children && groupedChildren(step.children);
  if (children === undefined) return item;
  return { ...item, children: { S: children } };
}

export function stepOf(item: Item): Step {
  const base = { ...STEP_DEFAULTS, attempts: [], name: text(item, TABLE.sk).slice(STEP_PREFIX.length) };
  const stored = { ...base, ...values(item, STEP_JSON) } as unknown as Step;
  const step = stored.children === undefined ? stored : { ...stored, children: childrenOf(stored.children) };
  return item['attempts'] === undefined ? { ...step, attempts: onlyAttempt(step) } : step;
}

/**
 * The history of a step that was done at its first attempt: what its record says anyway. It is left out of
 * the item, of which it would be a fifth, and which every read of the execution reads again.
 */
function onlyAttempt({ status, attempt, mode, token, claimedAt, changedAt }: Step): readonly Attempt[] {
  if (status !== 'done' || mode !== 'execute' || token === undefined || claimedAt === undefined) return [];
  return [{ number: attempt, mode, claimedAt, endedAt: changedAt, outcome: 'done' }];
}

export const INCIDENT_PREFIX = 'incident#';

/** After the execution's own sort key: a read of a partition begins with that. */
const INBOX_PREFIX = 'inbox#';

export const questionKeyOf = (executionId: string, question: Question): Item => ({
  ...executionKey(executionId),
  [TABLE.sk]: {
    S: isIncident(question) ? `${INCIDENT_PREFIX}${question.number}` : `${INBOX_PREFIX}${question.step}`,
  },
});

export function questionItem(executionId: string, question: Question): Item {
  const left = isIncident(question) ? ['number'] : ['step'];
  const item: Item = {
    ...questionKeyOf(executionId, question),
    ...attributes(question, QUESTION_JSON, {}, left),
  };
  return isOpen(question) ? { ...item, ...indexedQuestion(executionId, question) } : item;
}

export function questionOf(item: Item): Question {
  const { [TABLE.listIndex.sk]: _listed, ...rest } = values(item, QUESTION_JSON);
  const sk = text(item, TABLE.sk);
  const key = sk.startsWith(INBOX_PREFIX)
    ? { step: sk.slice(INBOX_PREFIX.length) }
    : { number: Number(sk.slice(INCIDENT_PREFIX.length)) };
  return { ...key, reminders: 0, ...asWrittenNow(rest) } as unknown as Question;
}

/** An incident of the release before had other names for how it ended, and announced reminders alone. */
function asWrittenNow({ resolvedAt, by, unannounced, ...rest }: Record<string, unknown>): object {
  return given({
    ...rest,
    ...(resolvedAt === undefined ? {} : { closedAt: resolvedAt, closedBy: by === 'person' ? 'answer' : by }),
    unannounced: unannounced === true ? ['reminded'] : unannounced,
  });
}

const INPUT_PREFIX = 'input#';
/** @param key what the execution's record calls it: of its content */
export const inputSk = (key: string): string => `${INPUT_PREFIX}${key}`;
export const inputKeyOf = (item: Item): string => text(item, TABLE.sk).slice(INPUT_PREFIX.length);

export const isInputItem = (item: Item): boolean => text(item, TABLE.sk).startsWith(INPUT_PREFIX);
export const isQuestionItem = (item: Item): boolean =>
  [INCIDENT_PREFIX, INBOX_PREFIX].some((prefix) => text(item, TABLE.sk).startsWith(prefix));
export const isStepItem = (item: Item): boolean => text(item, TABLE.sk).startsWith(STEP_PREFIX);
export const isExecutionItem = (item: Item): boolean => text(item, TABLE.sk) === EXECUTION_SK;

export const planItem = (hash: string, plan: Plan): Item => ({
  ...planKey(hash),
  v: { N: String(ITEM_VERSION) },
  plan: { S: JSON.stringify(plan) },
});

export function planOf(item: Item): Plan {
  refuseNewer(item);
  return JSON.parse(text(item, 'plan')) as Plan;
}

export const text = (item: Item, attribute: string): string => item[attribute]?.S ?? '';
export const number = (item: Item, attribute: string): number => Number(item[attribute]?.N ?? Number.NaN);

/** As DynamoDB counts it: names and values, and of a number about half of its digits. */
export const sizeOf = (item: Item): number =>
  Object.entries(item).reduce((sum, [name, { S, N }]) => {
    const bytes = N === undefined ? Buffer.byteLength(S ?? ' ') : Math.ceil(N.length / 2) + 1;
    return sum + name.length + bytes;
  }, 0);

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;

/** @param left fields that are left out */
function attributes(
  record: object,
  jsonKeys: ReadonlySet<string>,
  defaults: Readonly<Record<string, unknown>>,
  left: readonly string[],
): Item {
  const item: Item = { v: { N: String(ITEM_VERSION) } };
  for (const key of Object.keys(record)) {
    const value: unknown = record[key as keyof typeof record];
    if (value === undefined || value === defaults[key] || left.includes(key)) continue;
    if (jsonKeys.has(key)) item[key] = { S: JSON.stringify(value) };
    else if (typeof value === 'string') item[key] = { S: value };
    else if (typeof value === 'number') item[key] = { N: String(value) };
    else if (typeof value === 'boolean') item[key] = { BOOL: value };
  }
  return item;
}

const NOT_FIELDS: ReadonlySet<string> = new Set(['v', TABLE.pk, TABLE.sk, TABLE.ttl, ...INDEX_ATTRIBUTES]);

/** @throws SteadfastError `newer-item` */
export function refuseNewer(item: Item): void {
  const version = number(item, 'v');
  if (version > NAMING_VERSION) {
    throw refuse(
      'newer-item',
      `an item has version ${version}; this code reads up to ${NAMING_VERSION}: deploy the newer code`,
    );
  }
}

function values(item: Item, jsonKeys: ReadonlySet<string>): Record<string, unknown> {
  refuseNewer(item);
  const record: Record<string, unknown> = {};
  for (const key of Object.keys(item)) {
    if (NOT_FIELDS.has(key)) continue;
    const value = item[key] as AttributeValue;
    if (value.S !== undefined) record[key] = jsonKeys.has(key) ? (JSON.parse(value.S) as Json) : value.S;
    else if (value.N !== undefined) record[key] = Number(value.N);
    else if (value.BOOL !== undefined) record[key] = value.BOOL;
  }
  return record;
}
