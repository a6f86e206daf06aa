/** The texts about a waiting step and about the consequences of its failure. */

import { recoveryText } from '../../lib/view/waiting-steps.ts';

it('says what follows a failure, stage by stage', () => {
  const recovery = [
    { kind: 'retry', attempts: 4 },
    { kind: 'withInput', attempts: 1 },
    { kind: 'useAgent', agent: 'charge-by-bank', attempts: 2 },
    { kind: 'askPerson', withinMs: 86_400_000, otherwise: 'undo' },
  ] as const;
  const step = { name: 'charge', kind: 'agent', after: [] } as const;
  expect(recoveryText({ ...step, recovery })).toBe(
    'again 4 times, then with other input once, then by charge-by-bank 2 times, then a person is asked for 1 d, otherwise undo',
  );
  expect(recoveryText(step)).toBeUndefined();
});
