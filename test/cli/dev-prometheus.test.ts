/** `GET /metrics` of the local cloud: what its functions have measured, in Prometheus's format. */

import { createMeter } from '../../lib/aws/metrics.ts';
import { Prometheus } from '../../cli/dev/prometheus.ts';
import { listenAt } from '../../serve/http.ts';

const meterOf = (onLine: (line: string) => void, fields: Readonly<Record<string, string>>) =>
  createMeter({ deployment: 'Shop-1', fields, by: new Set(['workflow', 'agent']), onLine });
const claimed = { what: 'claimed', executionId: 'e', ms: 1_500 } as const;

async function answered(prometheus: Prometheus, method = 'GET') {
  const server = await listenAt('127.0.0.1', 0, prometheus.listener);
  try {
    const answer = await fetch(`${server.url}/metrics`, { method });
    return { type: answer.headers.get('content-type'), lines: (await answer.text()).split('\n') };
  } finally {
    await server.stop(0);
  }
}

it('adds up by deployment, role and agent, and counts no metric of a workflow or an agent twice', async () => {
  const prometheus = new Prometheus();
  const pay = meterOf(prometheus.line, { role: 'agent', agent: 'pay' });
  const supervisor = meterOf(prometheus.line, { role: 'supervisor' });
  for (const attempt of [1, 2]) {
    pay.note({ ...claimed, attempt }, { workflow: 'order' });
    pay.flush();
  }
  supervisor.open({ incidents: 3, entries: 4, breakers: 0 });
  supervisor.flush();
  const { type, lines } = await answered(prometheus);
  expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(lines).toEqual(
    expect.arrayContaining([
      '# TYPE steadfast_attempts_total counter',
      'steadfast_attempts_total{deployment="Shop-1",role="agent",agent="pay"} 2',
      'steadfast_time_to_claim_seconds_sum{deployment="Shop-1",role="agent",agent="pay"} 3',
      'steadfast_open_incidents{deployment="Shop-1",role="supervisor"} 3',
    ]),
  );
  expect(lines.filter((line) => line.startsWith('steadfast_attempts_total'))).toHaveLength(1);
  expect((await answered(prometheus, 'HEAD')).lines).toEqual(['']);
});

it('counts nothing of what the code of authors writes', async () => {
  const prometheus = new Prometheus();
  let ours = '';
  const meter = meterOf((line) => (ours = line), { role: 'agent', agent: 'pay' });
  meter.note({ what: 'dispatched', executionId: 'e' });
  meter.flush();
  for (const line of [
    'a log line',
    '{"level":"INFO"}',
    ours.replace('"Namespace":"Steadfast"', '"Namespace":"Shop"'),
    ours.replaceAll('"Dispatches"', '"constructor"'),
    ours.replace('"service":"Shop-1"', '"service":7'),
  ])
    prometheus.line(line);
  expect((await answered(prometheus)).lines).toEqual(['']);
  prometheus.line(`${ours.replace('"agent":"pay"', '"agent":"a\\"}\\nsteadfast_up{"')}\n`);
  const { lines } = await answered(prometheus);
  expect(lines).toContain('steadfast_dispatches_total{deployment="Shop-1",role="agent"} 1');
});
