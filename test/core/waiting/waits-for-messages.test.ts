/**
 * A step that takes a message: when it reads the mailbox, which message it takes, what happens without one.
 */

import type { ReceiveStep } from '../../../lib/core/plan/plan.ts';
import { messagesOf } from '../../../lib/core/plan/plan.ts';
import type { KnownMailbox, MailboxEntry } from '../../../lib/core/records/mailbox.ts';
import { type Snapshot, withWrite } from '../../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import { planOf, recordOf, see, stateOf } from '../one-step.ts';
import { planStep } from '../../author/refusals.ts';
import { NOW } from '../states.ts';

const TURN = NOW - 10_000;
const paid: ReceiveStep = { kind: 'receive', name: 'r', after: ['it'], message: 'paid', withinMs: 20_000 };
const before = recordOf('it', 'done', { changedAt: TURN });
const about = { executionId: 'e-1', life: 'life1' };

const sent = (id: string, name: string, at: number, order: number): MailboxEntry => ({
  id,
  name,
  at,
  order,
  bytes: 9,
});

const read = (...entries: readonly MailboxEntry[]): KnownMailbox => ({
  mailbox: { ...about, version: 4, writeId: 'w-m', entries, accepted: 7, wakeAt: NOW + 5 },
  messages: Object.fromEntries(
    entries.map(({ id, name, at, order }) => [id, { ...about, id, name, at, order, body: { of: id } }]),
  ),
});

const on = (mailbox?: KnownMailbox, more: Partial<Execution> = {}, ...records: Step[]): Snapshot => ({
  ...stateOf([before, ...records], { startedAt: NOW - 99_000, ...more }),
  ...(mailbox === undefined ? {} : { mailbox }),
});
const plan = planOf(planStep, paid);

describe('a step that takes a message', () => {
  it('has the mailbox read once its turn has come, and no sooner', () => {
    expect(see(plan, on()).next).toEqual({ kind: 'read-mailbox' });
    const notYet = { ...on(), steps: {} };
    expect(see(plan, notYet).next.kind).not.toBe('read-mailbox');
    expect(see(plan, on(undefined, { status: 'paused' })).next.kind).not.toBe('read-mailbox');
    expect(see(plan, on(undefined, {}, recordOf('r', 'done'))).next.kind).not.toBe('read-mailbox');
  });

  it.each(['constructor', 'toString', '__proto__'])('reads a message whose id is %s, as any other', (id) => {
    const { mailbox } = read(sent(id, 'paid', NOW - 20, 1));
    const unread = mailbox === undefined ? { messages: {} } : { mailbox, messages: {} };
    expect(see(plan, on(unread)).next).toEqual({ kind: 'read-mailbox', message: id });
  });

  it('takes the first of its name where one behind it came in time: clocks of senders differ', () => {
    const late = sent('m-1', 'paid', NOW + 60_000, 1);
    expect(see(plan, on(read(late))).write?.taken).toBeUndefined();
    const { write } = see(plan, on(read(late, sent('m-2', 'paid', NOW - 5, 2))));
    expect(write?.step?.received).toEqual({ id: 'm-1', at: NOW + 60_000 });
  });

  it('takes the first message of its name, in one write with execution and mailbox', () => {
    const mailbox = read(
      sent('m-1', 'other', NOW - 30, 1),
      sent('m-2', 'paid', NOW - 20, 2),
      sent('m-3', 'paid', NOW - 10, 3),
    );
    const longer = planOf(planStep, paid, { ...planStep, name: 'next', after: ['r'] });
    const { write, next, notes } = see(longer, on(mailbox));
    expect(write?.step).toMatchObject({
      name: 'r',
      status: 'done',
      output: { of: 'm-2' },
      received: { id: 'm-2', at: NOW - 20 },
    });
    expect(write?.execution?.version).toBe(2);
    expect(write?.taken?.mailbox).toEqual({
      ...about,
      version: 5,
      writeId: 'w-new',
      accepted: 7,
      entries: [sent('m-1', 'other', NOW - 30, 1), sent('m-3', 'paid', NOW - 10, 3)],
    });
    expect(write?.taken?.message).toEqual({
      ...about,
      id: 'm-2',
      name: 'paid',
      order: 2,
      at: NOW - 20,
      taken: { step: 'r', at: NOW },
    });
    expect(next.kind).toBe('evaluate');
    expect(notes).toMatchObject([{ what: 'message-taken', step: 'r', detail: 'paid' }]);
  });

  it('brings the execution forward: the wake time of the mailbox goes with the message', () => {
    const far = { wakeAt: NOW + 3_000_000 };
    const { write } = see(plan, on(read(sent('m-1', 'paid', NOW, 1)), far));
    expect(write?.taken?.mailbox).not.toHaveProperty('wakeAt');
    expect(write?.execution?.wakeAt).toBeLessThan(far.wakeAt);
  });

  it('asks for the message before it is taken, and passes over one that is lost', () => {
    const mailbox = read(sent('m-1', 'paid', NOW - 2, 1), sent('m-2', 'paid', NOW - 1, 2));
    const unread = { ...mailbox, messages: {} };
    expect(see(plan, on(unread)).next).toEqual({ kind: 'read-mailbox', message: 'm-1' });
    const lost = { ...mailbox, messages: { ...mailbox.messages, 'm-1': null } };
    expect(see(plan, on(lost)).write?.step?.received?.id).toBe('m-2');
  });

  it('knows nothing of the mailbox after any write of its own', () => {
    const state = on(read(sent('m-1', 'paid', NOW, 1)));
    expect(withWrite(state, see(plan, state).write)).not.toHaveProperty('mailbox');
    expect(withWrite(state, undefined)).toBe(state);
  });

  it('decides nothing on a state that was not just read', () => {
    const { write, next } = see(plan, on(read(sent('m-1', 'paid', NOW, 1))), { fresh: false });
    expect([write, next]).toMatchObject([undefined, { kind: 'evaluate', fresh: true }]);
  });

  it.each([
    ['at the end of its time', 0, 'm-1'],
    ['after it', 1, undefined],
  ])('takes what was accepted %s accordingly, however late that is seen (M6)', (_, late, id) => {
    const over = { ...paid, withinMs: 5_000 };
    const at = TURN + 5_000 + late;
    const { write } = see(planOf(planStep, over), on(read(sent('m-1', 'paid', at, 1))));
    expect(write?.step?.status).toBe(id === undefined ? 'failed' : 'done');
    expect(write?.step?.received?.id).toBe(id);
  });

  it('fails without one in time, or goes on with null', () => {
    const short = { ...paid, withinMs: 5_000 };
    const none = on({ messages: {} });
    expect(see(planOf(planStep, short), none).write?.step).toMatchObject({
      status: 'failed',
      failure: { code: 'no-message', message: "no message 'paid' came in time" },
    });
    const longer = { ...planStep, name: 'next', after: ['r'] };
    const { write } = see(planOf(planStep, { ...short, otherwise: 'continue' }, longer), none);
    expect(write?.step).toMatchObject({ status: 'done', output: null });
    expect(write?.step).not.toHaveProperty('received');
    // A pause that began since the read extends its time: the write has the execution's version.
    expect(write?.execution?.version).toBe(2);
  });

  it('gives one message to one step: of two whose turn has come the first in the plan', () => {
    const both = planOf(planStep, paid, { ...paid, name: 's' });
    const state = on(read(sent('m-1', 'paid', NOW, 1)));
    const first = see(both, state).write;
    expect(first?.step?.name).toBe('r');
    const after = { ...withWrite(state, first), mailbox: { messages: {} } };
    expect(see(both, after).write?.step).toBeUndefined();
  });

  it('is known by its messages', () => {
    expect(
      messagesOf(planOf(planStep, paid, { ...paid, name: 's' }, { ...paid, name: 't', message: 'n' })),
    ).toEqual(['paid', 'n']);
  });
});
