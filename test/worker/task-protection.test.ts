/** W3: when a task asks ECS for protection from scale-in, and what it does if ECS refuses. */

import { type TaskProtection, taskProtection } from '../../lib/worker/task-protection.ts';

const HOUR = 3_600_000;

function agent(
  answer: () => Response | Promise<Response> = () => Response.json({ protection: {} }),
  timeoutMs = HOUR,
) {
  const asked: unknown[] = [];
  const lines: unknown[] = [];
  let now = 0;
  const protection: TaskProtection = taskProtection({
    agentUri: 'http://169.254.170.2/api/x',
    timeoutMs,
    now: () => now,
    log: (what, fields) => lines.push([what, fields]),
    request: async (url, init) => {
      expect(String(url)).toBe('http://169.254.170.2/api/x/task-protection/v1/state');
      expect(init?.method).toBe('PUT');
      asked.push(JSON.parse(String(init?.body)));
      return answer();
    },
  });
  return { protection, asked, lines, pass: (ms: number) => (now += ms) };
}
const ON = { ProtectionEnabled: true, ExpiresInMinutes: 95 };
const OFF = { ProtectionEnabled: false };

it('is asked for before an attempt, for longer than it may take, and given back after it', async () => {
  const { protection, asked, lines } = agent();
  await protection.begin();
  expect(asked).toEqual([ON]);
  await protection.end();
  expect(asked).toEqual([ON, OFF]);
  expect(lines).toEqual([]);
});

it('of several attempts is asked for once, and given back after the last', async () => {
  const { protection, asked } = agent();
  await Promise.all([protection.begin(), protection.begin(), protection.begin()]);
  await protection.end();
  await protection.end();
  expect(asked).toEqual([ON]);
  await protection.end();
  expect(asked).toEqual([ON, OFF]);
});

it('is asked for again when it would end before an attempt that begins beside others', async () => {
  const { protection, asked, pass } = agent();
  await protection.begin();
  pass(HOUR / 2);
  await protection.begin();
  expect(asked).toEqual([ON]);
  pass(1);
  await protection.begin();
  expect(asked).toEqual([ON, ON]);
});

it('is not given back between an attempt and the next that begins at once', async () => {
  const { protection, asked } = agent();
  await protection.begin();
  await Promise.all([protection.end(), protection.begin()]);
  expect(asked).toEqual([ON]);
});

it('lasts 48 hours at most', async () => {
  const { protection, asked } = agent(undefined, 100 * HOUR);
  await protection.begin();
  expect(asked).toEqual([{ ProtectionEnabled: true, ExpiresInMinutes: 2_880 }]);
});

test.each([
  ['refuses', () => Response.json({ failure: { Reason: 'DEPLOYMENT_BLOCKED' } }), 'DEPLOYMENT_BLOCKED'],
  [
    'may not',
    () => Response.json({ error: { Code: 'AccessDeniedException' } }, { status: 400 }),
    'AccessDeniedException',
  ],
  ['answers something else', () => new Response('<html>', { status: 502 }), 'the answer is not JSON'],
])('that ECS %s is a line in the log, and asked for again by the next attempt', async (_, answer, reason) => {
  const { protection, asked, lines } = agent(answer);
  await protection.begin();
  expect(lines).toEqual([['protection-refused', expect.objectContaining({ wanted: true, reason })]]);
  await protection.begin();
  expect(asked).toHaveLength(2);
});

it('whose agent does not answer keeps no attempt from its work', async () => {
  const { protection, lines } = agent(() => Promise.reject(new TypeError('fetch failed')));
  await protection.begin();
  expect(lines).toEqual([['protection-failed', { wanted: true, error: 'TypeError' }]]);
});

it('is asked for nowhere outside of ECS', async () => {
  const request = async (): Promise<Response> => {
    throw new Error('asked');
  };
  const lines: unknown[] = [];
  const protection = taskProtection({
    agentUri: undefined,
    timeoutMs: HOUR,
    now: () => 0,
    log: (what) => lines.push(what),
    request,
  });
  await protection.begin();
  await protection.end();
  expect(lines).toEqual([]);
});
