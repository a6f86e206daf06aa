/**
 * Rounds that begin with messages: when a round waits, the message that it takes, and what its record stores
 * (M3, M6).
 */

import type { ChildStep } from '../../../lib/core/plan/plan.ts';
import { decide } from '../../../lib/core/decide.ts';
import { afterTry, nextTryBegun } from '../../../lib/core/waiting/child-tries.ts';
import type { Children } from '../../../lib/core/records/children.ts';
import type { KnownMailbox } from '../../../lib/core/records/mailbox.ts';
import { holderOf, withValue } from '../../../lib/core/records/large-values.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import type { Json } from '../../../lib/core/values/json.ts';
import { child, childrenOf, end, parentOf } from '../family.ts';
import { agentStepOf } from '../small-steps.ts';
import { inputs, planOf, recordOf, see, stateOf } from '../one-step.ts';
import { NOW } from '../states.ts';

const HOUR_MS = 3_600_000;
const last = { last: { $ref: 'last', path: [] } };
const repeated: ChildStep = {
  ...child,
  rounds: {
    until: { $eq: [{ $ref: 'last', path: ['more'] }, false] },
    next: last,
    atMost: 9,
    message: { name: 'move', withinMs: HOUR_MS },
  },
};
const rounds = repeated.rounds as NonNullable<ChildStep['rounds']>;
const withRounds = (more: Partial<typeof rounds>): ChildStep => ({
  ...repeated,
  rounds: { ...rounds, ...more },
});
const continuing = withRounds({ message: { name: 'move', withinMs: HOUR_MS, otherwise: 'continue' } });
const opening = withRounds({ first: { name: 'open', withinMs: HOUR_MS } });

const mail = (name: string, at: number, body: Json = { to: 'b' }): KnownMailbox => ({
  mailbox: {
    executionId: 'e-1',
    life: 'life1',
    version: 4,
    writeId: 'w-m',
    entries: [{ order: 1, name, id: 'm-1', at, bytes: 9 }],
    accepted: 1,
  },
  messages: { 'm-1': { executionId: 'e-1', life: 'life1', id: 'm-1', name, order: 1, at, body } },
});
const NO_MAIL: KnownMailbox = { messages: {} };

const waiting = (of: Partial<Children> = {}, more: Partial<Step> = {}): Step =>
  recordOf('sub', 'running', {
    changedAt: NOW - 1_000,
    ...more,
    children: {
      ...childrenOf(1, {}, { try: 2, started: 0 }),
      rounds: { done: 1, input: { last: 7 }, awaits: { withinMs: HOUR_MS } },
      ...of,
    },
  });
const on = (record: Step | undefined, mailbox?: KnownMailbox, more: Partial<Execution> = {}): Snapshot => ({
  ...stateOf(record === undefined ? [] : [record], { ...parentOf(), startedAt: NOW - 99_000_000, ...more }),
  ...(mailbox === undefined ? {} : { mailbox }),
});
const answered = (step: ChildStep, answer: Json, of: Partial<Children> = {}): Step | undefined => {
  const record = recordOf('sub', 'running', { children: childrenOf(1, { 0: end('succeeded') }, of) });
  const event = { type: 'gathered', step: 'sub', outputs: [answer], ...inputs } as const;
  return decide(planOf(step), on(record), event).write?.step;
};

describe('a round that begins with a message', () => {
  it('has its number first, and what the one before answered', () => {
    expect(answered(repeated, { more: true })).toMatchObject({
      status: 'running',
      children: {
        try: 2,
        started: 0,
        ended: {},
        rounds: { done: 1, input: { last: { more: true } }, awaits: { withinMs: HOUR_MS } },
      },
    });
  });

  it('keeps nothing of the message of the one before, which that history names', () => {
    const of = { try: 2, rounds: { done: 1, received: { id: 'm-0', at: NOW - 9 } } };
    const step = answered(repeated, { more: true }, of);
    expect(step?.children?.rounds).not.toHaveProperty('received');
    expect(step?.attempts).toMatchObject([{ number: 2, outcome: 'done', message: 'm-0' }]);
  });

  it('waits as long as the round before says', () => {
    const moved = withRounds({ message: { name: 'move', within: { $ref: 'last', path: ['patience'] } } });
    expect(answered(moved, { patience: '2m' })?.children?.rounds?.awaits).toEqual({ withinMs: 120_000 });
    expect(answered(moved, { patience: 90 })?.children?.rounds?.awaits).toEqual({ withinMs: 90_000 });
    expect(answered(moved, {})).toMatchObject({ status: 'failed', failure: { code: 'bad-time' } });
  });

  it('is not created while it waits, and reads the mailbox first', () => {
    expect(see(planOf(repeated), on(waiting())).next).toEqual({ kind: 'read-mailbox' });
    expect(see(planOf(repeated), on(waiting(), NO_MAIL)).next.kind).not.toBe('start-children');
  });

  it('takes the message with its number and its input, in one write with the execution', () => {
    const { write, notes } = see(planOf(repeated), on(waiting(), mail('move', NOW - 5)));
    expect(write?.step).toMatchObject({
      status: 'running',
      children: {
        try: 2,
        started: 0,
        rounds: { done: 1, input: { last: 7, message: { to: 'b' } }, received: { id: 'm-1', at: NOW - 5 } },
      },
    });
    expect(write?.step?.children?.rounds).not.toHaveProperty('awaits');
    expect(write?.execution?.version).toBe(2);
    expect(write?.taken?.mailbox.entries).toEqual([]);
    expect(write?.taken?.message).toMatchObject({ id: 'm-1', taken: { step: 'sub', at: NOW } });
    expect(notes).toMatchObject([{ what: 'message-taken', step: 'sub' }]);
  });

  it('takes none of another name, and is created once it has its own', () => {
    expect(see(planOf(repeated), on(waiting(), mail('open', NOW - 5))).write?.taken).toBeUndefined();
    const given = { done: 1, input: { last: 7, message: 1 }, received: { id: 'm-1', at: NOW } };
    expect(see(planOf(repeated), on(waiting({ rounds: given }), NO_MAIL)).next).toMatchObject({
      kind: 'start-children',
      starts: [{ input: { last: 7, message: 1 }, parent: { try: 2 } }],
    });
  });

  it('takes what came in time however late that is seen, and nothing that came later', () => {
    const late = waiting({}, { changedAt: NOW - 2 * HOUR_MS });
    expect(see(planOf(repeated), on(late, mail('move', NOW - HOUR_MS - 1))).write?.taken).toBeDefined();
    expect(see(planOf(repeated), on(late, mail('move', NOW - HOUR_MS + 1))).write).toMatchObject({
      step: { status: 'failed', failure: { code: 'no-message' } },
    });
  });

  it('fails without one in time, or begins with null: with the execution, for a pause extends its time', () => {
    const late = waiting({}, { changedAt: NOW - HOUR_MS });
    expect(
      see(planOf(repeated), on(waiting({}, { changedAt: NOW - HOUR_MS + 1 }), NO_MAIL)).write?.step,
    ).toBeUndefined();
    const failed = see(planOf(repeated), on(late, NO_MAIL)).write;
    expect(failed).toMatchObject({ step: { status: 'failed' }, execution: { version: 2 } });
    const begun = see(planOf(continuing), on(late, NO_MAIL)).write;
    expect(begun).toMatchObject({
      step: {
        status: 'running',
        changedAt: NOW,
        children: { rounds: { input: { last: 7, message: null } } },
      },
      execution: { version: 2 },
    });
    expect(begun?.step?.children?.rounds).not.toHaveProperty('awaits');
  });

  it('takes none once its step is being stopped', () => {
    const stopped = waiting({ stop: { goal: 'stop', below: 0 } });
    const { write, next } = see(planOf(repeated), on(stopped, mail('move', NOW - 5)));
    expect(write?.taken).toBeUndefined();
    expect(next.kind).not.toBe('read-mailbox');
    expect(see(planOf(repeated), on(stopped)).next.kind).not.toBe('read-mailbox');
  });

  it('is given back the time of a pause', () => {
    const pauses = [{ number: 1, at: NOW - 900, endedAt: NOW - 400, reason: 'x', withinMs: HOUR_MS }];
    const late = waiting({}, { changedAt: NOW - HOUR_MS });
    expect(see(planOf(repeated), on(late, NO_MAIL, { pauses })).write?.step).toBeUndefined();
  });

  it('begins with no message alone where what the round before answered is lost', () => {
    const ref = { id: 'v-1', bytes: 200_000, hash: 'h' };
    const apart = waiting({ rounds: { done: 1, inputAt: ref, awaits: { withinMs: HOUR_MS } } });
    const state = on(apart, mail('move', NOW - 5));
    const lost = withValue(state, { holder: holderOf('sub'), ref }, 'lost');
    const { write } = see(planOf(repeated), lost);
    expect(write?.step?.children?.rounds).toMatchObject({ inputAt: ref });
    expect(write?.step?.children?.rounds).not.toHaveProperty('input');
  });

  it('uses up a message that makes its input too large, and names it: a retry waits for the next', () => {
    const large = mail('move', NOW, 'x'.repeat(100_001));
    const { write } = see(planOf(repeated), on(waiting(), large));
    expect(write).toMatchObject({
      step: { status: 'failed', failure: { code: 'input-too-large' }, isPermanent: true },
      execution: { version: 2 },
    });
    expect(write?.step?.failure?.message).toBe(
      "the input of a round has 100024 bytes, 100003 of them of message 'm-1'; at most 100000 are allowed",
    );
    expect(write?.taken?.mailbox.entries).toEqual([]);
    expect(write?.taken?.message).toMatchObject({ id: 'm-1', taken: { step: 'sub', at: NOW } });
    const again = { epoch: 2, retries: [{ at: NOW - 10, reason: 'again' }] };
    const failed = write?.step as Step;
    expect(see(planOf(repeated), on(failed, NO_MAIL, again)).write?.step).toBeUndefined();
    expect(see(planOf(repeated), on(failed, mail('move', NOW, 'x'), again)).write).toMatchObject({
      step: { status: 'running', children: { try: 2, rounds: { input: { message: 'x' } } } },
      taken: { message: { id: 'm-1' } },
    });
  });
});

describe('the first round', () => {
  it('waits for its message where its input is one, under its number', () => {
    const { write } = see(planOf(opening), on(undefined));
    expect(write?.step).toMatchObject({
      status: 'running',
      children: { count: 1, started: 0, rounds: { done: 0, awaits: { withinMs: HOUR_MS } } },
    });
    const waits = waiting({
      try: 1,
      rounds: { done: 0, input: { last: null }, awaits: { withinMs: HOUR_MS } },
    });
    expect(see(planOf(opening), on(waits, mail('move', NOW))).write?.taken).toBeUndefined();
    expect(see(planOf(opening), on(waits, mail('open', NOW))).write?.step).toMatchObject({
      children: { rounds: { input: { last: null, message: { to: 'b' } } } },
    });
  });
});

describe('the first round fails before it begins', () => {
  const a = agentStepOf('a');
  const ref = { id: 'v-1', bytes: 200_000, hash: 'h' };
  const done = recordOf('a', 'done', { outputAt: ref });
  const of = (step: ChildStep): ChildStep => ({ ...step, after: ['a'] });
  const lost = withValue(on(done), { holder: holderOf('a'), ref }, 'lost');
  const RETRY = { kind: 'retry', attempts: 3, firstMs: 1, maxMs: 1 } as const;
  const read = { $ref: 'step:a', path: ['patience'] } as const;
  const moved = withRounds({ first: { name: 'open', within: read } });

  it('for a lost time of its message', () => {
    expect(see(planOf(a, of(moved)), lost).write?.step).toMatchObject({
      name: 'sub',
      status: 'failed',
      failure: { code: 'value-lost' },
    });
  });

  it.each<[string, Partial<ChildStep>]>([
    ['input', { input: { order: read } }],
    ['condition', { when: { $eq: [read, 1] } }],
  ])('for a lost value in its %s; a retry waits for the message (seed 40082)', (_, reads) => {
    const step = of({
      ...opening,
      ...reads,
      recovery: [RETRY],
    });
    const failed = see(planOf(a, step), lost).write?.step;
    expect(failed).toMatchObject({ status: 'failed', failure: { code: 'value-lost' } });
    expect(failed).not.toHaveProperty('children');
    const again = { epoch: 2, retries: [{ at: NOW - 10, reason: 'again' }] };
    const known = stateOf([done, failed as Step], { ...parentOf(), startedAt: NOW - 99_000_000, ...again });
    const found = withValue(known, { holder: holderOf('a'), ref }, { value: { patience: 1 } });
    expect(see(planOf(a, step), found).write?.step).toMatchObject({
      status: 'running',
      children: { rounds: { done: 0, awaits: { withinMs: HOUR_MS } } },
    });
  });
});

describe('after a retry of the execution', () => {
  const retries = [{ at: NOW - 10, reason: 'again' }];
  const again = { epoch: 2, retries };
  const failedWithout = (changedAt: number): Step => {
    const late = waiting({}, { changedAt });
    return see(planOf(repeated), on(late, NO_MAIL, { startedAt: 1 })).write?.step as Step;
  };

  it('a round without a message waits again, under the same number and with its whole time', () => {
    const failed = failedWithout(NOW - HOUR_MS);
    expect(see(planOf(repeated), on(failed, NO_MAIL, again)).write?.step).toBeUndefined();
    const { write } = see(planOf(repeated), on(failed, mail('move', NOW - 5), again));
    expect(write?.step).toMatchObject({
      status: 'running',
      epoch: 2,
      children: {
        try: 2,
        epoch: 1, // the ids of the rounds before stay
        ended: {},
        rounds: { done: 1, input: { last: 7, message: { to: 'b' } } },
      },
    });
  });

  it('a round without a message waits its whole time from its place on (seed 40971)', () => {
    const retried = { epoch: 2, retries: [{ at: NOW - 2 * HOUR_MS, reason: 'again' }] };
    const failed = { ...failedWithout(NOW - HOUR_MS), changedAt: NOW - 3 * HOUR_MS };
    const placed = (placedAt: number) =>
      on(failed, NO_MAIL, { ...retried, lane: { key: 'k', admitted: 2, placedAt } });
    expect(see(planOf(repeated), placed(NOW - HOUR_MS + 1)).write?.step).toBeUndefined();
    expect(see(planOf(repeated), placed(NOW - HOUR_MS)).write?.step).toMatchObject({ status: 'failed' });
  });

  it.each<[string, number]>([
    ['the first', 0],
    ['a later', 1],
  ])('%s round that had begun keeps its message under its next number', (_, done) => {
    const kept = { done, input: { message: 1 }, received: { id: 'm-1', at: 5 } };
    const children = { ...childrenOf(1, { 0: end('compensated') }, { try: done + 1 }), rounds: kept };
    const failed = recordOf('sub', 'failed', { children });
    const step = see(planOf(opening), on(failed, NO_MAIL, again)).write?.step;
    expect(step).toMatchObject({ status: 'running', children: { try: done + 2, started: 0, rounds: kept } });
  });

  it.each<[string, Partial<Children>]>([
    ['without a message keeps that it did', { rounds: { done: 0, input: { last: null, message: null } } }],
    [
      'with values outside the table keeps them',
      { rounds: { done: 0, inputAt: { id: 'v-1', bytes: 200_000, hash: 'h' } } },
    ],
  ])('the first round that had begun %s under its next number', (_, of) => {
    const children = childrenOf(1, { 0: end('compensated') }, { try: 1, ...of });
    const failed = recordOf('sub', 'failed', { children });
    const step = see(planOf(opening), on(failed, mail('open', NOW - 5), again)).write?.step;
    expect(step).toMatchObject({ status: 'running', children: { try: 2, started: 0, ...of } });
  });

  it('the first round that was stopped while it waited waits anew', () => {
    const waits = { rounds: { done: 0, input: { last: null }, awaits: { withinMs: HOUR_MS } } };
    const children = childrenOf(1, { 0: end('canceled') }, { try: 1, ...waits });
    const fenced = recordOf('sub', 'fenced', { children });
    const step = see(planOf(opening), on(fenced, NO_MAIL, again)).write?.step;
    expect(step).toMatchObject({
      status: 'running',
      children: { started: 0, rounds: { done: 0, awaits: {} } },
    });
  });

  it('a try that follows one that failed keeps it, too', () => {
    const kept = { done: 1, input: { message: 1 }, received: { id: 'm-1', at: 5 } };
    const record = recordOf('sub', 'retrying', {
      children: { ...childrenOf(1, { 0: end('compensated') }, { try: 2 }), rounds: kept },
    });
    expect(nextTryBegun(repeated, record, inputs).children).toMatchObject({ try: 3, rounds: kept });
    const failing = { ...record, status: 'running' } as const;
    const tried = { ...repeated, recovery: [] };
    const after = afterTry(tried, failing, { code: 'x', message: 'x' }, inputs);
    expect(after.attempts).toMatchObject([{ number: 2, outcome: 'failed', message: 'm-1' }]);
  });
});
