/** A server starts after another has died: the dead one's attempts are ended, and only some use up a try. */

import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import { resume } from '../../serve/resume.ts';
import { anAgent, anyObject, drain, harness, settle } from '../engine/harness.ts';

const DEATHS = 6;
const flow = workflow('shipping', { input: anyObject, within: '2h' }, (w) => {
  w.step('ship', anAgent('carrier', { lease: '10s' }), {}, { recovery: [retry(2)] });
});

/** Lets the server die during each attempt except the last. */
async function afterDeaths(agentsApart: boolean) {
  let left = DEATHS;
  const execute = (): Promise<object> => {
    left -= 1;
    return left < 0 ? Promise.resolve({}) : new Promise(() => undefined);
  };
  const h = harness(flow, { carrier: { execute, undo: async () => undefined } });
  const { id } = await h.begin();
  for (let death = 0; death < DEATHS; death += 1) {
    for (const send of h.sent.splice(0)) void h.deliver(send);
    await settle();
    h.clock.advanceTo(h.clock.now() + 1_000);
    const untilAt = h.clock.now() + 60_000;
    const stopping = new AbortController().signal;
    await resume(h, new Map(), { isOurs: () => false, untilAt, agentsApart, stopping });
  }
  await drain(h);
  return (await h.state(id)).steps['ship'];
}

it('an attempt uses up no try where agents run apart from the server that died', async () => {
  const step = await afterDeaths(true);
  expect(step).toMatchObject({ status: 'done', attempt: DEATHS + 1 });
  expect(step?.attempts[0]).toMatchObject({
    outcome: 'unknown',
    failure: { code: 'process-died', message: expect.stringContaining('it ended with its server') },
  });
});

it('an attempt within the server that died uses up its try, for it may have ended the server', async () => {
  expect((await afterDeaths(false))?.status).toBe('failed');
});
