/** Commands and answers are recorded with their callers, and history and events show them. */

import { explain } from '../../lib/explain/why.ts';
import { askPerson, retry as again, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { cancel, pause, resume, retry } from '../../lib/scheduler/commands.ts';
import { drain } from '../engine/harness.ts';
import {
  input,
  worker,
  person,
  ann,
  bob,
  carl,
  session,
  user,
  token,
  DECLINED,
  begin,
  of,
  answer,
  resolution,
} from './four-eyes.ts';

describe('history', () => {
  const flow = workflow('flow', { input, within: '3h' }, (w) => {
    w.step('work', worker, {}, { recovery: [again(0), askPerson({ within: '1h' })], undo: 'none' });
    w.approval('ok', { within: '1h' });
  }) as Workflow;

  it('says who started, paused, had it go on, answered, resolved and canceled', async () => {
    const h = of(flow, DECLINED);
    const { id } = await begin(h, 'flow', user('ann'));
    await drain(h);
    await pause(h.scheduler, id, { by: bob, reason: 'lunch' });
    await resume(h.scheduler, id, { by: carl });
    await drain(h);
    await answer(h, id, 'ok', token('https://login.example', 'dee'));
    await resolution(h, id, { choice: 'retry', by: session('Ops', 'eve') });
    await cancel(h.scheduler, id, { by: person('fay'), reason: 'wrong price' });
    const { state, plan } = { state: await h.state(id), plan: flow.plan };
    const { execution, questions, steps } = state;
    expect(execution).toMatchObject({
      startedBy: user('ann'),
      pauses: [{ by: bob, endedBy: carl }],
      cause: { kind: 'cancel', by: person('fay') },
    });
    expect(questions?.[1]).toMatchObject({ closedBy: 'answer', caller: session('Ops', 'eve') });
    expect(steps['ok']?.by).toEqual(token('https://login.example', 'dee'));
    const past = explain(plan, state, h.clock.now()).past.map(({ what }) => what);
    for (const what of [
      "workflow 'flow' was started by arn:aws:iam::123456789012:user/ann",
      'local:bob paused it: lunch',
      'the pause was ended by local:carl',
      'jwt:https://login.example dee approved it',
      "incident 1: arn:aws:sts::123456789012:assumed-role/Ops/eve chose 'retry'",
      "it is being undone because of an operator's cancel by local:fay: wrong price",
    ])
      expect(past).toContainEqual(what);
    await h.run(id);
    expect(h.announced).toMatchObject([{ startedBy: user('ann'), cause: 'cancel', by: person('fay') }]);
  });

  it('says who had a waiting one tried again', async () => {
    const h = of(flow, DECLINED);
    const { id } = await begin(h, 'flow', ann);
    await drain(h);
    await retry(h.scheduler, id, { by: bob });
    expect((await h.state(id)).questions?.[1]).toMatchObject({ choice: 'retry', caller: bob });
  });

  it('says who ended a pause by a cancel', async () => {
    const h = of(flow);
    const { id } = await begin(h, 'flow', ann);
    await pause(h.scheduler, id, { by: bob });
    await cancel(h.scheduler, id, { by: carl });
    expect((await h.state(id)).execution).toMatchObject({
      pauses: [{ by: bob, endedBy: carl }],
      cause: { by: carl },
    });
  });

  it.each(['resume', 'undo-all', 'command'] as const)(
    'says who answered whether a pause goes on: %s',
    async (how) => {
      const h = of(flow);
      const { id } = await begin(h, 'flow', ann);
      await pause(h.scheduler, id, { by: bob, withinMs: 3_600_000 });
      h.clock.advanceTo(h.clock.now() + 3_600_000);
      await h.sweep();
      if (how === 'command') await resume(h.scheduler, id, { by: carl });
      else await resolution(h, id, { choice: how, by: carl });
      const { execution, questions } = await h.state(id);
      expect(questions?.[1]).toMatchObject({ kind: 'pause', closedBy: 'answer', caller: carl });
      expect(execution.pauses).toMatchObject([{ endedBy: carl }]);
      expect(execution.cause?.by).toEqual(how === 'undo-all' ? carl : undefined);
    },
  );

  it.each([
    ['a resolution that ends it', 'keep'],
    ['one that undoes all during a pause', 'undo-all'],
  ] as const)('says who stopped it by %s', async (_, choice) => {
    const h = of(flow, DECLINED);
    const { id } = await begin(h, 'flow', ann);
    await drain(h);
    if (choice === 'undo-all') await pause(h.scheduler, id, { by: carl });
    await resolution(h, id, { choice, by: bob });
    expect((await h.state(id)).execution.cause).toMatchObject({ kind: 'failure', by: bob });
  });
});
