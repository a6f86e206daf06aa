/** The pause that a service asks for, before the next try, the next probe and the next undo. */

import {
  accepted,
  agent,
  cannotTell,
  done,
  PermanentError,
  retry,
  TransientError,
  workflow,
} from 'steadfast';
import { testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';
import type { Implementation } from '../../lib/core/plan/agent.ts';
import { marked } from '../../lib/core/values/errors.ts';

const any = z.object({});
const MINUTE_MS = 60_000;

interface Way {
  readonly effect?: 'idempotent' | 'probed';
  readonly acceptedWithin?: '30d';
  /** The time of the step. */
  readonly within?: '5m';
  readonly work: Partial<Implementation<object, object>>;
  readonly isUndone?: true;
}

/** Plays one step. @returns its end, and the minutes between the calls of one kind */
async function played({ effect = 'probed', acceptedWithin, within, work, isUndone }: Way) {
  const timed = acceptedWithin === undefined ? {} : { acceptedWithin };
  const call = agent('call', { input: any, output: any, effect, ...timed });
  const last = agent('last', { input: any, output: any, effect: 'none' });
  const flow = workflow('flow', { input: any, within: '60d' }, (w) => {
    const often = { recovery: [retry(3, { delay: '1s' })], retryUndo: retry(3, { delay: '1s' }) } as const;
    const called = w.step('call', call, {}, { ...often, ...(within === undefined ? {} : { within }) });
    w.step('last', last, {}, { after: [called] });
  });
  const probe = effect === 'probed' ? { probe: async () => done({}) } : {};
  const handlers = [
    call.handler({ execute: async () => ({}), undo: async () => undefined, ...probe, ...work } as never),
    last.handler({ execute: async () => ({}) }),
  ];
  const trial = testWorkflow(flow, { agents: handlers });
  if (isUndone === true) trial.fail(last, { with: new PermanentError('no') });
  const { status } = await (await trial.start({})).waitForEnd();
  const pauses = (on: string): number[] => {
    const times = trial.calls(call).flatMap((one) => (one.on === on ? [one.at] : []));
    return times.slice(1).map((at, before) => Math.floor((at - (times[before] ?? 0)) / MINUTE_MS));
  };
  const [first, ...others] = trial.calls(call);
  const firstProbe = others.find(({ on }) => on === 'probe');
  const untilProbe = Math.floor(((firstProbe?.at ?? 0) - (first?.at ?? 0)) / MINUTE_MS);
  return { status, pauses, untilProbe };
}

/** Answers three times in one way, and then in another. */
const thrice = (first: () => unknown, then: () => unknown = () => ({})) => {
  let calls = 0;
  return async (): Promise<never> => ((calls += 1) <= 3 ? first() : then()) as never;
};
const lost = (retryAfter: number, mark?: 'unknown') => (): never => {
  throw marked(Object.assign(new Error('504'), { retryAfter }), mark);
};

describe('the pause that a service asks for', () => {
  it('comes before the next probe that could not tell, up to an hour', async () => {
    for (const [askAfter, pause] of [
      [1_800, 30],
      ['3h', 60],
    ] as const) {
      const execute = thrice(lost(0));
      const probe = thrice(
        () => cannotTell('429', { askAfter }),
        () => done({}),
      );
      const { status, pauses } = await played({ work: { execute, probe } });
      expect([status, pauses('probe')]).toEqual(['succeeded', [pause, pause, pause]]);
    }
  });

  it('comes before the next probe of accepted work, too', async () => {
    const execute = async () => accepted({ token: 'j-1', askAfter: '5s' });
    const probe = thrice(
      () => cannotTell('503', { askAfter: '50m' }),
      () => done({}),
    );
    const { status, pauses } = await played({ acceptedWithin: '30d', work: { execute, probe } });
    expect([status, pauses('probe')]).toEqual(['succeeded', [50, 50, 50]]);
  });

  it('comes before the next undo', async () => {
    const later = (): never => {
      throw new TransientError('429', { retryAfter: '20m' });
    };
    for (const asked of [later, lost(1_200, 'unknown')]) {
      const { status, pauses } = await played({ isUndone: true, work: { undo: thrice(asked) } });
      expect([status, pauses('undo')]).toEqual(['compensated', [20, 20, 20]]);
    }
  });

  it('comes before the next try, or the first probe, of an unknown outcome', async () => {
    const execute = () => thrice(lost(600, 'unknown'));
    const again = await played({ effect: 'idempotent', work: { execute: execute() } });
    expect([again.status, again.pauses('execute')]).toEqual(['succeeded', [10, 10, 10]]);
    const probed = await played({ work: { execute: execute() } });
    expect([probed.status, probed.untilProbe]).toEqual(['succeeded', 10]);
  });

  it('is ignored where no time is left after it, or where it may mean something else', async () => {
    const late = {
      effect: 'idempotent',
      within: '5m',
      work: { execute: thrice(lost(600, 'unknown')) },
    } as const;
    const tooLate = await played(late);
    expect([tooLate.status, tooLate.pauses('execute')]).toEqual(['succeeded', [0, 0, 0]]);
    const other = await played({ effect: 'idempotent', work: { execute: thrice(lost(5_000)) } });
    expect([other.status, other.pauses('execute')]).toEqual(['succeeded', [0, 0, 0]]);
  });
});
