/** Recording a person who acts in a child execution in its parents too (S19). */

import { decide } from '../../../lib/core/decide.ts';
import type { People } from '../../../lib/core/records/people.ts';
import type { ExecutionStatus } from '../../../lib/core/moves.ts';
import { anExecution } from '../../contract/records.ts';
import { planOf } from '../one-step.ts';

const acted = { person: 'local:bob', deed: 'retried' } as const;
const inputs = { writeId: 'w-2', now: 5, random: 0 };

const entered = (people: People | undefined, status: ExecutionStatus = 'running') => {
  const execution = anExecution({ status, ...(people === undefined ? {} : { people }) });
  return decide(planOf(), { execution, steps: {} }, { type: 'enter', acted, ...inputs });
};

it.each(['running', 'waiting', 'paused', 'compensating'] as const)(
  'is one write of an execution that is %s: nothing else of it changes',
  (status) => {
    const before = anExecution({ status, people: { 'local:ann': 'started' } });
    const { write, sends, next } = entered({ 'local:ann': 'started' }, status);
    expect(write).toStrictEqual({
      executionId: before.id,
      execution: {
        ...before,
        version: 2,
        writeId: 'w-2',
        people: { 'local:ann': 'started', 'local:bob': 'retried' },
      },
    });
    expect([sends, next]).toEqual([[], { kind: 'idle' }]);
  },
);

it.each<[string, People | undefined, ExecutionStatus]>([
  ['whose people are not kept', undefined, 'running'],
  ['that has the entry', { 'local:bob': 'started' }, 'running'],
  ['that has ended', {}, 'succeeded'],
])('is nothing in an execution %s', (_, people, status) => {
  expect(entered(people, status).write).toBeUndefined();
});
