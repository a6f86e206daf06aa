/**
 * A person's confirmation that an attempt had no effect: when it is required, and which attempts it covers.
 */

import { workflow } from '../../lib/author/builder/workflow.ts';
import { resolveIncident, type ResolutionRequest } from '../../lib/scheduler/incidents.ts';
import { anAgent, anyObject, drain, type Harness, harness } from '../engine/harness.ts';
import { withStore } from '../engine/process.ts';

const blind = anAgent('blind', { effect: 'unsafe' });
const undo = async (): Promise<void> => undefined;
const lose = async (): Promise<never> => {
  throw new Error('socket hang up');
};
const blindly = workflow('blindly', { input: anyObject, within: '1d' }, (w) => {
  w.step('asked', blind, {});
});

/** Starts an execution whose attempt is lost, so that a person is asked. */
async function asked(): Promise<{ readonly h: Harness; readonly id: string }> {
  const h = harness(blindly, { blind: { execute: lose, undo } });
  const { id } = await h.begin();
  await drain(h);
  return { h, id };
}

const answer = (h: Harness, id: string, given: Omit<ResolutionRequest, 'incident'>) =>
  resolveIncident(h.scheduler, id, { incident: 1, ...given });

describe('a step of which nobody knows whether it has acted', () => {
  it('refuses what is not safe while an attempt may have acted, and says what is wanted', async () => {
    const { h, id } = await asked();
    expect((await h.state(id)).steps['asked']).toMatchObject({
      status: 'waiting',
      mayHaveActed: true,
      attempt: 1,
    });
    const refusal = answer(h, id, { choice: 'retry' });
    await expect(refusal).rejects.toMatchObject({
      code: 'unsafe-choice',
      message: expect.stringContaining('nothingHappened'),
    });
    const early = answer(h, id, { choice: 'skip', nothingHappened: true });
    await expect(early).rejects.toMatchObject({
      code: 'unsafe-choice',
      message: expect.stringContaining('may still act'),
    });
    h.clock.advanceTo(h.clock.now() + 120_000);
    await answer(h, id, { choice: 'skip', nothingHappened: true });
    expect((await h.run(id)).execution.status).toBe('succeeded');
  });

  it('takes no word for what could still happen when it was given, however late it is decided on', async () => {
    const { h, id } = await asked();
    const slow = withStore(h, ({ read }) => ({
      read: (one) => {
        h.clock.advanceTo(h.clock.now() + 120_000);
        return read(one);
      },
    }));
    const skip = { incident: 1, choice: 'skip', nothingHappened: true } as const;
    await expect(resolveIncident({ ...h.scheduler, ports: slow }, id, skip)).rejects.toMatchObject({
      code: 'unsafe-choice',
      message: expect.stringContaining('may still act'),
    });
    expect((await h.state(id)).steps['asked']?.status).toBe('waiting');
    await answer(h, id, skip);
    expect((await h.run(id)).execution.status).toBe('succeeded');
  });
});
