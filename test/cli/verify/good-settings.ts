/** The settings of a deployment as the template makes it. Owns: what a fake deployment answers of itself. */

import type { Settings } from '../../../cli/verify/ports.ts';
import { ENV, INDEXES, METRICS, TABLE } from '../../../lib/aws/names.ts';

const fn = (name: string, variables: Record<string, string>, recursionAllowed = true) => ({
  name,
  runtime: 'nodejs24.x',
  timeoutS: 10,
  recursionAllowed,
  logFormat: 'JSON',
  logGroup: `logs-${name}`,
  variables: { [ENV.table]: 'table', ...variables },
});
const queueOf = (name: string, more: Partial<Settings['queues'][number]> = {}) => ({
  name,
  url: `https://queue/${name}`,
  visibilityS: 60,
  retentionS: 14 * 24 * 3_600,
  ...more,
});

/** As the template sets it. */
export const goodSettings = (): Settings => ({
  functions: [
    fn('scheduler', { [ENV.agents]: 'verify-pass,verify-closed' }),
    fn('pass', {}),
    fn('starter', {}),
    fn('supervisor', { [ENV.sweepEveryMs]: '2000' }, false),
    fn('audit', { [ENV.auditEveryMs]: '3600000' }, false),
  ],
  queues: [
    queueOf('p_verify-pass', { deadLetters: 'dead', maxReceives: 5 }),
    queueOf('p_verify-closed', { deadLetters: 'dead', maxReceives: 5 }),
    queueOf('p_steadfast-canary', { deadLetters: 'dead', maxReceives: 5 }),
    queueOf('requests', { deadLetters: 'dead', maxReceives: 5 }),
    queueOf('dead'),
  ],
  mappings: [
    {
      id: 'm1',
      queue: 'p_verify-pass',
      function: 'pass',
      enabled: true,
      reportsItemFailures: true,
      maxConcurrency: 2,
    },
    {
      id: 'm4',
      queue: 'p_steadfast-canary',
      function: 'pass',
      enabled: true,
      reportsItemFailures: true,
      maxConcurrency: 2,
    },
    {
      id: 'm3',
      queue: 'p_verify-closed',
      function: 'pass',
      enabled: true,
      reportsItemFailures: true,
      maxConcurrency: 2,
    },
    {
      id: 'm2',
      queue: 'requests',
      function: 'starter',
      enabled: true,
      reportsItemFailures: true,
      maxConcurrency: 2,
    },
  ],
  rules: [
    {
      id: 'tick',
      name: 'tick',
      expression: 'rate(1 minute)',
      enabled: true,
      targets: ['supervisor', 'supervisor'],
    },
    { id: 'audit', name: 'audit', expression: 'rate(15 minutes)', enabled: true, targets: ['audit'] },
  ],
  table: {
    name: 'table',
    indexes: Object.fromEntries(INDEXES.map(({ name, pk, sk }) => [name, `${pk}/${sk}`])),
    expiresBy: TABLE.ttl,
    recovery: true,
  },
  alarms: [{ name: 'SupervisorSilent', metrics: ['Steadfast/Sweeps', 'AWS/Lambda/Errors'], actions: 1 }],
  drawn: Object.keys(METRICS).map((name) => `Steadfast/${name}`),
  subscribers: 1,
});
