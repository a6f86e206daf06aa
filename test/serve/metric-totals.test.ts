/** `GET /metrics` of a server: totals since its start, in Prometheus's format. */

import { Telemetries } from '../../serve/ports.ts';
import { Tokens } from '../../serve/tokens.ts';
import { servedWith, testServer } from './served.ts';

it('adds up counts and durations by role and agent, and has the latest gauges', () => {
  const telemetries = new Telemetries(false);
  const pay = telemetries.of({ role: 'agent', agent: 'pay' }).meter;
  const supervisor = telemetries.of({ role: 'supervisor' }).meter;
  const claim = { what: 'claimed', executionId: 'e', ms: 1_500 } as const;
  pay.note(claim, { workflow: 'w' });
  supervisor.open({ incidents: 3, entries: 4, breakers: 0 });
  telemetries.text();
  pay.note({ ...claim, attempt: 2 }, { workflow: 'w' });
  supervisor.open({ incidents: 1, entries: 4, breakers: 0 });
  supervisor.swept({ made: 2, oldestOverdueMs: 250, failed: 0 });
  const lines = telemetries.text().split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      '# TYPE steadfast_attempts_total counter',
      'steadfast_attempts_total{role="agent",agent="pay"} 2',
      'steadfast_retries_total{role="agent",agent="pay"} 1',
      '# TYPE steadfast_time_to_claim_seconds summary',
      'steadfast_time_to_claim_seconds_sum{role="agent",agent="pay"} 3',
      'steadfast_time_to_claim_seconds_count{role="agent",agent="pay"} 2',
      '# TYPE steadfast_open_incidents gauge',
      'steadfast_open_incidents{role="supervisor"} 1',
      'steadfast_oldest_overdue_seconds{role="supervisor"} 0.25',
      'steadfast_sweeps_total{role="supervisor"} 2',
    ]),
  );
  expect(
    lines.filter((line) => !/^(# TYPE \w+ (counter|gauge|summary)|\w+\{.*\} [\d.]+|)$/.test(line)),
  ).toEqual([]);
});

it('is answered to a token that may read, and to no other', async () => {
  const world = testServer();
  try {
    const secret = 'a-secret-of-32-characters-or-more';
    const tokens = Tokens.read(`prometheus ${secret} read\nshop ${secret}-2 start`);
    const { url } = await world.start({ served: servedWith(async (input) => input), tokens });
    const ask = async (token?: string): Promise<Response> =>
      fetch(`${url}/metrics`, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } });
    expect((await ask()).status).toBe(401);
    expect((await ask(`${secret}-2`)).status).toBe(403);
    const answer = await ask(secret);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
  } finally {
    await world.end();
  }
});
