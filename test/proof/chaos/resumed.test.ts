/** The judge of a killed server reads the message that a start prints. */

import { resumedText } from '../../../cli/serve/run.ts';
import { resumedIn } from '../../../proof/chaos/serve/run.ts';

it.each([
  [0, 0],
  [12, 1],
  [1_234, 56_789],
])('%i executions and %i attempts', (executions, attempts) => {
  expect(resumedIn(resumedText(executions, attempts))).toEqual({ executions, attempts });
});

it('says nothing of another line', () => {
  expect(resumedIn('State: serve.db')).toBe(undefined);
});
