/**
 * A step's timeline: queue, work, backoff, waiting, pauses and questions as separate stretches, only for
 * known times.
 */

import type { AttemptView, ExecutionView, StepView } from '../../lib/api/answers.ts';
import { rowsOf, timesText } from '../../lib/view/timeline.ts';

const T = 1_700_000_000_000;
const S = 1_000;
const HOUR = 3_600_000;

const attempt = (
  claimedAt: number,
  endedAt: number,
  outcome: AttemptView['outcome'],
  changes: Partial<AttemptView> = {},
): AttemptView => ({
  number: 1,
  mode: 'execute',
  claimedAt: T + claimedAt,
  endedAt: T + endedAt,
  outcome,
  ...changes,
});

const stepOf = (changes: Partial<StepView>): StepView => ({
  name: 'pay',
  kind: 'agent',
  after: [],
  status: 'ready',
  attempts: [],
  ...changes,
});

/** The stretches as text, such as 'queue 2 s', in the order of time; the future part in brackets. */
function said(step: Partial<StepView>, now: number, view: Partial<ExecutionView> = {}): readonly string[] {
  const whole = { startedAt: T, incidents: [], steps: [stepOf(step)], ...view } as unknown as ExecutionView;
  const [row] = rowsOf(whole, T + now);
  return (row?.stretches ?? []).map(({ kind, from, to, ahead }) => {
    const text = `${kind} ${(to - from) / S} s`;
    return ahead === true ? `(${text})` : text;
  });
}

const incident = (openedAt: number, closedAt?: number): object => ({
  number: 1,
  step: 'pay',
  openedAt: T + openedAt,
  ...(closedAt === undefined ? {} : { closedAt: T + closedAt }),
});
const asking = (...all: object[]): Partial<ExecutionView> => ({ incidents: all as never });
const pausing = (at: number, endedAt?: number): Partial<ExecutionView> => ({
  pauses: [
    {
      number: 1,
      at: T + at,
      reason: 'r',
      withinMs: 1,
      deadlineAt: T + at + 1,
      ...(endedAt === undefined ? {} : { endedAt: T + endedAt }),
    },
  ],
});

const failed = attempt(2 * S, 3 * S, 'failed');

type Case = [string, Partial<StepView>, number, readonly string[], Partial<ExecutionView>?];

it.each<Case>([
  [
    'queue and work',
    { status: 'done', attempts: [attempt(2 * S, 5 * S, 'done')] },
    HOUR,
    ['queue 2 s', 'run 3 s'],
  ],
  [
    'a backoff until it was taken',
    { status: 'done', attempts: [failed, attempt(9 * S, 10 * S, 'done', { number: 2 })] },
    HOUR,
    ['queue 2 s', 'run 1 s', 'backoff 6 s', 'run 1 s'],
  ],
  [
    'a question, which is no backoff',
    { status: 'done', attempts: [failed, attempt(HOUR + 4 * S, HOUR + 5 * S, 'done', { number: 2 })] },
    2 * HOUR,
    ['queue 2 s', 'run 1 s', 'asked 3600 s', 'backoff 1 s', 'run 1 s'],
    asking(incident(3 * S, HOUR + 3 * S)),
  ],
  [
    'a question that is open',
    { status: 'waiting', attempts: [failed] },
    10 * S,
    ['queue 2 s', 'run 1 s', 'asked 7 s'],
    asking(incident(3 * S)),
  ],
  ['a pause before it begins', {}, 10 * S, ['queue 1 s', 'paused 4 s', 'queue 5 s'], pausing(S, 5 * S)],
  ['a pause under way', {}, 10 * S, ['queue 1 s', 'paused 9 s'], pausing(S)],
  [
    'a pause in which a person is asked',
    { status: 'waiting', attempts: [failed] },
    20 * S,
    ['queue 2 s', 'run 1 s', 'asked 17 s'],
    { ...asking(incident(3 * S)), ...pausing(5 * S) },
  ],
  [
    'a backoff under way',
    { status: 'retrying', retryAt: T + 12 * S, attempts: [failed] },
    10 * S,
    ['queue 2 s', 'run 1 s', 'backoff 7 s', '(backoff 2 s)'],
  ],
  [
    'a backoff that is over, and the queue since',
    { status: 'retrying', retryAt: T + 6 * S, attempts: [failed] },
    10 * S,
    ['queue 2 s', 'run 1 s', 'backoff 3 s', 'queue 4 s'],
  ],
  [
    'a step that failed and was tried again by hand',
    { status: 'ready', attempts: [failed] },
    HOUR + 9 * S,
    ['queue 2 s', 'run 1 s', 'wait 3600 s', 'queue 6 s'],
    { retries: [{ at: T + HOUR + 3 * S, reason: 'r' }] },
  ],
  [
    'an outcome that is unknown, until it is looked for',
    { status: 'unknown', retryAt: T + 5 * S, attempts: [attempt(S, 5 * S, 'unknown')] },
    9 * S,
    ['queue 1 s', 'lost 4 s', 'queue 4 s'],
  ],
  [
    'an outcome that was unknown, until it was looked for',
    {
      status: 'done',
      attempts: [attempt(S, 5 * S, 'unknown'), attempt(65 * S, 66 * S, 'done', { mode: 'probe' })],
    },
    HOUR,
    ['queue 1 s', 'lost 4 s', 'wait 60 s', 'probe 1 s'],
  ],
  [
    'an agent that is not deployed',
    {
      status: 'retrying',
      retryAt: T + 60 * S,
      deferred: { mode: 'execute', why: 'not-deployed', at: T + 30 * S, since: T + 2 * S },
    },
    40 * S,
    ['queue 2 s', 'backoff 38 s'],
  ],
  ['no queue where its attempts are left out', { omitted: ['attempts'] }, HOUR, []],
  [
    'no queue before the earliest attempt that is kept',
    { status: 'done', attempts: [attempt(HOUR, HOUR + S, 'done', { number: 7 })] },
    2 * HOUR,
    ['run 1 s'],
  ],
  [
    'no backoff where attempts are left out',
    {
      status: 'failed',
      attemptsLeftOut: { count: 12 },
      attempts: [1, 2, 3, 4, 5, 18, 19].map((number) =>
        attempt(number * 10 * S, (number * 10 + 9) * S, 'failed', { number }),
      ),
    },
    HOUR,
    [
      'queue 10 s',
      ...[1, 2, 3, 4].flatMap(() => ['run 9 s', 'backoff 1 s']),
      'run 9 s',
      'left-out 121 s',
      'run 9 s',
      'backoff 1 s',
      'run 9 s',
    ],
  ],
  [
    'an attempt under way, and its lease',
    { status: 'running', claimedAt: T + S, leaseUntil: T + 30 * S },
    10 * S,
    ['queue 1 s', 'run 9 s', '(lease 20 s)'],
  ],
  [
    'an undo that waits for its turn',
    { status: 'compensating', attempts: [attempt(S, 2 * S, 'done')] },
    10 * S,
    ['queue 1 s', 'run 1 s', 'wait 4 s'],
    { cause: { kind: 'cancel', at: T + 6 * S, failure: { code: 'c', message: 'm' } } },
  ],
])('shows %s', (...[, step, now, wanted, view]: Case) => {
  expect(said(step, now, view)).toEqual(wanted);
});

it('adds up what is past, by step, in columns that some step needs', () => {
  const step = { status: 'retrying', retryAt: T + 12 * S, attempts: [failed] } as const;
  const view = {
    startedAt: T,
    incidents: [],
    steps: [stepOf(step), stepOf({ name: 'later', status: 'pending' })],
  };
  expect(timesText(rowsOf(view as unknown as ExecutionView, T + 10 * S))).toBe(
    ['STEP  QUEUED  RAN  BACKOFF', 'pay   2 s     1 s  7 s', ''].join('\n'),
  );
  expect(timesText([])).toBe('');
});
