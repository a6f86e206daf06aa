/** Repeated and impossible commands, and answers during a pause. */

import { MAX_REMEMBERED } from '../../lib/core/operators/obey.ts';
import { SteadfastError } from '../../lib/core/values/errors.ts';
import { cancel, pause, resume, retry } from '../../lib/scheduler/commands.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import { chain, failingOnce, quick, undo } from '../engine/chain.ts';
import { drain, harness } from '../engine/harness.ts';

describe('commands', () => {
  it('that are repeated are answered, not obeyed twice', async () => {
    const h = quick();
    const { id } = await h.begin();
    await pause(h.scheduler, id, { commandId: 'p1' });
    await resume(h.scheduler, id, { commandId: 'r1' });
    expect((await pause(h.scheduler, id, { commandId: 'p1' })).status).toBe('running');
    expect((await h.state(id)).execution.pauses).toHaveLength(1);
    expect((await h.run(id)).execution.status).toBe('succeeded');
  });

  it('that had nothing to change are not obeyed later', async () => {
    const h = quick();
    const { id } = await h.begin();
    await pause(h.scheduler, id, { commandId: 'of-ann' });
    await pause(h.scheduler, id, { commandId: 'of-bob' });
    await resume(h.scheduler, id, { commandId: 'r' });
    expect((await pause(h.scheduler, id, { commandId: 'of-bob' })).status).toBe('running');
    expect((await h.run(id)).execution.status).toBe('succeeded');
  });

  it('under the id of another one are refused, not answered as its repeat', async () => {
    const h = quick();
    const { id } = await h.begin();
    const commandId = 'ticket-7';
    await pause(h.scheduler, id, { commandId, withinMs: 90_000 });
    const { at = 0 } = (await h.state(id)).execution.pauses?.[0] ?? {};
    const refused = (message: string) => ({
      code: 'key-reused',
      message: expect.stringContaining(message),
      details: { executionId: id, command: 'pause', at },
    });
    const { version } = (await h.state(id)).execution;
    for (const other of [resume, cancel, retry])
      await expect(other(h.scheduler, id, { commandId })).rejects.toMatchObject(
        refused(`was that of 'pause', which execution ${id} obeyed at`),
      );
    await expect(pause(h.scheduler, id, { commandId, withinMs: 80_000 })).rejects.toMatchObject(
      refused("was that of 'pause' with another body"),
    );
    const again = await pause(h.scheduler, id, { commandId, withinMs: 90_000, reason: 'in other words' });
    expect(again.version).toBe(version);
  });

  it('that are refused are not remembered, and change nothing of an ended execution', async () => {
    const h = quick();
    const { id } = await h.begin();
    await expect(resume(h.scheduler, id, { commandId: 'r' })).rejects.toMatchObject({
      code: 'not-resumable',
    });
    await pause(h.scheduler, id, {});
    expect((await resume(h.scheduler, id, { commandId: 'r' })).status).toBe('running');
    await h.run(id);
    const { version } = (await h.state(id)).execution;
    for (const command of [pause, resume, cancel, retry])
      await expect(command(h.scheduler, id, { commandId: 'late' })).rejects.toBeInstanceOf(SteadfastError);
    expect((await h.state(id)).execution.version).toBe(version);
  });

  it('are refused after too many, except a cancel', async () => {
    const h = quick();
    const { id } = await h.begin();
    for (let number = 0; number < MAX_REMEMBERED; number += 2) {
      await pause(h.scheduler, id, { commandId: `p${number}` });
      await resume(h.scheduler, id, { commandId: `r${number}` });
    }
    await expect(pause(h.scheduler, id, { commandId: 'more' })).rejects.toMatchObject({
      code: 'too-many-commands',
    });
    expect((await pause(h.scheduler, id, { commandId: 'p0' })).status).toBe('running');
    expect((await cancel(h.scheduler, id, { commandId: 'c' })).status).toBe('compensating');
    expect((await h.run(id)).execution.status).toBe('canceled');
  });

  it('that are not possible say why', async () => {
    const h = quick();
    const { id } = await h.begin();
    await expect(resume(h.scheduler, id, {})).rejects.toMatchObject({ code: 'not-resumable' });
    await h.run(id);
    await expect(pause(h.scheduler, id, {})).rejects.toMatchObject({
      code: 'not-pausable',
      message: expect.stringContaining('it has succeeded'),
    });
  });
});

describe('an answer during a pause', () => {
  const asked = async () => {
    const h = harness(chain, {
      first: { execute: async () => ({}), undo },
      second: { execute: failingOnce(), undo },
    });
    const { id } = await h.begin();
    await drain(h);
    await pause(h.scheduler, id, {});
    return { h, id };
  };

  it('that has the step tried again takes effect after the pause', async () => {
    const { h, id } = await asked();
    await resolveIncident(h.scheduler, id, { incident: 1, choice: 'retry' });
    const { execution, steps } = await h.state(id);
    expect(execution.status).toBe('paused');
    expect(steps['b']).toMatchObject({ status: 'retrying' });
    await resume(h.scheduler, id, {});
    expect((await h.run(id)).execution.status).toBe('succeeded');
  });

  it.each([
    ['undo-all', 'compensated'],
    ['keep', 'failed'],
  ] as const)('that stops the execution ends the pause: %s', async (choice, status) => {
    const { h, id } = await asked();
    await resolveIncident(h.scheduler, id, { incident: 1, choice });
    expect((await h.run(id)).execution.status).toBe(status);
  });
});
