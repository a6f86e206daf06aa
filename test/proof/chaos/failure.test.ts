/** The audit of the failure workflows can fail: whatever is planted in a clean ledger, record or event is found. */

import type { Entry, EntryKind } from '../../../examples/order-fulfilment/world/ledger.ts';
import type { Plan } from '../../../lib/core/plan/plan.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import type { EndedEvent } from '../../../proof/chaos/ended-events.ts';
import { auditFailure, type Evidence } from '../../../proof/chaos/failure/audit.ts';
import { type Features, featuresOf } from '../../../proof/chaos/failure/features.ts';
import { plannedFailure, TOLERATED_SHARE } from '../../../proof/chaos/failure/plan.ts';
import { failuresOf, reportFailure, STRUCK } from '../../../proof/chaos/failure/report.ts';
import { holiday, launch, order, rollout, site } from '../../../proof/chaos/failure/workflow.ts';
import { FUNCTIONS } from '../../../proof/chaos/fault-plan.ts';
import type { Tally } from '../../../proof/chaos/saboteur.ts';

const LIFE = 'life000001';
const record = (name: string, status: Step['status'], more: Partial<Step> = {}): Step => ({
  name,
  life: LIFE,
  key: 1,
  keyVariant: 0,
  status,
  version: 2,
  writeId: 'w',
  epoch: 1,
  attempt: 1,
  stage: 0,
  stageAttempt: 1,
  processDeadlineAt: 0,
  mayHaveActed: false,
  heartbeat: 0,
  probes: 0,
  undoAttempt: 0,
  changedAt: 0,
  attempts: [],
  ...more,
});

function snapshot(
  id: string,
  of: { readonly name: string },
  status: Execution['status'],
  steps: Readonly<Record<string, Step['status']>>,
  more: Partial<Execution> = {},
): Snapshot {
  const execution: Execution = {
    id,
    life: LIFE,
    workflow: of.name,
    plan: of.name,
    status,
    version: 3,
    writeId: 'w',
    epoch: 1,
    input: { subject: id },
    inputHash: 'h',
    startedAt: 0,
    endedAt: 9,
    deadlineAt: 900_000,
    commands: [],
    dispatches: {},
    dispatched: 0,
    ...more,
  };
  const records = Object.entries(steps).map(([name, its]) => [name, record(name, its)] as const);
  return { execution, steps: Object.fromEntries(records) };
}

/** `kind execution step`, `undo-kind of number`: the number of a line is its place, from 1. */
function ledger(...lines: readonly string[]): Entry[] {
  const entries: Entry[] = [];
  for (const [at, line] of lines.entries()) {
    const [kind, where = '', step = ''] = line.split(' ') as [EntryKind, string, string];
    const of = where === 'of' ? entries[Number(step) - 1] : undefined;
    const [executionId, reference] =
      of === undefined ? [where, `${where}.${step}.${LIFE}`] : [of.executionId ?? '', of.reference];
    entries.push({
      seq: at + 1,
      at,
      service: 'payment',
      kind,
      id: `${kind}-${at + 1}`,
      reference,
      executionId,
      ...(of === undefined ? {} : { of: of.id }),
      ...(kind === 'mail' ? { subject: step.startsWith('on-failure') ? 'not-fulfilled' : 'on-its-way' } : {}),
    });
  }
  return entries;
}

const NOTHING_STANDS = { stands: 0, mayStand: 0, first: [] };
const ended = (id: string, status: string, more: Partial<EndedEvent> = {}): EndedEvent => ({
  executionId: id,
  status,
  endedAt: 9,
  ...(status === 'succeeded' ? {} : { standing: NOTHING_STANDS }),
  ...more,
});

const plans = new Map<string, Plan>(
  [order, holiday, launch, site, rollout].map(({ name, plan }) => [name, plan]),
);
const evidence = (
  snapshots: readonly Snapshot[],
  entries: readonly Entry[],
  more: Partial<Evidence> = {},
): Evidence => ({
  table: { snapshots, plans },
  entries,
  events: snapshots.map(({ execution: { id, status } }) => ended(id, status)),
  planned: new Map(),
  ...more,
});
const found = (what: Evidence): string[] => auditFailure(what).map(({ kind }) => kind);

const FULFILLED = snapshot('o', order, 'succeeded', { pay: 'done', ship: 'done', mail: 'done' });
const FULFILLED_LEDGER = ['charge o pay', 'shipment o ship', 'mail o mail'];
const TAKEN_BACK = snapshot('o', order, 'compensated', { pay: 'compensated', ship: 'failed', tell: 'done' });
const TELL = 'mail o on-failure-1.tell';
const TAKEN_BACK_LEDGER = ['charge o pay', 'refund of 1', TELL];

describe('an order', () => {
  it('is clean when it is fulfilled, when its mail was declined, and when it is taken back and told of', () => {
    expect(found(evidence([FULFILLED], ledger(...FULFILLED_LEDGER)))).toEqual([]);
    const unmailed = snapshot('o', order, 'succeeded', { pay: 'done', ship: 'done', mail: 'tolerated' });
    expect(found(evidence([unmailed], ledger(...FULFILLED_LEDGER.slice(0, 2))))).toEqual([]);
    expect(found(evidence([TAKEN_BACK], ledger(...TAKEN_BACK_LEDGER)))).toEqual([]);
  });

  it.each<[string, Snapshot, readonly string[], string[]]>([
    ['a second charge', FULFILLED, [...FULFILLED_LEDGER, 'charge o pay'], ['doubled']],
    ['a second mail', FULFILLED, [...FULFILLED_LEDGER, 'mail o mail'], ['doubled']],
    ['a second refund', TAKEN_BACK, ['charge o pay', 'refund of 1', 'refund of 1', TELL], ['doubled']],
    ['a charge that is missing', FULFILLED, FULFILLED_LEDGER.slice(1), ['lost']],
    ['a shipment that was taken back', FULFILLED, [...FULFILLED_LEDGER, 'cancellation of 2'], ['lost']],
    ['a charge of no step', FULFILLED, [...FULFILLED_LEDGER, 'charge o stranger'], ['lost']],
    ['a charge of no execution', FULFILLED, [...FULFILLED_LEDGER, 'charge x pay'], ['lost']],
    ['a charge that was not refunded', TAKEN_BACK, ['charge o pay', TELL], ['left', 'too early']],
    [
      'a shipment of a step that failed',
      TAKEN_BACK,
      [...TAKEN_BACK_LEDGER, 'shipment o ship'],
      ['left', 'too early'],
    ],
    ['nobody told', TAKEN_BACK, TAKEN_BACK_LEDGER.slice(0, 2), ['lost', 'untold']],
    ['told twice', TAKEN_BACK, [...TAKEN_BACK_LEDGER, TELL], ['doubled']],
    [
      'told twice by two keys',
      TAKEN_BACK,
      [...TAKEN_BACK_LEDGER, 'mail o on-failure-2.tell'],
      ['doubled', 'lost'],
    ],
    ['told before the refund', TAKEN_BACK, ['charge o pay', TELL, 'refund of 1'], ['too early']],
    ['told of a success', FULFILLED, [...FULFILLED_LEDGER, TELL], ['untold', 'too early', 'lost']],
    ['a key with other parameters', FULFILLED, [...FULFILLED_LEDGER, 'misuse of 3'], ['misuse']],
  ])('is not, with %s', (_, state, lines, kinds) => {
    expect(found(evidence([state], ledger(...lines)))).toEqual(kinds);
  });

  it('is not, with a request under a key that was taken back', () => {
    const car = snapshot('h', holiday, 'succeeded', { car: 'tolerated' });
    expect(found(evidence([car], ledger('reservation h car', 'release of 1', 'repeat of 1')))).toEqual([
      'misuse',
    ]);
    expect(found(evidence([car], ledger('reservation h car', 'repeat of 1', 'release of 1')))).toEqual([]);
  });

  it('may leave what its end says that it may have left, and nothing else', () => {
    const state = snapshot('o', order, 'succeeded', { pay: 'done', ship: 'done', mail: 'tolerated' });
    const entries = ledger(...FULFILLED_LEDGER);
    expect(found(evidence([state], entries))).toEqual(['left']);
    const standing = { stands: 0, mayStand: 1, first: [{ step: 'mail', effect: 'may-stand' as const }] };
    const events = [ended('o', 'succeeded', { standing })];
    expect(found(evidence([state], entries, { events }))).toEqual([]);
  });

  it('may fail to tell, and tell all the same if its end says so', () => {
    const state = snapshot('o', order, 'compensated', { pay: 'compensated', tell: 'tolerated' });
    expect(found(evidence([state], ledger('charge o pay', 'refund of 1')))).toEqual([]);
    const told = ledger(...TAKEN_BACK_LEDGER);
    expect(found(evidence([state], told))).toEqual(['left']);
    const events = [ended('o', 'compensated', { onFailureFailed: [{ step: 'tell', mayStand: true }] })];
    expect(found(evidence([state], told, { events }))).toEqual([]);
  });
});

describe('an end', () => {
  it('is silent without its event, with one of another end, and with one that names nothing', () => {
    const silent = (...events: EndedEvent[]): string[] =>
      found(evidence([TAKEN_BACK], ledger(...TAKEN_BACK_LEDGER), { events }));
    expect(silent()).toEqual(['silent']);
    expect(silent({ ...ended('o', 'compensated'), endedAt: 8 })).toEqual(['silent']);
    expect(silent(ended('o', 'failed'))).toEqual(['silent']);
    expect(silent({ executionId: 'o', status: 'compensated', endedAt: 9 })).toEqual(['silent']);
  });

  it('is silent about what stands if it does not list it', () => {
    const state = snapshot('o', order, 'failed', { pay: 'done', ship: 'failed', tell: 'done' });
    const entries = ledger('charge o pay', TELL);
    expect(found(evidence([state], entries))).toEqual(['silent', 'too early']);
    const standing = { stands: 1, mayStand: 0, first: [{ step: 'pay', effect: 'stands' as const }] };
    const events = [ended('o', 'failed', { standing })];
    expect(found(evidence([state], entries, { events }))).toEqual(['too early']);
  });

  it('is wrong if its scene has another', () => {
    const planned = new Map([['o', { scene: 'mail declined', ends: ['succeeded'] as const }]]);
    expect(found(evidence([TAKEN_BACK], ledger(...TAKEN_BACK_LEDGER), { planned }))).toEqual(['wrong end']);
    expect(found(evidence([FULFILLED], ledger(...FULFILLED_LEDGER), { planned }))).toEqual([]);
  });
});

describe('what takes the place of another', () => {
  const fallback = snapshot('h', holiday, 'succeeded', { car: 'tolerated', taxi: 'done' });

  it('begins when the other is given back', () => {
    expect(found(evidence([fallback], ledger('shipment h taxi')))).toEqual([]);
    const late = ledger('reservation h car', 'release of 1', 'shipment h taxi');
    expect(found(evidence([fallback], late))).toEqual([]);
    const early = ledger('reservation h car', 'shipment h taxi', 'release of 1');
    expect(found(evidence([fallback], early))).toEqual(['too early']);
  });

  const region = (id: string, status: Execution['status']): Snapshot => {
    const its = status === 'succeeded' ? ('done' as const) : ('compensated' as const);
    const parent = { executionId: 'l', step: 'up', index: 0 };
    return snapshot(id, site, status, { network: its, cluster: its }, { parent });
  };
  const root = snapshot('l', launch, 'succeeded', { announce: 'done' });
  const children = { count: 1, started: 1, items: 1, tolerated: 0, ended: {}, try: 2 };
  const moved: Snapshot = { ...root, steps: { ...root.steps, up: record('up', 'done', { children }) } };
  const tries = [moved, region('l.up.0', 'compensated'), region('l.up.0-e1t2', 'succeeded')];
  const SOUTH = ['reservation l.up.0-e1t2 network', 'shipment l.up.0-e1t2 cluster', 'mail l announce'];

  it('of a region as well: nothing is left in the first', () => {
    const clean = ledger('reservation l.up.0 network', 'release of 1', ...SOUTH);
    expect(found(evidence(tries, clean))).toEqual([]);
    const left = ledger('reservation l.up.0 network', ...SOUTH);
    expect(found(evidence(tries, left))).toEqual(['too early', 'left']);
    const early = ledger('reservation l.up.0 network', SOUTH[0]!, 'release of 1', ...SOUTH.slice(1));
    expect(found(evidence(tries, early))).toEqual(['too early']);
  });
});

const TALLY: Tally = {
  kills: Object.fromEntries(FUNCTIONS.map((name) => [name, 20])) as Tally['kills'],
  freezes: 5,
  storeRestarts: 3,
  ambiguous: 10,
  throttled: 10,
};

describe('the report', () => {
  const run = (snapshots: readonly Snapshot[], lines: readonly string[], minutes = 1) =>
    reportFailure({
      minutes,
      seed: 1,
      seconds: 70,
      healSeconds: 3,
      table: { snapshots, plans },
      entries: ledger(...lines),
      keys: [{ key: 'order-1', executionIds: ['o'] }],
      clientProblems: [],
      tally: TALLY,
      strikes: [],
      claims: [],
      withoutSupervisor: [],
      deadLetters: [],
      events: snapshots.map(({ execution: { id, status } }) => ended(id, status)),
      machine: { processors: 2, load: 1, lateMs: 12 },
      planned: new Map([['order-1', { scene: 'order', ends: ['succeeded'] }]]),
      answered: {},
    });

  it('counts, and fails by any of it', () => {
    expect(run([FULFILLED], FULFILLED_LEDGER)).toMatchObject({
      failures: [],
      lines: [],
      summary: {
        executions: { order: { succeeded: 1 } },
        doubled: 0,
        lost: 0,
        left: 0,
        stuck: 0,
        silent: 0,
        findings: 0,
      },
    });
    expect(run([FULFILLED], [...FULFILLED_LEDGER, 'charge o pay']).failures).toEqual(['1 doubled']);
    expect(run([FULFILLED], FULFILLED_LEDGER.slice(1)).failures).toEqual(['1 lost']);
    expect(run([TAKEN_BACK], TAKEN_BACK_LEDGER).failures).toEqual(['1 findings']);
    const open = snapshot('o', order, 'running', { pay: 'done' }, { wakeAt: 5 });
    expect(run([open], ['charge o pay']).failures).toEqual(['1 stuck']);
    expect(run([snapshot('o', order, 'compensated', { pay: 'compensated' })], []).lines).toEqual([
      expect.stringMatching(/^untold +o: compensated, and nobody was told$/),
      expect.stringMatching(/^wrong end o: compensated \(order: succeeded\)$/),
    ]);
  });

  it('fails by what never came about, and by a workflow that no fault met', () => {
    const { summary } = run([FULFILLED], FULFILLED_LEDGER, 5);
    const none = Object.keys(summary.cameAbout).map(
      (name) => `${name}: it never came about, so it was not tested`,
    );
    const unmet = STRUCK.map((name) => `no attempt of ${name} was struck, so it was not tested`);
    expect(failuresOf(summary)).toEqual([...none, ...unmet]);
    const cameAbout = Object.fromEntries(
      Object.keys(summary.cameAbout).map((name) => [name, 1]),
    ) as never as Features;
    const struck = Object.fromEntries(STRUCK.map((name) => [name, 1]));
    expect(failuresOf({ ...summary, cameAbout, struck })).toEqual([]);
    expect(failuresOf({ ...summary, cameAbout, struck, totalKills: 99 })).toEqual([
      '99 kills, 100 are asked for',
    ]);
  });
});

describe('what came about', () => {
  it('is counted from records and ledger', () => {
    const children = { count: 1, started: 1, items: 1, tolerated: 0, ended: {}, try: 3 };
    const up = { up: record('up', 'done', { children }) };
    const snapshots = [
      {
        ...snapshot('o', order, 'succeeded', {}),
        steps: { mail: record('mail', 'tolerated', { mayHaveActed: true }) },
      },
      snapshot('h', holiday, 'succeeded', { car: 'tolerated', taxi: 'done' }),
      { ...snapshot('l', launch, 'succeeded', {}), steps: up },
      {
        ...snapshot('m', launch, 'failed', {}),
        steps: { ...up, tell: record('tell', 'tolerated', { mayHaveActed: true }) },
      },
      snapshot('r', rollout, 'succeeded', {}, { output: { failed: 3 } }),
      snapshot('s', rollout, 'compensated', { tell: 'done' }),
      snapshot('r.hosts.0.i0.0', { name: 'deploy-host' }, 'succeeded', {}),
    ];
    const releases = (['h/car', 'l/north'] as const).map((orderId, at) => ({
      ...ledger('release h car')[0]!,
      seq: at,
      orderId,
    }));
    const ones: Features = {
      declinedMails: 1,
      mailsThatMayStand: 1,
      fallbacks: 1,
      fallbacksAfterUndo: 1,
      moved: 1,
      movedAfterUndo: 1,
      movedInVain: 1,
      hostsTolerated: 3,
      hostsDeployed: 1,
      rolloutsUndone: 1,
      told: 1,
      tellingFailed: 1,
      newsThatMayStand: 1,
    };
    expect(featuresOf({ snapshots, plans }, releases)).toEqual(ones);
    const none = Object.fromEntries(Object.keys(ones).map((name) => [name, 0]));
    expect(featuresOf({ snapshots: [], plans }, [])).toEqual(none);
  });
});

describe('the plan', () => {
  it('is the same for the same seed, another for another, and has every scene in any 14 starts', () => {
    expect(plannedFailure(4, 17)).toEqual(plannedFailure(4, 17));
    for (const seed of [1, 2, 3]) {
      const starts = Array.from({ length: 48 }, (_, index) => plannedFailure(seed, index));
      const scenes = new Set(starts.map(({ scene }) => scene.replace(', canceled', '')));
      expect([seed, scenes.size]).toEqual([seed, 13 + 2]);
      expect(new Set(starts.map(({ key }) => key)).size).toBe(48);
    }
  });

  it('lets 5 % of 200 hosts fail, and one more than that of the others', () => {
    const badOf = (index: number): number =>
      plannedFailure(5, index).rules.filter(({ mode }) => mode === 'decline').length;
    expect(badOf(0)).toBeGreaterThan(0);
    expect(badOf(0)).toBeLessThanOrEqual(200 * TOLERATED_SHARE);
    expect(plannedFailure(5, 0).ends).toEqual(['succeeded']);
    expect(badOf(12)).toBeGreaterThan(40 * TOLERATED_SHARE);
    expect(plannedFailure(5, 12).ends).not.toContain('succeeded');
  });

  it('keeps the outside world to what was declared of it', () => {
    const starts = Array.from({ length: 200 }, (_, index) => plannedFailure(6, index));
    const late = starts.flatMap(({ rules }) =>
      rules.filter(({ mode, ms = 0 }) => mode === 'slow' && ms >= 1_000),
    );
    expect(late).toEqual([]);
  });
});
