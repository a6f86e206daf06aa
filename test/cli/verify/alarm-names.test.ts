/** Which alarm a check means, where the name of one begins as that of another. */

import { alarmIn } from '../../../cli/verify/alarm-names.ts';

const OPENED = 'SteadfastMonitoringAlarmsIncidentOpened9CD1CB77';
const OPEN = 'SteadfastMonitoringAlarmsIncidentOpenACA3119A';

it.each([[''], ['-AbCdEfGhIj12']])('the one of just that construct is meant, with %j behind it', (end) => {
  const names = [`${OPENED}${end}`, `${OPEN}${end}`];
  expect(alarmIn(names, 'IncidentOpen')).toBe(names[1]);
  expect(alarmIn(names, 'IncidentOpened')).toBe(names[0]);
});

it('else one that has the text in its name', () => {
  expect(alarmIn(['Stack-CanaryLate-1'], 'CanaryLate')).toBe('Stack-CanaryLate-1');
  expect(alarmIn([OPEN], 'CanaryLate')).toBeUndefined();
});
