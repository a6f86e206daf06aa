/** Mutants of stopping a step's child executions, of their end then, and of their retry. */

import { jest, type Mutant } from '../mutant.ts';

export const STOPS: readonly Mutant[] = [
  {
    id: 'another-end-goes-on',
    rule: 'executions that were stopped to another end are stopped anew',
    bug: 'What was stopped because its time was over is not recalled by a stop of all.',
    file: 'lib/core/waiting/child-tries.ts',
    find: 'children?.stop?.goal === goal ? children.stop.below : 0',
    replace: '(children?.stop?.below ?? 0)',
    killer: jest('core/waiting/child-ended', 'all again to another end'),
  },
  {
    id: 'time-over-recalls',
    rule: 'what has succeeded before the time of its step was over is left to what follows',
    bug: 'When the time of a step is over, what of it has succeeded is undone at once.',
    file: 'lib/core/execution/child-rules.ts',
    find: "return stopping(step, planned, 'stop', state, event);",
    replace: "return stopping(step, planned, 'recall', state, event);",
    killer: jest('core/execution/child-rules', 'are stopped once that is recorded'),
  },
  {
    id: 'earlier-restarts-forgotten',
    rule: 'an end that was followed by a retry counts no more, whatever was retried since',
    bug: 'A second retry forgets which ends the first one was for.',
    file: 'lib/core/waiting/child-retry.ts',
    find: 'restartedAfter: { ...children.restartedAfter, ...Object.fromEntries(versions) }',
    replace: 'restartedAfter: Object.fromEntries(versions)',
    killer: jest('core/execution/after-retry', 'keeps which ends of its earlier tries count no more'),
  },
  {
    id: 'restarts-by-index-alone',
    rule: 'the end of a try is that of no other try',
    bug: 'The end of a try that is tried again is kept as that of the first.',
    file: 'lib/core/waiting/child-retry.ts',
    find: '[tryOf(children) + Number(index), version]',
    replace: '[1 + Number(index), version]',
    killer: jest('core/execution/after-retry', 'keeps which ends of its earlier tries count no more'),
  },
  {
    id: 'old-end-of-a-round',
    rule: 'news of a round counts if it is later than the end after which that round went on',
    bug: 'Of a round that is undone, the version of the first try’s end is asked for.',
    file: 'lib/core/waiting/child-retry.ts',
    find: 'children?.restartedAfter?.[tryOf(children) + index];',
    replace: 'children?.restartedAfter?.[(children.try ?? 1) + index];',
    killer: jest(
      'core/waiting/child-ended',
      'of a round counts while the round is undone, if it is later than the end from which it went on',
    ),
  },
  {
    id: 'restarted-for-nothing',
    rule: 'an execution that failed goes on where its parent is tried again',
    bug: 'An execution that is to go on is not told after which end.',
    file: 'lib/core/waiting/child.ts',
    find: 'restartedAfter: restartedAfter(record?.children, index),',
    replace: '',
    killer: jest('core/waiting/child', 'goes on, if it failed before, where its parent heard of that'),
  },
];
