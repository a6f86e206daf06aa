/**
 * With `transport: 'sdk'`, all calls go through the AWS SDK, with the same results and recovery. All other
 * tests here use the direct transport.
 */

import { audit } from '../../examples/order-fulfilment/audit.ts';
import { setStage, type Stage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await setStage({ schedules: true, agentTimeoutS: 6, transport: 'sdk' });
});
afterAll(() => stage.strike());

test('orders end, also one whose agent is killed when it has charged and has not said so', async () => {
  const { control } = stage.cloud;
  const quiet = await stage.ended(await stage.startOrder('quiet'));
  const charged = control.kill('charge-card', { beforeCall: 3 });
  const killed = stage.startOrder('killed');
  expect((await charged.hit).outcome).toBe('hit');
  control.tick('supervisor').catch(() => undefined);
  const executions = [quiet, await stage.ended(await killed)];
  expect(executions.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
  expect(executions[1].steps.find(({ name }: { name: string }) => name === 'charge').attempts.length).toBe(2);
  const answer = await fetch(`${stage.world.url}/ledger`);
  const { entries } = (await answer.json()) as { entries: never[] };
  expect(audit(entries, executions).findings).toEqual([]);
});
