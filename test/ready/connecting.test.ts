/** The time to connect is bounded, apart from the time to answer. */

import { called, charging, outcomeIn } from './service.ts';
import { connecting, type Silent, startSilent } from './silent.ts';

let silent: Silent;
beforeAll(async () => {
  silent = await startSilent();
});
afterAll(() => silent.stop());

it('S6 a connection that is not made within ten seconds is none, and nothing was sent', async () => {
  const report = await connecting((signal) => called(charging(silent.url), { signal }));
  expect(outcomeIn(report)).toBe('transient ETIMEDOUT');
});
