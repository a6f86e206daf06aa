import { readFileSync } from 'node:fs';
import type { Rule } from '../../world/behaviour.ts';
import type { EntryKind, OrderEntry as Entry } from '../world.ts';
import type { Attempt, Execution, Step } from './api.ts';
import { median, type Observations, report } from './report.ts';
import { FROZEN, KILLED, type Scenario, SCENARIOS } from './scenarios.ts';

const HISTORIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'order-unavailable': { charge: 'execute failed, execute failed, execute failed, execute done' },
  'order-lost-reply': { charge: 'execute unknown, probe done' },
  'order-killed': { charge: 'execute unknown, probe done' },
  'order-declined': {
    charge: 'execute done, undo compensated',
    reserve: 'execute done, undo compensated',
    ship: 'execute failed',
  },
  'order-frozen': { reserve: 'execute unknown, execute done' },
};

/** A step with attempts of 100 ms each, from second ten on. */
function stepOf(name: string, history: string): Step {
  let tries = 0;
  const attempts = history.split(', ').map((text, index): Attempt => {
    const [mode, outcome] = text.split(' ') as [Attempt['mode'], string];
    if (mode === 'execute') tries += 1;
    const claimedAt = 10_000 + index * 100;
    return { number: tries, mode, outcome, claimedAt, endedAt: claimedAt + 100 };
  });
  return { name, status: 'done', attempts };
}

function executionOf({ orderId, expectedStatus }: Scenario): Execution {
  const last = expectedStatus === 'succeeded' ? 'notify' : 'tell-customer';
  const steps = ['charge', 'reserve', 'ship', last].map((name) =>
    stepOf(name, HISTORIES[orderId]?.[name] ?? 'execute done'),
  );
  return { executionId: `x-${orderId}`, status: expectedStatus, startedAt: 9_000, endedAt: 12_000, steps };
}

function entriesOf({ orderId, expectedCounts, expectedStatus }: Scenario): Entry[] {
  const subject = expectedStatus === 'succeeded' ? 'on-its-way' : 'not-fulfilled';
  const executionId = `x-${orderId}`;
  const of: Partial<Record<EntryKind, string>> = { refund: 'charge', release: 'reservation' };
  const kinds = Object.entries(expectedCounts).filter(([, count]) => count > 0) as [EntryKind, number][];
  const entries = kinds.map(([kind], index): Entry => {
    const undone = of[kind] === undefined ? {} : { of: `${of[kind]}-${orderId}` };
    return {
      seq: index,
      at: 9_500,
      service: 'payment',
      kind,
      id: `${kind}-${orderId}`,
      reference: 'r',
      executionId,
      ...undone,
      ...(kind === 'mail' ? { subject } : {}),
    };
  });
  const repeat: Entry = {
    seq: 99,
    at: 9_900,
    service: 'warehouse',
    kind: 'repeat',
    id: 'r',
    reference: 'r',
    executionId,
  };
  return orderId === FROZEN.orderId ? [...entries, repeat] : entries;
}

const rules: Rule[] = SCENARIOS.flatMap(({ misbehaviour, orderId }, id) =>
  misbehaviour === undefined
    ? []
    : [{ ...misbehaviour, id, match: { about: orderId }, fired: misbehaviour.times ?? 1 }],
);

const perfect: Observations = {
  orders: SCENARIOS.map((scenario) => ({ scenario, execution: executionOf(scenario) })),
  entries: SCENARIOS.flatMap(entriesOf),
  rules,
  kill: { at: 9_900 },
  freeze: { at: 9_800, thawedAt: 11_000, refused: 1 },
  supervisorKill: { at: 9_950 },
  seconds: 12.34,
};

const changed = (orderId: string, change: Partial<Execution>): Observations => ({
  ...perfect,
  orders: perfect.orders.map(({ scenario, execution }) => ({
    scenario,
    execution: scenario.orderId === orderId ? { ...execution, ...change } : execution,
  })),
});

test('if all orders end as expected, the summary says so, and each order is explained in plain words', () => {
  const { summary, allAsExpected, lines } = report(perfect);
  expect(lines.filter((line) => line.includes('NOT AS EXPECTED'))).toEqual([]);
  expect(summary).toEqual({
    executions: 6,
    asExpected: 6,
    doubleCharges: 0,
    lostCharges: 0,
    stuck: 0,
    recoveries: 3,
    detectMsP50: 250,
    seconds: 12.3,
  });
  expect(allAsExpected).toBe(true);
  for (const { orderId } of SCENARIOS) expect(lines.join('\n')).toContain(`✔ ${orderId}`);
  expect(lines.at(-1)).toBe('6 of 6 orders as expected. Charged twice: 0. Charges lost: 0. Stuck: 0.');
});

test('what the README shows of it is what it says, but for the times', () => {
  const timeless = (line: string): string => line.replace(/\d+\.\d s/g, 'n s');
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
  const [, shown = ''] = /^```text\n(✔[\s\S]*?)^```$/m.exec(readme) ?? [];
  const lines = shown.trimEnd().split('\n').map(timeless);
  expect(lines).toHaveLength(8);
  expect(report(perfect).lines.map(timeless)).toEqual(expect.arrayContaining(lines));
});

describe('it is not as expected', () => {
  test.each([
    ['the kill', { kill: undefined }],
    ['the freeze', { freeze: undefined }],
    ['the refusal of the thawed agent', { freeze: { at: 9_800, thawedAt: 11_000, refused: 0 } }],
    ['the takeover before the thaw', { freeze: { at: 9_800, thawedAt: 10_050, refused: 1 } }],
    ['the kill of the supervisor', { supervisorKill: undefined }],
    ['anything noticed after the supervisor was killed', { supervisorKill: { at: 20_000 } }],
    ['the misbehaviour', { rules: [] }],
    ['the charge before the kill', { kill: { at: 9_000 } }],
  ])('when %s did not happen', (_, change) => {
    const { allAsExpected, lines } = report({ ...perfect, ...change });
    expect(allAsExpected).toBe(false);
    expect(lines.join('\n')).toContain('NOT AS EXPECTED');
  });

  test('when an order ends otherwise, or not at all', () => {
    const failed = report(changed('order-declined', { status: 'failed' }));
    expect(failed.allAsExpected).toBe(false);
    expect(failed.summary).toMatchObject({ asExpected: 5, stuck: 0 });
    const stuck = report(changed(KILLED.orderId, { status: 'running' }));
    expect(stuck.allAsExpected).toBe(false);
    expect(stuck.summary).toMatchObject({ asExpected: 5, stuck: 1, recoveries: 2 });
  });

  test('when a step took another way than expected', () => {
    const steps = [stepOf('charge', 'execute unknown, probe not-done, execute done')];
    expect(report(changed(KILLED.orderId, { steps })).summary.asExpected).toBe(5);
  });

  test('if the customer of an undone order gets the mail before the undo, or none', () => {
    const isNews = ({ subject }: Entry): boolean => subject === 'not-fulfilled';
    const others = perfect.entries.filter((entry) => !isNews(entry));
    expect(report({ ...perfect, entries: others }).summary.asExpected).toBe(5);
    const early = [...perfect.entries.filter(isNews), ...others];
    expect(report({ ...perfect, entries: early }).lines.join('\n')).toContain('before all was undone');
  });

  test('when the ledger shows a double or a lost charge, or an order that nobody started', () => {
    const double = { ...(perfect.entries[0] as Entry), id: 'charge-again' };
    expect(report({ ...perfect, entries: [...perfect.entries, double] })).toMatchObject({
      allAsExpected: false,
      summary: { doubleCharges: 1, asExpected: 5 },
    });
    expect(report({ ...perfect, entries: perfect.entries.slice(1) })).toMatchObject({
      allAsExpected: false,
      summary: { lostCharges: 1, asExpected: 5 },
    });
    const stranger = { ...double, executionId: 'stranger' };
    expect(report({ ...perfect, entries: [...perfect.entries, stranger] })).toMatchObject({
      allAsExpected: false,
      summary: { lostCharges: 1, asExpected: 6 },
    });
  });
});

test('the median of an even number of values lies in the middle; an empty list has none', () => {
  expect(median([5, 1, 3])).toBe(3);
  expect(median([4, 1, 3, 2])).toBe(3);
  expect(median([])).toBeNull();
});
