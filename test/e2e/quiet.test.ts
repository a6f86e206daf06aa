/**
 * A quiet system without scheduled sweeps: only a supervisor that the start of an order has called can notice
 * a death.
 */

import { setTimeout as turn } from 'node:timers/promises';
import { setStage, type Stage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await setStage({ schedules: false, agentTimeoutS: 6, sweepEveryMs: 1_000 });
});
afterAll(() => stage.strike());

const supervisor = () =>
  stage.cloud.control.functions().find(({ logicalId }) => logicalId.includes('SupervisorFunction'))!;
const callsBy = (part: string, operation: string): number =>
  stage.cloud.control
    .calls()
    .filter((call) => call.caller.includes(part) && call.operation === operation)
    .reduce((sum, { calls }) => sum + calls, 0);

describe('without any tick', () => {
  it('healthy orders one after the other share one supervisor, which calls no other and goes home', async () => {
    // If a busy machine makes an order late, a supervisor announces it, which is an event as well: then
    // repeat.
    for (let round = 0; ; round += 1) {
      while (supervisor().processes.some(({ state }) => state === 'busy')) await turn(100);
      const before = supervisor().invocations;
      stage.cloud.control.resetCalls();
      for (let at = 0; at < 3; at += 1) await stage.ended(await stage.startOrder(`healthy-${round}-${at}`));
      const calledBySchedulers = callsBy('Scheduler', 'PutEvents');
      while (supervisor().processes.some(({ state }) => state === 'busy')) await turn(100);
      expect(calledBySchedulers).toBeGreaterThanOrEqual(1);
      expect(supervisor().invocations - before).toBe(calledBySchedulers);
      if (round < 3 && callsBy('Supervisor', 'PutEvents') > 0) continue;
      expect(callsBy('Supervisor', 'PutEvents')).toBe(0);
      return;
    }
  });

  it('an agent that is killed at its work is noticed and its order ends well (L2)', async () => {
    // Its first write is the claim: it dies within its lease.
    const { hit } = stage.cloud.control.kill('charge-card', { afterCall: 1, operation: 'PutItem' });
    const id = await stage.startOrder('killed');
    expect((await hit).outcome).toBe('hit');
    const ended = await stage.ended(id);
    expect(ended.status).toBe('succeeded');
    const [charge] = ended.steps.filter(({ agent }: { agent?: string }) => agent === 'charge-card');
    expect(charge.attempts[0]).toMatchObject({ outcome: 'unknown' });
    expect(supervisor().invocations).toBeGreaterThanOrEqual(1);
  });
});
