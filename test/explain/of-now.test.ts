/**
 * An explanation states only facts that are known to be current, and says how much of the past it leaves out.
 */

import type { Attempt, NotBefore, Step } from '../../lib/core/records/state.ts';
import type { OpenNow } from '../../lib/explain/deferred.ts';
import { planOf, recordOf } from '../core/one-step.ts';
import { agentStepOf } from '../core/small-steps.ts';
import { NOW } from '../core/states.ts';
import { explained, linesOf } from '../core/words.ts';

const record = (name: string, status: Step['status'], more: Partial<Step> = {}): Step =>
  recordOf(name, status, { attempt: 2, ...more });
const deferred = (why: NotBefore['why'], more: Partial<NotBefore> = {}): Partial<Step> => ({
  retryAt: NOW + 9,
  deferred: { mode: 'execute', why, at: NOW - 9, ...more },
});

it('says why steps are held back, by what their breakers are now', () => {
  const records = [
    record('never', 'retrying', { ...deferred('breaker', { since: NOW - 5 }), attempt: 0 }),
    record('paused', 'retrying', { ...deferred('paused'), attempt: 1 }),
  ];
  const open = { why: 'breaker' as const, since: NOW - 5, at: NOW + 9 };
  const lines = (now: OpenNow | 'closed'): string[] =>
    explained(
      records,
      {},
      {
        plan: planOf(...records.map(({ name }) => agentStepOf(name))),
        breakers: new Map([['worker', now]]),
      },
    ).steps.map(
      ({ status, because }) => `${status}: ${because.replaceAll(/\d{4}-\d\d-\d\d [\d:]+Z/g, '<at>')}`,
    );
  expect(lines(open)[0]).toBe(
    "ready: not tried yet: the breaker of agent 'worker' has been open since <at>: it is not called until that closes, and no attempt is charged",
  );
  expect(lines({ ...open, began: { at: NOW - 6_000, startedAt: NOW - 36_000 } })[0]).toContain(
    'open since <at> (its service has been failing since <at>, 30 s after the start of <at>): it is',
  );
  expect(lines('closed')).toEqual([
    "ready: not tried yet: the breaker of agent 'worker' was open at <at>, and has closed since",
    "retrying: agent 'worker' was paused at <at>, and is not paused any more",
  ]);
});

it('says how many attempts its history leaves out', () => {
  const attempt = (number: number): Attempt => ({
    number,
    mode: 'execute',
    outcome: 'failed',
    claimedAt: NOW - 99 + number,
    endedAt: NOW - 98 + number,
  });
  const of = (numbers: readonly number[], more: Partial<Step>): string =>
    linesOf(
      explained(
        [record('it', 'retrying', { attempts: numbers.map(attempt), ...more })],
        { startedAt: NOW - 60_000 },
        { plan: planOf(agentStepOf('it')) },
      ),
    )
      .split('\n')
      .filter((line) => line.includes('left out'))
      .join();
  const from = (first: number, count: number) => Array.from({ length: count }, (_, at) => first + at);
  expect(of([...from(1, 5), ...from(18, 15)], { leftOut: 12, attempt: 32 })).toBe(
    '-93 it: 12 attempts are left out here: the first ones and the latest are kept',
  );
  expect(of(from(1, 20), { attempt: 20 })).toBe('');
});
