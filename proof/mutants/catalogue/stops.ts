/** Bugs of the one stop of a step's executions, and of the end to which they are stopped. */

import { jest, type Mutant } from '../mutant.ts';

export const STOPS: readonly Mutant[] = [
  {
    id: 'another-end-goes-on',
    rule: 'executions that were stopped to another end are stopped anew',
    bug: 'What was stopped because its time was over is not recalled by a stop of all.',
    file: 'lib/core/waiting/child-stop.ts',
    find: 'children?.stop?.goal === goal ? children.stop.below : 0',
    replace: '(children?.stop?.below ?? 0)',
    killer: jest('core/waiting/child-ended', 'all again to another end'),
  },
  {
    id: 'time-over-recalls',
    rule: 'what has succeeded before the time of its step was over is left to what follows',
    bug: 'When the time of a step is over, what of it has succeeded is undone at once.',
    file: 'lib/core/execution/child-rules.ts',
    find: "return stopping(step, family, 'stop', state, event);",
    replace: "return stopping(step, family, 'recall', state, event);",
    killer: jest('core/execution/child-rules', 'are stopped once that is recorded'),
  },
];
