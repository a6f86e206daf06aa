/** Answers about trouble that began soon after a start or a deployment of other code say when that was. */

import { memoryBreakers } from '../../lib/memory/side-records.ts';
import { timeText } from '../../lib/core/values/text.ts';
import { client } from './app.ts';

it.each([
  [270_000, ', 30 s after the start of '],
  [600_000, undefined],
  [60_000, undefined],
])('says of what began soon after a start when that was, %i ms ago', async (agoMs, says) => {
  const breakers = memoryBreakers();
  const { get, clock } = client(undefined, (world) => {
    return { ...world, breakers, startedAt: world.clock.now() - agoMs };
  });
  const now = clock.now();
  const opened = { openedAt: now, openUntil: now + 9_000, failingSince: now - 240_000 };
  await breakers.write({
    agent: 'worker',
    version: 1,
    writeId: 'w',
    score: 8,
    failedAt: now,
    cooldowns: 1,
    ...opened,
  });
  const [finding] = (await get('/health')).body['findings'] as { startedAt?: number }[];
  expect(finding?.startedAt).toBe(says === undefined ? undefined : now - agoMs);
  if (says !== undefined) expect((await get('/health')).body['says']).toContain(says);
});

it('says so also where an execution waits for the agent', async () => {
  const breakers = memoryBreakers();
  const { get, begun, run, clock } = client(undefined, (world) => {
    return { ...world, breakers, startedAt: world.clock.now() - 30_000 };
  });
  const now = clock.now();
  const known = { agent: 'worker', version: 1, writeId: 'w', score: 8, failedAt: now, cooldowns: 1 };
  await breakers.write({ ...known, openedAt: now, openUntil: now + 12_000, failingSince: now });
  const id = await begun();
  await run(id, { until: ({ steps }) => steps['a']?.deferred !== undefined, maxMs: 60_000 });
  const { steps } = (await get(`/executions/${id}/why`)).body as { steps: readonly { because: string }[] };
  expect(steps[0]?.because).toMatch(/\(its service has been failing since .+, 30 s after the start of .+\)/);
});

const opened = (now: number) => ({
  agent: 'worker',
  version: 1,
  writeId: 'w',
  score: 8,
  failedAt: now,
  cooldowns: 1,
  openedAt: now,
  openUntil: now + 12_000,
  failingSince: now,
});

it.each([
  [30_000, true],
  [-90_000, true],
  [360_000, false],
  [-150_000, false],
])('says with which deployment it began, %i ms ago, as the receipts know it', async (agoMs, isSaid) => {
  const breakers = memoryBreakers();
  const { get, begun, run, clock, receipts } = client(undefined, (world) => ({ ...world, breakers }));
  const now = clock.now();
  const deployedAt = now - agoMs;
  await receipts.write({ version: 1, writeId: 'w', release: 'r', deployedAt });
  await breakers.write(opened(now));
  const { body } = await get('/health');
  const [finding] = body['findings'] as { deployedAt?: number }[];
  expect(finding?.deployedAt).toBe(isSaid ? deployedAt : undefined);
  const id = await begun();
  await run(id, { until: ({ steps }) => steps['a']?.deferred !== undefined, maxMs: 60_000 });
  const { steps } = (await get(`/executions/${id}/why`)).body as { steps: readonly { because: string }[] };
  for (const text of [String(body['says']), steps[0]?.because])
    expect(text?.includes(`, with the deployment of ${timeText(deployedAt)}`)).toBe(isSaid);
});
