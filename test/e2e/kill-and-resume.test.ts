/**
 * An agent, the scheduler and the supervisor are killed (-9) during their work; every order still ends, with
 * one effect per step. `kill-anywhere.test.ts` kills every function at every call; this is the only
 * end-to-end test of `npm test`.
 */

import { audit } from '../../examples/order-fulfilment/audit.ts';
import { type Answer, ledgerOf, setStage, type Stage, startStubbornly } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await setStage({ schedules: true, agentTimeoutS: 6 });
});
afterAll(() => stage.strike());

test('a kill -9 of each role costs no execution its end and doubles no effect', async () => {
  const { control } = stage.cloud;
  const sweep = (): void => void control.tick('supervisor').catch(() => undefined);
  // By then a first process has read everything that is read once.
  await stage.ended(await stage.startOrder('quiet'));
  // It has charged the card, and has not reported it.
  const agent = control.kill('charge-card', { beforeCall: 3 });
  const charged = await stage.startOrder('charged');
  const hits = [await agent.hit];
  const scheduler = control.kill('scheduler', { afterCall: 1 });
  const begun = startStubbornly(stage, 'begun');
  hits.push(await scheduler.hit);
  const supervisor = control.kill('supervisor', { beforeCall: 3 });
  sweep();
  hits.push(await supervisor.hit);
  sweep();
  const executions: Answer['body'][] = [];
  for (const id of [charged, await begun]) executions.push(await stage.ended(id));
  expect(hits.map(({ outcome }) => outcome)).toEqual(['hit', 'hit', 'hit']);
  expect(executions.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
  const { attempts } = executions[0].steps.find(({ name }: { name: string }) => name === 'charge');
  expect(attempts.length).toBe(2);
  expect(audit(await ledgerOf(stage, [charged, await begun]), executions).findings).toEqual([]);
});
