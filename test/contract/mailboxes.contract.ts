/**
 * The contract of every store of mailboxes: it accepts a message once, in one write with its mailbox; takes
 * it in one write with the step; is found by its wake time; shows its records to the audit.
 */

import type { Erasure, Inventory, Mailboxes, Store } from '../../lib/core/ports.ts';
import { type ExecutionMessage, KEPT_TAKEN_MS, type Mailbox } from '../../lib/core/records/mailbox.ts';
import type { FoundMail, Removable } from '../../lib/core/supervision/audit.ts';
import { anExecution, aStep } from './records.ts';

export interface OpenMailboxes {
  /** Empty, with two shards. */
  readonly store: Store;
  readonly mailboxes: Mailboxes;
  /** Absent if the store is not audited. */
  readonly audited?: Pick<Inventory, 'page' | 'remove'> & Pick<Erasure, 'recordsOf'>;
  /** When the store removes the message by itself, in epoch ms; absent if it never does. */
  readonly goneAt?: (message: ExecutionMessage) => Promise<number | undefined>;
  readonly close: () => Promise<void>;
}

const T = 1_700_000_000_000;
const OF = { executionId: 'e-1', life: 'life1' } as const;

const message = (order: number, changes: Partial<ExecutionMessage> = {}): ExecutionMessage => ({
  ...OF,
  id: `m-${order}`,
  name: 'paid',
  order,
  at: T + order,
  body: { amount: order, text: 'ünï € 😀' },
  by: 'local ann',
  ...changes,
});
const entryOf = ({ order, name, id, at }: ExecutionMessage) => ({ order, name, id, at, bytes: 12 });
const mailbox = (
  version: number,
  messages: readonly ExecutionMessage[],
  changes: Partial<Mailbox> = {},
): Mailbox => ({
  ...OF,
  version,
  writeId: `w-${version}`,
  entries: messages.map(entryOf),
  accepted: messages.length,
  wakeAt: T + 5_000,
  ...changes,
});

export function describeMailboxes(where: string, open: () => Promise<OpenMailboxes>): void {
  describe(`mailboxes, ${where}`, () => {
    let opened: OpenMailboxes;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.close());
    describe('a message', () => acceptedOnce(() => opened));
    describe('the first message of an execution', () => sentFirst(() => opened));
    describe('what takes it', () => taken(() => opened));
    describe('the wake time', () => found(() => opened));
    describe('an audit and an erasure', () => audited(() => opened));
  });
}

function acceptedOnce(opened: () => OpenMailboxes): void {
  it('is there with its mailbox, whole, and in one life alone', async () => {
    const { mailboxes } = opened();
    const one = message(1);
    expect(await mailboxes.readMailbox('e-1', 'life1')).toBeUndefined();
    expect(await mailboxes.accept(mailbox(1, [one]), one)).toBe('written');
    expect(await mailboxes.readMailbox('e-1', 'life1')).toStrictEqual(mailbox(1, [one]));
    expect(await mailboxes.readMessage('e-1', 'life1', 'm-1')).toStrictEqual(one);
    expect(await mailboxes.readMailbox('e-1', 'life2')).toBeUndefined();
    expect(await mailboxes.readMessage('e-1', 'life2', 'm-1')).toBeUndefined();
    expect(await mailboxes.readMessage('e-1', 'life1', 'm-2')).toBeUndefined();
    const { by: _by, body: _body, ...bare } = message(2);
    const both = mailbox(2, [one, bare]);
    expect(await mailboxes.accept(both, { ...bare, body: null })).toBe('written');
    expect(await mailboxes.readMessage('e-1', 'life1', 'm-2')).toStrictEqual({ ...bare, body: null });
  });

  it('is accepted once: of two with one id, or one version, one is written', async () => {
    const { mailboxes } = opened();
    const one = message(1);
    await mailboxes.accept(mailbox(1, [one]), one);
    const again = message(2, { id: 'm-1' });
    expect(await mailboxes.accept(mailbox(2, [one, again]), again)).toBe('conflict');
    const late = message(1, { id: 'm-late' });
    expect(await mailboxes.accept(mailbox(1, [late], { writeId: 'w-late' }), late)).toBe('conflict');
    expect(await mailboxes.readMailbox('e-1', 'life1')).toStrictEqual(mailbox(1, [one]));
    expect(await mailboxes.readMessage('e-1', 'life1', 'm-1')).toStrictEqual(one);
    expect(await mailboxes.readMessage('e-1', 'life1', 'm-late')).toBeUndefined();
  });

  it('whose answer was lost counts as written', async () => {
    const { mailboxes } = opened();
    const one = message(1);
    for (let sent = 0; sent < 2; sent += 1)
      expect(await mailboxes.accept(mailbox(1, [one]), one)).toBe('written');
  });

  it('may have an id of any text, and a long one', async () => {
    const { mailboxes } = opened();
    const ids = ['a#b#c', '€'.repeat(200), '["shop","o-1"]'];
    const all = ids.map((id, at) => message(at + 1, { id }));
    for (const [at, one] of all.entries())
      expect(await mailboxes.accept(mailbox(at + 1, all.slice(0, at + 1)), one)).toBe('written');
    for (const one of all) expect(await mailboxes.readMessage('e-1', 'life1', one.id)).toStrictEqual(one);
    expect(await mailboxes.readMailbox('e-1', 'life1')).toStrictEqual(mailbox(3, all));
  });

  it('is accepted where a thousand wait', async () => {
    const { mailboxes } = opened();
    const many = Array.from({ length: 1_000 }, (_, at) =>
      message(at + 1, { id: `0193-4c7e-8f1d-${'a'.repeat(20)}-${at}` }),
    );
    const [first = message(1)] = many;
    expect(await mailboxes.accept(mailbox(1, many), first)).toBe('written');
    expect(await mailboxes.readMailbox('e-1', 'life1')).toStrictEqual(mailbox(1, many));
  });
}

function sentFirst(opened: () => OpenMailboxes): void {
  const one = message(1);
  const { wakeAt: _, ...calm } = mailbox(1, [one]);
  const first = { mailbox: calm, message: one };

  it('is written with it, also if the answer was lost', async () => {
    const { store, mailboxes } = opened();
    for (let sent = 0; sent < 2; sent += 1)
      expect(await store.create(anExecution(), false, first)).toBe('written');
    expect(await store.readExecution('e-1')).toStrictEqual(anExecution());
    expect(await mailboxes.readMailbox('e-1', 'life1')).toStrictEqual(calm);
    expect(await mailboxes.readMessage('e-1', 'life1', 'm-1')).toStrictEqual(one);
  });

  it('is not written where there is an execution, which is returned', async () => {
    const { store, mailboxes } = opened();
    const before = anExecution({ writeId: 'w-before', life: 'before' });
    await store.create(before);
    expect(await store.create(anExecution(), false, first)).toStrictEqual(before);
    expect(await mailboxes.readMailbox('e-1', 'life1')).toBeUndefined();
    expect(await mailboxes.readMessage('e-1', 'life1', 'm-1')).toBeUndefined();
  });
}

function taken(opened: () => OpenMailboxes): void {
  const one = message(1);
  const { body: _, ...rest } = one;
  const asTaken: ExecutionMessage = { ...rest, taken: { step: 'a', at: T + 100 } };
  const { wakeAt: _wakeAt, ...empty } = mailbox(2, [], { accepted: 1, writeId: 'w-take' });
  const step = aStep({ status: 'done', output: { amount: 1 } });
  const execution = anExecution({ version: 2, writeId: 'w-2' });
  const write = { executionId: 'e-1', execution, step, taken: { mailbox: empty, message: asTaken } };
  beforeEach(async () => {
    const { store, mailboxes } = opened();
    await store.create(anExecution());
    await mailboxes.accept(mailbox(1, [one]), one);
  });

  it('takes it with step and execution, once, and a lost answer counts as written', async () => {
    const { store, mailboxes } = opened();
    for (let sent = 0; sent < 2; sent += 1) expect(await store.write(write)).toBe('written');
    expect(await mailboxes.readMailbox('e-1', 'life1')).toStrictEqual(empty);
    expect(await mailboxes.readMessage('e-1', 'life1', 'm-1')).toStrictEqual(asTaken);
    expect((await store.read('e-1'))?.steps['a']).toMatchObject({ status: 'done', output: { amount: 1 } });
    const again = {
      ...write,
      execution: { ...execution, version: 3, writeId: 'w-3' },
      step: { ...step, version: 2, writeId: 'w-3' },
      taken: { mailbox: { ...empty, version: 3, writeId: 'w-3' }, message: asTaken },
    };
    expect(await store.write(again)).toBe('conflict');
    expect((await store.readExecution('e-1'))?.version).toBe(2);
  });

  it('writes nothing where a message was accepted since, or another has taken it', async () => {
    const { store, mailboxes } = opened();
    const two = message(2);
    await mailboxes.accept(mailbox(2, [one, two]), two);
    expect(await store.write(write)).toBe('conflict');
    expect((await store.readExecution('e-1'))?.version).toBe(1);
    expect((await store.read('e-1'))?.steps).toEqual({});
    expect(await mailboxes.readMessage('e-1', 'life1', 'm-1')).toStrictEqual(one);
    const next = { ...empty, version: 3, writeId: 'w-3', entries: [entryOf(two)], accepted: 2 };
    expect(await store.write({ ...write, taken: { mailbox: next, message: asTaken } })).toBe('written');
    expect((await mailboxes.readMailbox('e-1', 'life1'))?.entries).toEqual([entryOf(two)]);
  });

  it('writes nothing where step or execution has changed', async () => {
    const { store, mailboxes } = opened();
    await store.write({ executionId: 'e-1', execution: { ...execution, writeId: 'w-other' } });
    expect(await store.write(write)).toBe('conflict');
    expect(await mailboxes.readMailbox('e-1', 'life1')).toStrictEqual(mailbox(1, [one]));
    expect(await mailboxes.readMessage('e-1', 'life1', 'm-1')).toStrictEqual(one);
  });

  it('leaves its id, which counts once for 30 days more (M2)', async () => {
    const { store, mailboxes, goneAt } = opened();
    expect(await goneAt?.(one)).toBeUndefined();
    await store.write(write);
    if (goneAt !== undefined) expect(await goneAt(one)).toBe(T + 1_000 + KEPT_TAKEN_MS);
    const again = message(2, { id: 'm-1' });
    expect(await mailboxes.accept(mailbox(3, [again], { accepted: 2 }), again)).toBe('conflict');
    expect(await mailboxes.readMessage('e-1', 'life1', 'm-1')).toStrictEqual(asTaken);
  });
}

function found(opened: () => OpenMailboxes): void {
  const dueIn = async ({ store }: OpenMailboxes, untilAt = T + 60_000) => {
    const pages = await Promise.all(
      Array.from({ length: store.shards }, (_, shard) => store.due(shard, untilAt)),
    );
    return pages.flatMap(({ items }) => items);
  };

  it('of a mailbox finds it as due, beside its execution, until it is removed', async () => {
    const { store, mailboxes } = opened();
    await store.create(anExecution());
    const one = message(1);
    await mailboxes.accept(mailbox(1, [one]), one);
    const due = { executionId: 'e-1', wakeAt: T + 5_000, mailbox: true, life: 'life1' };
    expect(await dueIn(opened())).toEqual([due, { executionId: 'e-1', wakeAt: T + 30_000 }]);
    expect(await dueIn(opened(), T + 4_999)).toEqual([]);
    const { wakeAt: _, ...calm } = mailbox(2, [one]);
    expect(await mailboxes.writeMailbox({ ...calm, version: 1 })).toBe('conflict');
    expect(await mailboxes.writeMailbox(calm)).toBe('written');
    expect(await dueIn(opened())).toEqual([{ executionId: 'e-1', wakeAt: T + 30_000 }]);
    expect(await mailboxes.readMailbox('e-1', 'life1')).toStrictEqual(calm);
  });

  it('shows no list a second execution, also page by page', async () => {
    const { store, mailboxes } = opened();
    const ids = Array.from({ length: 12 }, (_, at) => `e-${at}`);
    for (const id of ids) {
      // All at one time: a cursor then names what was read last.
      await store.create(anExecution({ id, wakeAt: T, startedAt: T, writeId: `w-${id}` }));
      const one = message(1, { executionId: id });
      await mailboxes.accept(mailbox(1, [one], { executionId: id, wakeAt: T }), one);
    }
    const listed: string[] = [];
    let cursor: string | undefined;
    do {
      const query = { workflows: ['flow'], statuses: ['running'], limit: 2 } as const;
      const page = await store.list({ ...query, ...(cursor === undefined ? {} : { cursor }) });
      listed.push(...page.items.map(({ id }) => id));
      ({ cursor } = page);
    } while (cursor !== undefined);
    expect(listed.sort()).toEqual([...ids].sort());
    const { open } = await store.survey(0, ['flow']);
    expect(open.items.every(({ executionId }) => ids.includes(executionId))).toBe(true);
  });
}

function audited(opened: () => OpenMailboxes): void {
  const all = { index: 0, of: 1 };
  const isMail = (one: { readonly kind: string }): one is FoundMail => one.kind === 'mail';

  it('find the mailbox and each message, of each life, and remove what they have found', async () => {
    const { mailboxes, store, audited: audit } = opened();
    if (audit === undefined) return;
    await store.create(anExecution());
    const one = message(1, { id: 'a#b' });
    await mailboxes.accept(mailbox(1, [one]), one);
    const other = message(1, { life: 'life2' });
    await mailboxes.accept(mailbox(1, [other], { life: 'life2' }), other);
    const mail = (await audit.page(all)).items.filter(isMail);
    const common = { kind: 'mail', executionId: 'e-1', version: 1, writeId: 'w-1' };
    const expected = [
      { ...common, life: 'life1' },
      { ...common, life: 'life2' },
      { ...common, life: 'life1', message: 'a#b' },
      { ...common, life: 'life2', message: 'm-1' },
    ];
    expect(mail).toEqual(expected);
    const records = await audit.recordsOf('e-1');
    expect(records.map(({ kind }) => kind)).toEqual(['execution', 'mail', 'mail', 'mail', 'mail']);
    expect(await audit.recordsOf('e')).toEqual([]);
    const two = message(2);
    await mailboxes.accept(mailbox(2, [one, two]), two);
    // Another message came meanwhile.
    expect(await audit.remove(mail[0] as Removable)).toBe('conflict');
    expect(await audit.remove(mail[2] as Removable)).toBe('removed');
    expect(await audit.remove(mail[2] as Removable)).toBe('conflict');
    expect(await mailboxes.readMessage('e-1', 'life1', 'a#b')).toBeUndefined();
    expect(await mailboxes.readMessage('e-1', 'life1', 'm-2')).toStrictEqual(two);
    expect(await mailboxes.readMessage('e-1', 'life2', 'm-1')).toStrictEqual(other);
  });
}
