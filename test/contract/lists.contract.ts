/**
 * The contract of every store of lists: which executions a filter finds, their order, and the counts. Each
 * list reads an index, never a scan.
 */

import type { ListQuery, Store } from '../../lib/core/ports.ts';
import { STATUS_GROUPS } from '../../lib/core/operators/list-filter.ts';
import type { Incident } from '../../lib/core/records/question.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import { aCallback } from './open-callbacks.contract.ts';
import { anIncident } from './incidents.contract.ts';
import { anExecution, aStep } from './records.ts';

/** How many open executions a store under test sorts by their start. */
export const MOST_OPEN = 12;

const T = 1_700_000_000_000;
const HOUR = 3_600_000;
const ALL = { workflows: ['flow', 'other'], limit: 100 };
const OPEN = { statuses: STATUS_GROUPS.open };
const BAD = { statuses: STATUS_GROUPS.bad };

/** An execution started at that minute. */
const open = (at: number, changes: Partial<Execution> = {}): Execution =>
  anExecution({
    id: `o-${at}`,
    startedAt: T + at * 60_000,
    wakeAt: T + 10 * HOUR - at,
    deadlineAt: T + 20 * HOUR,
    ...changes,
  });

/** An execution ended at that minute. */
function ended(at: number, code: string, changes: Partial<Execution> = {}): Execution {
  const { wakeAt: _, ...record } = anExecution({
    id: `b-${at}`,
    status: 'failed',
    startedAt: T - at,
    endedAt: T + at * 60_000,
    cause: { kind: 'failure', at: 1, failure: { code, message: 'm' } },
    ...changes,
  });
  return record;
}

const asking = (execution: Execution, incident: Incident) => ({
  executionId: execution.id,
  execution: { ...execution, version: 2, writeId: incident.writeId },
  question: incident,
});

export function lists(store: () => Store): void {
  const put = (...all: readonly Execution[]): Promise<unknown> =>
    Promise.all(all.map((one) => store().create(one)));
  const found = async (query: Partial<ListQuery>): Promise<string[]> =>
    (await store().list({ ...ALL, ...query })).items.map(({ id }) => id);
  async function paged(query: Partial<ListQuery>): Promise<string[]> {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await store().list({ ...ALL, ...query, ...(cursor === undefined ? {} : { cursor }) });
      ids.push(...page.items.map(({ id }) => id));
      ({ cursor } = page);
    } while (cursor !== undefined);
    return ids;
  }

  it('has what is open, of every status and workflow, latest start first, whatever is due first', async () => {
    await put(open(1), open(3, { status: 'waiting' }), open(2, { workflow: 'gone' }), ended(1, 'x'));
    expect(await store().list({ ...ALL, ...OPEN })).toMatchObject({ orderedBy: 'startedAt' });
    expect(await found(OPEN)).toEqual(['o-3', 'o-2', 'o-1']);
    expect(await found({ statuses: ['waiting'] })).toEqual(['o-3']);
    expect(await found({ ...OPEN, workflow: 'gone' })).toEqual(['o-2']);
    expect(await found({ ...OPEN, since: T + 2 * 60_000, until: T + 3 * 60_000 })).toEqual(['o-2']);
  });

  it('pages through what is open without a gap, also of one moment', async () => {
    const ids = Array.from({ length: 9 }, (_, at) => open(at, { startedAt: T + Math.floor(at / 4) }));
    await put(...ids);
    const whole = await found(OPEN);
    expect(new Set(whole).size).toBe(9);
    for (const limit of [1, 2, 4, 9]) expect(await paged({ ...OPEN, limit })).toEqual(whole);
  });

  it('has more than can be sorted in the order in which they are due, and says so', async () => {
    await put(...Array.from({ length: MOST_OPEN + 1 }, (_, at) => open(at)));
    const { items, orderedBy } = await store().list({ ...ALL, ...OPEN });
    const due = Array.from({ length: MOST_OPEN + 1 }, (_, at) => `o-${MOST_OPEN - at}`);
    expect([items.map(({ id }) => id), orderedBy]).toEqual([due, 'wakeAt']);
    for (const limit of [1, 5]) expect(await paged({ ...OPEN, limit })).toEqual(due);
    expect(await paged({ ...OPEN, limit: 2, since: T + 60_000 * MOST_OPEN })).toEqual([`o-${MOST_OPEN}`]);
  });

  it('has what a deployment brings itself only where it is asked for by its name', async () => {
    const workflow = 'steadfast-bulk';
    await put(open(1), open(2, { workflow }), ended(3, 'c'), ended(4, 'c', { workflow }));
    expect(await found(OPEN)).toEqual(['o-1']);
    expect(await found(BAD)).toEqual(['b-3']);
    expect(await found({ code: 'c' })).toEqual(['b-3']);
    expect(await found({ ...OPEN, workflow })).toEqual(['o-2']);
    expect(await found({ ...BAD, workflow })).toEqual(['b-4']);
    expect(await found({ workflow, workflows: [workflow] })).toHaveLength(2);
  });

  it('has what is open and no part of a list', async () => {
    const parent = { executionId: 'o-1', step: 'map', index: 0, part: true } as const;
    await put(open(1), open(2, { parent }), ended(1, 'x', { parent }));
    expect(await found(OPEN)).toEqual(['o-1']);
    expect(await found(BAD)).toEqual([]);
    expect((await store().survey(0, [])).open.items).toHaveLength(1);
  });

  it('goes on with a list of its own, whatever other list was begun meanwhile', async () => {
    const workflow = 'other';
    await put(open(1, { workflow }), open(2), open(3, { workflow }), open(4));
    const all = { ...ALL, ...OPEN, limit: 2 };
    const { items, cursor = '' } = await store().list(all);
    expect(items.map(({ id }) => id)).toEqual(['o-4', 'o-3']);
    expect(await found({ ...OPEN, workflow, limit: 1 })).toEqual(['o-3']);
    expect(await found({ ...all, cursor })).toEqual(['o-2', 'o-1']);
  });

  it('has what is at risk: noticed, overdue by a minute, or past three quarters of its time', async () => {
    const now = T + 8 * HOUR;
    await put(
      open(1),
      open(2, { riskSince: T + 5 }),
      open(3, { wakeAt: now - 60_000 }),
      open(4, { wakeAt: now - 59_999 }),
      open(5, { startedAt: now - 3 * HOUR, deadlineAt: now + HOUR }),
      open(6, { startedAt: now - 3 * HOUR, deadlineAt: now + HOUR + 4 }),
      // Its time stands still.
      open(7, { startedAt: now - 3 * HOUR, deadlineAt: now + HOUR, status: 'paused' }),
      // Its time began again.
      open(8, { deadlineAt: now + HOUR, retries: [{ at: now - HOUR, reason: '' }] }),
    );
    expect((await found({ atRiskAt: now })).sort()).toEqual(['o-2', 'o-3', 'o-5']);
    expect(await found({ ...OPEN, atRiskAt: T })).toEqual([]);
  });

  it('has the plans that are in flight', async () => {
    await put(open(1), open(2, { plan: 'hash-2' }), ended(1, 'x', { plan: 'hash-2' }));
    expect(await found({ plan: 'hash-2' })).toEqual(['o-2']);
    expect(await found({ plan: 'hash-2', ...BAD })).toEqual(['b-1']);
    const { plan } = open(1);
    expect(await found({ plansNot: [plan, 'hash-3'] })).toEqual(['o-2']);
    expect(await found({ plansNot: [plan], ...BAD })).toEqual(['b-1']);
    expect(await found({ plansNot: ['hash-2'] })).toEqual(['o-1']);
  });

  it('has what ended badly, latest end first, of every workflow, and nothing that never ran', async () => {
    const { cause: _, ...never } = ended(9, 'x', { status: 'canceled' });
    await put(
      ended(1, 'declined'),
      ended(3, 'declined', { status: 'compensated', workflow: 'gone' }),
      ended(2, 'canceled', { status: 'canceled' }),
      never,
      open(1),
    );
    expect(await store().list({ ...ALL, ...BAD })).toMatchObject({ orderedBy: 'endedAt' });
    expect(await found(BAD)).toEqual(['b-3', 'b-2', 'b-1']);
    expect(await found({ statuses: ['failed'] })).toEqual(['b-1']);
    expect(await found({ ...BAD, workflow: 'gone' })).toEqual(['b-3']);
    expect(await found({ ...BAD, since: T + 2 * 60_000, until: T + 3 * 60_000 })).toEqual(['b-2']);
    expect(await paged({ ...BAD, limit: 1 })).toEqual(['b-3', 'b-2', 'b-1']);
  });

  it('has what ended with a code or asks with it, until it is tried again or answered', async () => {
    const asks = open(5);
    const failed = ended(3, 'declined');
    await put(asks, failed, ended(4, 'lost'));
    await store().write({ executionId: asks.id, step: aStep() });
    const incident = anIncident({ openedAt: T + 10 * 60_000 });
    expect(await store().write(asking(asks, incident))).toBe('written');
    expect(await store().list({ ...ALL, code: 'declined' })).toMatchObject({ orderedBy: 'codeAt' });
    expect(await found({ code: 'declined' })).toEqual(['o-5', 'b-3']);
    expect(await paged({ code: 'declined', limit: 1 })).toEqual(['o-5', 'b-3']);
    expect(await found({ code: 'declined', ...BAD })).toEqual(['b-3']);
    expect(await found({ code: 'declined', since: T + 5 * 60_000 })).toEqual(['o-5']);
    expect(await found({ code: 'decline' })).toEqual([]);
    const { cause: _cause, endedAt: _endedAt, ...rest } = failed;
    const again = { ...rest, status: 'running', version: 2, writeId: 'w-2', wakeAt: T } as const;
    await store().write({ executionId: failed.id, execution: again });
    const answer = { version: 2, writeId: 'w-a', closedAt: T, choice: 'skip', closedBy: 'answer' } as const;
    await store().write({ executionId: asks.id, question: { ...incident, ...answer } });
    expect(await found({ code: 'declined' })).toEqual([]);
    expect(await found(BAD)).toEqual(['b-4']);
  });

  it('has what has a tag that is searched for, latest start first, in whichever index each has it', async () => {
    const tags = { order: '47#11', shop: 'b' };
    await put(
      open(1, { tags, search: ['order'] }),
      open(2, { tags, search: ['shop', 'order'], workflow: 'gone' }),
      ended(3, 'x', { tags, search: ['a', 'b', 'order'] }),
      open(4, { tags, search: ['shop'] }),
      open(5, { tags: { order: '47' }, search: ['order'] }),
    );
    const tag = { name: 'order', value: '47#11' };
    expect(await found({ tag })).toEqual(['o-2', 'o-1', 'b-3']);
    expect(await paged({ tag, limit: 1 })).toEqual(['o-2', 'o-1', 'b-3']);
    expect(await found({ tag, ...BAD })).toEqual(['b-3']);
    expect(await found({ tag, workflow: 'gone' })).toEqual(['o-2']);
    expect(await found({ tag, since: T, until: T + 120_000 })).toEqual(['o-1']);
    expect(await found({ tag: { name: 'order', value: '471' } })).toEqual([]);
  });

  it('counts what is open, what is asked and what has ended badly of late, up to a bound', async () => {
    const { wakeAt: _, ...over } = anExecution({ id: 'ok', status: 'succeeded', endedAt: T });
    const one = open(1, { riskSince: T });
    await put(one, over, ended(1, 'declined'), ended(2, 'lost', { status: 'canceled' }));
    await store().write({ executionId: one.id, step: aStep() });
    await store().write(asking(one, anIncident()));
    await store().write({ executionId: one.id, question: aCallback() });
    const survey = await store().survey(T + 2 * 60_000, ['flow']);
    const { id: executionId, workflow, plan, startedAt, wakeAt } = one;
    const riskAt = Math.floor(startedAt + 0.75 * (one.deadlineAt - startedAt));
    const key = { executionId, workflow, plan, startedAt, wakeAt, riskAt, riskSince: T, status: 'running' };
    expect(survey.open).toEqual({ items: [expect.objectContaining(key)] });
    const end = { workflow, startedAt: expect.any(Number), status: 'canceled', code: 'lost' };
    expect(survey.ended).toEqual({ items: [end] });
    expect(await store().survey(T + 3 * 60_000, ['flow'])).not.toHaveProperty('begun');
    const begunOf = async (workflows: string[], latelySince?: number) =>
      (await store().survey(T - HOUR, workflows, latelySince)).begun;
    const four = ['flow', 'flow', 'flow', 'flow'];
    expect(await begunOf(['flow', 'other'])).toEqual({ count: 4, lately: { items: four } });
    expect(await begunOf(['flow'], startedAt)).toMatchObject({ count: 4, lately: { items: ['flow'] } });
    expect(await begunOf(['other'])).toEqual({ count: 0, lately: { items: [] } });
    const { openedAt, deadlineAt } = anIncident();
    const asked = { executionId, kind: 'recovery', openedAt, deadlineAt };
    const entry = aCallback();
    const waits = { executionId, kind: entry.kind, openedAt: entry.openedAt, deadlineAt: entry.deadlineAt };
    expect(survey.inbox.items).toHaveLength(2);
    expect(survey.inbox.items).toEqual(expect.arrayContaining([asked, waits]));
    await put(...Array.from({ length: MOST_OPEN }, (_one, at) => open(at + 10)));
    const latest = T + (MOST_OPEN + 7) * 60_000;
    const { open: many, begun } = await store().survey(T - HOUR, ['flow'], latest);
    expect([many.items.length, many.atLeast]).toEqual([MOST_OPEN, true]);
    // If everything that was started is too much, recent starts are counted separately.
    expect(begun).toMatchObject({ count: MOST_OPEN, atLeast: true, lately: { items: four.slice(0, 3) } });
    expect(begun?.lately).not.toHaveProperty('atLeast');
  });

  it('counts of more questions than the bound those that are decided first', async () => {
    const some = Array.from({ length: MOST_OPEN + 2 }, (_one, at) => open(at));
    await put(...some);
    // The later it was asked, the sooner it is decided.
    for (const [at, one] of some.entries()) {
      const question = aCallback({ openedAt: T + at, deadlineAt: T + HOUR - at });
      await store().write({ executionId: one.id, question });
    }
    const { items, atLeast } = await store().openQuestions();
    expect(atLeast).toBe(true);
    const times = items.map(({ deadlineAt }) => deadlineAt).sort((one, other) => other - one);
    expect(times).toEqual(some.slice(2).map((_one, at) => T + HOUR - 2 - at));
  });

  it('finds the open questions below an execution, and of all', async () => {
    const ids = ['a', 'a.rooms.0', 'a.rooms.1', 'ab.rooms.0'];
    const all = ids.map((id) => anExecution({ id }));
    await put(...all);
    for (const one of all) await store().write(asking(one, anIncident()));
    const of = async (below?: string) =>
      (await store().openQuestions(below)).items.map(({ executionId }) => executionId).sort();
    expect(await of()).toEqual(ids);
    expect(await of('a')).toEqual(['a.rooms.0', 'a.rooms.1']);
    expect(await of('b')).toEqual([]);
  });

  it.each(['', 'nonsense', 's5', 's5_E', 'w5', 'w5_x/o-1'])('refuses the cursor %j', async (cursor) => {
    await put(open(1));
    await expect(store().list({ ...ALL, ...OPEN, cursor })).rejects.toMatchObject({ code: 'bad-cursor' });
  });
}
