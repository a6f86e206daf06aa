/** After a restart, `steadfast dev` lists the injected faults and disabled schedules that were lost. */

import { lostText, type SetByHand, setByHand } from '../../cli/dev/set-by-hand.ts';

test('a restart names the faults and disabled schedules that it has forgotten, but not schedules that the template disables', () => {
  const schedule = { expression: 'rate(1 minute)', logicalId: 'A', ticks: 0, lastTickAt: undefined };
  const fault = { id: '1', action: 'kill', moment: 'now', hits: [] } as const;
  const stateOf = (faults: readonly ('armed' | 'over')[], off: readonly string[]): SetByHand =>
    setByHand({
      cloud: {
        control: {
          faults: () => faults.map((state) => ({ ...fault, functionName: 'pay', state })),
          schedules: () =>
            ['tick', 'nightly'].map((name) => ({ ...schedule, name, enabled: !off.includes(name) })),
        },
      },
    });
  const after = stateOf([], ['nightly']);
  expect(lostText(stateOf(['armed', 'over'], ['tick', 'nightly']), after)).toBe(
    'Faults that were set by hand are gone: kill pay.\nSchedules that were switched off by hand run again: tick.\n',
  );
  expect(lostText(stateOf(['over'], ['nightly']), after)).toBe('');
});
