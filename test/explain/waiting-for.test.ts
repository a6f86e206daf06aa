/**
 * Golden explanations of steps without an agent: how long they wait, for whom, and the state of their child
 * executions.
 */

import { explain } from '../../lib/explain/why.ts';
import type { PlanStep } from '../../lib/core/plan/plan.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Children } from '../../lib/core/records/children.ts';
import { type Execution, type Step, callbackToken } from '../../lib/core/records/state.ts';
import type { StepStatus } from '../../lib/core/moves.ts';
import { closeCallback } from '../../lib/scheduler/callbacks.ts';
import { childrenOf, end } from '../core/family.ts';
import { failure, planOf, recordOf } from '../core/one-step.ts';
import { callbackOf, childOf, mapOf, waitOf } from '../core/small-steps.ts';
import { NOW } from '../core/states.ts';
import { explained, linesOf, paused, compensating } from '../core/words.ts';
import { book } from '../engine/book.ts';
import { anAgent, anyObject, harness } from '../engine/harness.ts';

type Row = readonly [step: PlanStep, status?: StepStatus, more?: Partial<Step>];
const changedAt = NOW - 3;
/** A step, and its record if it has one. */
const whyText = (rows: readonly Row[], execution: Partial<Execution> = {}): string => {
  const records = rows.flatMap(([{ name }, status, more]) =>
    status === undefined ? [] : [recordOf(name, status, { changedAt, ...more })],
  );
  const begun = { startedAt: NOW - 60_000, ...execution };
  return `\n${linesOf(explained(records, begun, { plan: planOf(...rows.map(([step]) => step)) }))}\n`;
};
const late = { after: ['first'] };
const failed = { failure };

describe('why', () => {
  it('of waits and callbacks', () => {
    const rows: Row[] = [
      [waitOf('first', { forMs: 100_000 })],
      [waitOf('recorded', { forMs: 100_000 }), 'ready', { progressAt: NOW - 2 }],
      [waitOf('came'), 'done'],
      [waitOf('no-time'), 'failed', failed],
      [callbackOf('asked', { withinMs: 110_000 })],
      [callbackOf('silent', { withinMs: 110_000, heartbeatMs: 90_000 })],
      [
        callbackOf('beating', { withinMs: 110_000, heartbeatMs: 90_000 }),
        'waiting',
        { heartbeat: 4, progressAt: NOW - 2 },
      ],
      [callbackOf('approval', { kind: 'approval', withinMs: 110_000 }), 'ready'],
      [callbackOf('early', late), 'answered'],
      [callbackOf('in-turn'), 'answered'],
      [callbackOf('answered'), 'done'],
      [callbackOf('approved', { kind: 'approval' }), 'done'],
      [callbackOf('rejected'), 'failed', failed],
      [callbackOf('speechless'), 'failed'],
      [callbackOf('skipped'), 'skipped'],
    ];
    expect(whyText(rows)).toBe(`
running → supervisor no-time +0: what has acted is undone
first ready: it waits until <+40000>
  → supervisor first +40000: its time comes
recorded ready: it waits until <+40000>
  → supervisor recorded +40000: its time comes
came done: its time has come
no-time failed: the time until which it waits is not known (x: y)
asked ready: the external party has not answered yet
  → external-party asked +50000: the external party answers; without an answer it fails
silent ready: the external party has not answered yet, and there was no heartbeat
  → external-party silent +30000: the external party answers or sends a heartbeat; without an answer it fails
beating waiting: the external party has not answered yet; its last heartbeat, 4, was at <-1000>
  → external-party beating +50000: the external party answers or sends a heartbeat; without an answer it fails
approval ready: a person has not answered yet
  → person approval +50000: a person approves or rejects; without an answer it fails
early answered: the external party answered before its turn; the answer is kept
in-turn answered: the external party answered before its turn; the answer is kept
  → supervisor in-turn -60000: its answer counts
answered done: the external party answered
approved done: a person approved it
rejected failed: its answer was not a success (x: y)
speechless failed: its answer was not a success
skipped skipped: its condition does not hold
-60000: workflow 'flow' was started
-3 came: its time came
-3 no-time: it failed (x: y)
-3 early: the external party answered, and the answer is kept
-3 in-turn: the external party answered, and the answer is kept
-3 answered: the external party answered
-3 approved: a person approved it
-3 rejected: it failed (x: y)
-3 speechless: it failed
-2 beating: the external party sent a heartbeat
`);
  });

  const half = childrenOf(4, { 0: end('succeeded'), 1: end('failed'), 2: end('succeeded') }, { started: 3 });
  const ran = (children: Children): Partial<Step> => ({ children });
  const one = ran(childrenOf(1, { 0: end('canceled') }));

  it('of steps with executions of their own', () => {
    const rows: Row[] = [
      [childOf('first'), 'running', ran(childrenOf(3))],
      [mapOf('half'), 'running', ran({ ...half, count: 5, started: 4 })],
      [mapOf('two'), 'running', ran(childrenOf(2, { 0: end('succeeded') }))],
      [mapOf('pair'), 'running', ran(childrenOf(2))],
      [mapOf('none'), 'running', ran(childrenOf(1, {}, { started: 0 }))],
      [childOf('epoch'), 'running', { ...ran(childrenOf(1)), epoch: 2 }],
      [childOf('unknown'), 'running'],
      [childOf('done'), 'done', ran(half)],
      [childOf('skipped'), 'skipped', ran(half)],
      [childOf('later', late)],
    ];
    expect(whyText(rows)).toBe(`
running → supervisor half +0: a step fails: one of its executions failed
first running: 0 of 3 executions ended
  → child first: execution e-1.first.0 and 2 others end
half running: 3 of 5 executions ended (2 succeeded, 1 failed), 1 are not started yet
  → child half: execution e-1.half.3 end
two running: 1 of 2 executions ended (1 succeeded)
  → child two: execution e-1.two.1 end
pair running: 0 of 2 executions ended
  → child pair: execution e-1.pair.0 and 1 other end
none running: 0 of 1 items under way, 1 not begun
epoch running: 0 of 1 executions ended
  → child epoch: execution e-1.epoch.0-e2t1 end
unknown running: none of its executions is known
done done: it is done
skipped skipped: its condition does not hold
later pending: it waits for 'first'
-60000: workflow 'flow' was started
-3 first: its executions were started, 3 of 3
-3 half: its executions were started, 4 of 5
-3 two: its executions were started, 2 of 2
-3 pair: its executions were started, 2 of 2
-3 none: its items were begun, 0 of 1
-3 epoch: its executions were started, 1 of 1
-3 unknown: its executions were started, 0 of 0
-3 done: done: 3 of 4 executions ended (2 succeeded, 1 failed)
`);
  });

  it('of a list by its items, and not by the parts of up to 25 that it is cut into', () => {
    const parts = (count: number, items: number, ended: Children['ended'], more: Partial<Children> = {}) =>
      ran(childrenOf(count, ended, { items, ...more }));
    const rows: Row[] = [
      [mapOf('rooms'), 'done', parts(1, 3, { 0: end('succeeded') })],
      [mapOf('some'), 'done', parts(2, 30, { 0: end('succeeded', 3, { failed: 4 }), 1: end('succeeded') })],
      [mapOf('begun'), 'running', parts(1, 3, {})],
      [mapOf('half'), 'running', parts(4, 80, { 1: end('succeeded') }, { started: 3 })],
      [mapOf('undone'), 'compensating', parts(3, 60, { 0: end('compensated'), 2: end('failed') })],
      // Split by their size: how many items each part has is not recorded.
      [mapOf('large'), 'running', parts(3, 4, { 0: end('succeeded') })],
    ];
    const said = whyText(rows)
      .split('\n')
      .filter((line) => line.includes(' of '));
    expect(said.join('\n')).toBe(`begun running: 3 of 3 items under way
half running: at least 25 of 80 items ended, 5 not begun (25 succeeded)
undone compensating: its executions are canceled, and those that succeeded are undone: at least 35 of 60 items ended (25 compensated, 10 failed)
large running: 1 of 3 executions ended (1 succeeded)
-3 rooms: done: 3 of 3 items ended (3 succeeded)
-3 some: done: 30 of 30 items ended (26 succeeded, 4 failed)
-3 begun: its items were begun, 3 of 3
-3 half: its items were begun, 75 of 80
-3 large: its executions were started, 3 of 3`);
  });

  it('of executions that failed or are stopped', () => {
    const rows: Row[] = [
      [childOf('failed'), 'failed', { ...failed, ...ran(half) }],
      [childOf('left'), 'failed', one],
      [childOf('over'), 'failed', ran(childrenOf(2))],
      [childOf('stopped'), 'compensating', one],
      [childOf('stopping'), 'compensating', ran(childrenOf(2, { 0: end('failed') }))],
      [childOf('stuck'), 'compensation-failed', { ...failed, ...ran(half) }],
      [childOf('compensated'), 'compensated', { ...failed, ...one }],
      [childOf('never')],
      [callbackOf('callback'), 'waiting'],
      [callbackOf('fenced'), 'fenced'],
      [waitOf('wait'), 'ready'],
    ];
    expect(whyText(rows, { ...compensating })).toBe(`
compensating → supervisor stopped +0: a step is undone: all of its executions are
failed failed: it failed (x: y)
left failed: its executions are stopped, and what they did is left as it is: 1 of 1 executions ended (1 canceled)
over failed: its executions are stopped, and what they did is left as it is: 0 of 2 executions ended
stopped compensating: its executions are canceled, and those that succeeded are undone: 1 of 1 executions ended (1 canceled)
stopping compensating: its executions are canceled, and those that succeeded are undone: 1 of 2 executions ended (1 failed)
  → child stopping: execution e-1.stopping.1 end
stuck compensation-failed: it could not be undone (x: y): what its executions did may still be in place
compensated compensated: it is compensated
never pending: it was never started
callback waiting: it waits for nothing any more
fenced fenced: the execution is being undone, so it will never start
wait pending: it was never started
-60000: workflow 'flow' was started
-3 failed: failed (x: y): 3 of 4 executions ended (2 succeeded, 1 failed)
-3 left: failed: 1 of 1 executions ended (1 canceled)
-3 over: failed: 0 of 2 executions ended
-3 stopped: its executions were stopped
-3 stopping: its executions were stopped
-3 stuck: compensation-failed (x: y): 3 of 4 executions ended (2 succeeded, 1 failed)
-3 compensated: compensated: 1 of 1 executions ended (1 canceled)
+0: it is being undone because of an operator's cancel: d
`);
  });

  it('of a pause', () => {
    expect(
      whyText(
        [
          [waitOf('wait'), 'ready'],
          [callbackOf('callback', { heartbeatMs: 5 }), 'waiting'],
          [callbackOf('approval', { kind: 'approval' })],
          [callbackOf('answered', { kind: 'approval' }), 'answered'],
          [callbackOf('early', { after: ['wait'] }), 'answered'],
          [{ kind: 'receive', name: 'message', after: [], message: 'message', withinMs: 9 } as never],
          [callbackOf('later', { after: ['wait'] })],
          [childOf('sub'), 'running', ran(childrenOf(1))],
        ],
        paused,
      ),
    ).toBe(`
paused → person +8991: a person is asked, unless the pause is ended before
wait ready: its time stands still during the pause
callback waiting: the external party has not answered yet, and there was no heartbeat, and the execution is paused
approval ready: a person has not answered yet, and the execution is paused
answered answered: a person answered; the answer counts after the pause
early answered: the external party answered before its turn; the answer is kept
message ready: it has taken no message 'message', and the execution is paused
later pending: it has not begun, and the execution is paused
sub running: 0 of 1 executions ended
  → child sub: execution e-1.sub.0 end
-60000: workflow 'flow' was started
-9: a person paused it: r; a person is asked at <+8000>
-3 answered: a person answered, and the answer is kept
-3 early: the external party answered, and the answer is kept
-3 sub: its executions were started, 1 of 1
`);
  });

  it('of a run, as the roles make it', async () => {
    const worker = anAgent('worker');
    const inner = workflow('inner', { input: anyObject, within: '1h' }, (w) => void w.step('x', worker, {}));
    const flow = workflow('flow', { input: anyObject, within: '3h' }, (w) => {
      const pause = w.wait('pause', { for: '1h' });
      const ok = w.approval('ok', { within: '2h' });
      w.child('sub', inner as never, {}, { after: [pause, ok] });
    });
    const world = harness(flow, { worker: book().implementation });
    const { id, startedAt } = await world.begin();
    await world.run(id, { until: ({ steps }) => steps['pause']?.status === 'done', maxMs: 4_000_000 });
    const token = callbackToken((await world.state(id)).execution, 'ok') ?? '';
    await closeCallback(world.scheduler, token, { kind: 'complete', output: {} });
    await world.run(id);
    const { steps, past } = explain(flow.plan, await world.state(id), world.clock.now());
    expect(steps.map(({ because }) => because)).toEqual([
      'its time has come',
      'a person approved it',
      'it is done',
    ]);
    const hour = 3_600_000;
    expect(past.map(({ at, what }) => [at - startedAt, what])).toEqual([
      [0, "workflow 'flow' was started"],
      [0, 'an answer was asked for'],
      [hour, 'its time came'],
      [hour, 'a person approved it'],
      [hour, 'done: 1 of 1 executions ended (1 succeeded)'],
      [hour, 'it ended: succeeded'],
    ]);
  });
});
