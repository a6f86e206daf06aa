/**
 * Checks that raise an alarm: by silence, which no figure shows, and by hand.
 */

import { alarmIn } from '../alarm-names.ts';
import { during, game, mappingOf, tickOf } from '../breaking.ts';
import { type Entry, type Finding, finding } from '../check.ts';
import type { Fault, Ports } from '../ports.ts';
import { until } from '../starting.ts';

const LONG_MS = 10 * 60_000;

export const ALARMS: readonly Entry[] = [
  game(
    {
      id: 'supervisor-silent',
      stops: true,
      row: 'Without ticks `SupervisorSilent` is raised, and ends.',
      expected: 'ALARM or, of silence, INSUFFICIENT_DATA; then OK',
      needs: ['alarms', 'settings', 'faults'],
    },
    supervisorSilent,
  ),
  game(
    {
      id: 'canary-late',
      area: 'Observation and cost',
      row: 'While a part does not work `CanaryLate` is raised, and ends.',
      expected: 'ALARM or, of silence, INSUFFICIENT_DATA; then OK',
      needs: ['alarms', 'settings', 'faults', 'probes'],
    },
    canaryLate,
  ),
  game(
    {
      id: 'alarm-news',
      area: 'Observation and cost',
      row: 'An alarm reaches a queue on the topic.',
      expected: 'its name in a message',
      needs: ['alarms', 'probes'],
    },
    async (ports) => {
      await ports.alarms.raise('IncidentOpen');
      const got = await until(ports, async () => alarmIn(await ports.alarms.news(), 'IncidentOpen'));
      return finding(got === undefined ? ['no news came'] : [], `${got}`);
    },
  ),
];

async function supervisorSilent(ports: Ports): Promise<Finding> {
  const rule = await tickOf(ports);
  if (rule === undefined) return { ok: false, evidence: 'no rule ticks every minute' };
  return raised(ports, 'SupervisorSilent', { kind: 'rule', id: rule, forMs: LONG_MS });
}

/** The canary's own agent takes nothing more, so that its executions do not end. */
async function canaryLate(ports: Ports): Promise<Finding> {
  const mapping = await mappingOf(ports, 'steadfast-canary');
  if (mapping === undefined) return { ok: false, evidence: 'the canary has no mapping' };
  return raised(ports, 'CanaryLate', { kind: 'mapping', id: mapping.id, forMs: LONG_MS });
}

/** Silence is missing data: such an alarm is raised by having none. */
async function raised(ports: Ports, alarm: string, fault: Fault): Promise<Finding> {
  const became = (...states: readonly string[]): Promise<string | undefined> =>
    until(
      ports,
      async () => {
        const state = await ports.alarms.state(alarm);
        return states.includes(state) ? state : undefined;
      },
      LONG_MS,
    );
  // A new deployment begins without data.
  if ((await became('OK')) === undefined)
    return { ok: false, evidence: `it is ${await ports.alarms.state(alarm)} before anything is broken` };
  const beganAt = ports.clock.now();
  const state = await during(ports, fault, () => became('ALARM', 'INSUFFICIENT_DATA'));
  const seconds = Math.round((ports.clock.now() - beganAt) / 1_000);
  const over = await became('OK');
  return finding(
    [
      ...(state === undefined ? ['it was not raised'] : []),
      ...(over === undefined ? ['it did not end'] : []),
    ],
    `${state} after ${seconds} s, then ${over}`,
  );
}
