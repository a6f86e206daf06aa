/**
 * Difficult workflows published by other engines, each run with faults to its end. Read at
 * temporalio/samples-go 27ab4ba8, temporalio/subscription-workflow-project-template-go 02448ba7,
 * restatedev/examples 0553503a, Azure/azure-functions-durable-extension 082a9aa9.
 */

import { PermanentError } from 'steadfast';
import type { WorkflowTest } from 'steadfast/testing';
import { catchUp } from '../../examples/from-others/catch-up.ts';
import { delayed } from '../../examples/from-others/delayed.ts';
import { expense } from '../../examples/from-others/expense.ts';
import { fanOut } from '../../examples/from-others/fan-out.ts';
import { lock } from '../../examples/from-others/lock.ts';
import { monitor } from '../../examples/from-others/monitor.ts';
import { trip } from '../../examples/from-others/trip.ts';
import { window } from '../../examples/from-others/window.ts';
import { read } from '../snippets/blocks.ts';
import { WITH_MESSAGES } from './message-ways.ts';
import { MINUTE, now, playWays, START, timed, type Way } from './ways.ts';

const id = (): object => ({ id: 'i-1' });
const declined = { times: Infinity, with: new PermanentError('declined') };

const EXPENSE = {
  from: 'Temporal, samples-go/expense',
  file: 'expense',
  workflow: expense,
  input: { expenseId: 'e', amount: 100 },
  answers: { 'pay-expense': () => ({ paymentId: 'p-1' }) },
};
const TRIP = {
  from: 'Restate, sagas',
  file: 'trip',
  workflow: trip,
  input: { tripId: 't', price: 900 },
  answers: { 'book-flight': id, 'book-car': id, 'pay-trip': id },
};
const agree = async (trial: WorkflowTest<unknown>, input: unknown) => {
  const run = await trial.start(input);
  await run.waitForQuestion('agree');
  await run.approve('agree', { by: 'Ada' });
  return run;
};

const WAYS: readonly Way[] = [
  {
    from: 'Temporal, samples-go/mutex',
    file: 'lock',
    way: 'two, and the first one is killed inside',
    workflow: lock,
    input: { resourceId: 'r' },
    play: async (trial, input) => {
      trial.kill('leave', { when: 'before' });
      await trial.start(input);
      return await trial.start(input);
    },
    ends: 'succeeded',
    deeds: 'prepare prepare enter leave enter leave',
    inOrder: true,
  },
  {
    from: 'Temporal, samples-go/batch-sliding-window',
    file: 'window',
    way: 'nine records, and two die',
    workflow: window,
    input: { batch: 'b' },
    answers: { 'load-records': () => ({ records: [1, 2, 3, 4, 5, 6, 7, 8, 9] }) },
    play: async (trial, input) => {
      trial.kill('process-record', { when: 'before' });
      trial.kill('process-record', { when: 'after' });
      return await trial.start(input);
    },
    ends: 'succeeded',
    deeds: Array.from({ length: 9 }, () => 'process-record').join(' '),
  },
  {
    from: 'Temporal, samples-go/timer',
    file: 'delayed',
    way: 'in time',
    workflow: delayed,
    input: { orderId: 'o' },
    answers: { 'processing-status': () => ({ isDone: now() > START + 5 * MINUTE }) },
    play: timed((trial, input) => trial.start(input)),
    ends: 'succeeded',
    deeds: 'begin-processing',
  },
  {
    from: 'Temporal, samples-go/timer',
    file: 'delayed',
    way: 'too late, and the mail has no answer',
    workflow: delayed,
    input: { orderId: 'o' },
    answers: { 'processing-status': () => ({ isDone: now() > START + 20 * MINUTE }) },
    play: timed(async (trial, input) => {
      trial.loseReply('mail-delay');
      return await trial.start(input);
    }),
    ends: 'succeeded',
    deeds: 'begin-processing mail-delay',
  },
  {
    from: 'Durable Functions, Monitor',
    file: 'monitor',
    way: 'clear after its time was moved',
    workflow: monitor,
    input: { location: 'l', endsAt: START + 60 * MINUTE },
    answers: {
      'check-weather': ({ endsAt }: { endsAt: number }) => ({
        isClear: now() > START + 200 * MINUTE,
        at: now(),
        endsAt: now() < START + 40 * MINUTE ? START + 300 * MINUTE : endsAt,
      }),
    },
    play: timed(async (trial, input) => {
      trial.fail('check-weather', { times: 1, with: new Error('500') });
      return await trial.start(input);
    }),
    ends: 'succeeded',
    deeds: 'send-alert',
  },
  {
    ...EXPENSE,
    way: 'the manager is silent, the director agrees, the bank does not answer',
    play: async (trial, input) => {
      trial.loseReply('pay-expense');
      const run = await trial.start(input);
      await run.waitForQuestion('director');
      await run.approve('director', { by: 'Eve' });
      await run.waitForIncident();
      await run.resolve({ choice: 'give-output', output: { paymentId: 'seen' } });
      return run;
    },
    ends: 'succeeded',
    deeds: 'pay-expense',
    mayEndOtherwise: 'the incident of another fault',
  },
  {
    ...EXPENSE,
    way: 'the manager says no',
    play: async (trial, input) => {
      const run = await trial.start(input);
      await run.waitForQuestion('manager');
      await run.reject('manager', { by: 'Bob', reason: 'no' });
      return run;
    },
    ends: 'succeeded',
    deeds: '',
  },
  {
    from: 'Restate, parallelizework',
    file: 'fan-out',
    way: 'one of four is poisoned',
    workflow: fanOut,
    input: { task: 't' },
    answers: {
      split: () => ({ subtasks: ['a', 'b', 'c', 'd'] }),
      'perform-subtask': ({ subtask }: { subtask: string }) => {
        if (subtask === 'c') throw new PermanentError('poisoned');
        return { result: subtask };
      },
      aggregate: ({ results }: { results: readonly unknown[] }) => ({ result: `${results.length}` }),
    },
    ends: 'succeeded',
    deeds: 'aggregate perform-subtask perform-subtask perform-subtask tell-failed',
  },
  {
    ...TRIP,
    way: 'the payment is declined, and the car can be canceled by nobody but a person',
    play: async (trial, input) => {
      trial.fail('pay-trip', declined);
      trial.fail('book-car', { ...declined, on: 'undo' });
      const run = await agree(trial, input);
      await run.waitForIncident();
      await trial.skip('1m'); // until no attempt can act any more
      await run.resolve({ choice: 'skip' });
      return run;
    },
    ends: 'compensated',
    deeds: 'book-car book-flight!',
    mayEndOtherwise: 'the incident of another fault',
  },
  {
    ...TRIP,
    way: 'nobody agrees in time',
    ends: 'compensated',
    deeds: 'book-car! book-flight!',
  },
  {
    from: 'Temporal, samples-go/schedule',
    file: 'catch-up',
    way: 'three missed nights, killed in the second, and the next night begins meanwhile',
    workflow: catchUp,
    input: { ledger: 'books', time: '2026-01-04T01:00:00Z' },
    answers: {
      'first-open-day': ({ time }: { time: string }) => ({
        day: time.startsWith('2026-01-04') ? 1 : 5,
        last: time.startsWith('2026-01-04') ? 4 : 5,
      }),
      'close-day': ({ day }: { day: number }) => ({ next: day + 1 }),
    },
    play: async (trial, input) => {
      trial.kill('close-day', { when: 'after' });
      await trial.start(input);
      return await trial.start({ ledger: 'books', time: '2026-01-05T01:00:00Z' });
    },
    ends: 'succeeded',
    deeds: 'close-day close-day close-day close-day close-day',
  },
  ...WITH_MESSAGES,
];

playWays(WAYS);

test('the README names them all', () => {
  const rows = read('examples/from-others/README.md').matchAll(
    /^\| \[`([\w-]+)`\]\(([\w-]+)\.ts\) \| ([^|]+) \|/gm,
  );
  const listed = [...rows].map(([, name, file, from = '']) => [name, file, from.trim()]);
  expect(listed).toEqual([...new Map(WAYS.map(({ file, from }) => [file, [file, file, from]])).values()]);
});
