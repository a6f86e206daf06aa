/** The audit of the failure workflows finds every mistake planted in a correct ledger, record or event. */

import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Execution } from '../../../lib/core/records/state.ts';
import type { EndedEvent } from '../../../proof/chaos/ended-events.ts';
import { holiday, launch, order, site } from '../../../proof/chaos/failure/workflow.ts';
import {
  ended,
  evidence,
  found,
  FULFILLED,
  FULFILLED_LEDGER,
  ledger,
  record,
  snapshot,
  TAKEN_BACK,
  TAKEN_BACK_LEDGER,
  TELL,
} from './failure-evidence.ts';

describe('an order', () => {
  it('is clean if it is fulfilled, if its mail was declined, and if it is undone and announced', () => {
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

describe('what a child has done', () => {
  const child = snapshot(
    'l.up.0',
    site,
    'succeeded',
    { network: 'done' },
    {
      parent: { executionId: 'l', step: 'up', index: 0 },
    },
  );
  const told = 'mail l on-failure-1.tell';
  const kept = ledger('reservation l.up.0 network', told);

  it('is left, if its parent says that all is undone', () => {
    const states = [snapshot('l', launch, 'compensated', { tell: 'done' }), child];
    expect(found(evidence(states, kept))).toEqual(['left', 'too early']);
    const undone = [
      states[0]!,
      { ...child, execution: { ...child.execution, status: 'compensated' as const } },
    ];
    const given = { ...undone[1]!, steps: { network: record('network', 'compensated') } };
    const back = ledger('reservation l.up.0 network', 'release of 1', told);
    expect(found(evidence([undone[0]!, given], back))).toEqual([]);
  });

  it('is named at the end of a parent that failed', () => {
    const states = [snapshot('l', launch, 'failed', { tell: 'done' }), child];
    expect(found(evidence(states, kept))).toEqual(['silent', 'too early']);
    const one = { step: 'up', effect: 'stands' as const, executionId: 'l.up.0' };
    const standing = { stands: 1, mayStand: 0, first: [one] };
    const events = [ended('l', 'failed', { standing }), ended('l.up.0', 'succeeded')];
    expect(found(evidence(states, kept, { events }))).toEqual(['too early']);
  });
});
