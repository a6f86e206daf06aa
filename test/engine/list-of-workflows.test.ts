/**
 * A list of workflows: one execution for each item, in parts of 25, with tolerance, lanes and undo as in any
 * list.
 */

import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { cancel } from '../../lib/scheduler/commands.ts';
import { anAgent, anyObject, type Harness, harness } from './harness.ts';
import { failingWrite, type Fault } from './process.ts';

const input = anyObject as never;
const once = { recovery: [retry(0)], retryUndo: retry(20, { delay: '1s', maxDelay: '2s' }) };
const drain = anAgent('drain');
const deploy = anAgent('deploy');
const check = anAgent('check', { undo: 'none' });

const deployHost = workflow('deploy-host', { input, within: '1h' }, (w) => {
  const { host } = w.input as never as { host: never };
  const first = w.step('drain', drain, { host }, once);
  const second = w.step('deploy', deploy, { host }, { ...once, after: [first] });
  w.step('check', check, { host }, { recovery: [retry(0)], after: [second] });
  return { host: second.output['host'] as never };
});

const rollout = (options: object): Workflow =>
  workflow('rollout', { input, within: '6h' }, (w) => {
    const { hosts } = w.input as never as { hosts: never };
    const all = w.map('hosts', deployHost, hosts, (host) => ({ host }) as never, options);
    return { total: all.output.total, failed: all.output.failed };
  }) as Workflow;

/** The effects in place, by host. */
function fleet(bad: ReadonlySet<number> = new Set()) {
  const stands = new Map<string, number>();
  const doubled: string[] = [];
  const of = (service: string) => ({
    execute: async ({ idempotencyKey }: { idempotencyKey: string }, given: unknown): Promise<object> => {
      const { host } = given as { host: number };
      if (service === 'check' && bad.has(host)) throw new PermanentError('it does not answer');
      const name = `${service} ${host}`;
      const known = [...stands].find(([key]) => key === idempotencyKey);
      if (known === undefined && stands.has(name)) doubled.push(name);
      stands.set(idempotencyKey, host);
      return { host };
    },
    undo: async ({ idempotencyKey }: { idempotencyKey: string }): Promise<void> => {
      stands.delete(idempotencyKey);
    },
  });
  const implementations = { drain: of('drain'), deploy: of('deploy'), check: of('check') };
  const hostsOf = (service: string): number[] =>
    [...stands].flatMap(([key, host]) => (key.includes(`.${service}.`) ? [host] : [])).sort((a, b) => a - b);
  return { stands, doubled, implementations, hostsOf };
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
const begin = async (h: Harness, count: number): Promise<string> =>
  (await h.begin({ hosts: upTo(count) } as never)).id;

describe('200 hosts, each drained, deployed and checked', () => {
  it('succeed with 5 % that fail: those are undone, and the others stand, once each', async () => {
    const bad = new Set([3, 27, 28, 60, 99, 120, 121, 122, 180, 199]);
    const { implementations, hostsOf } = fleet(bad);
    const h = harness(rollout({ mayFail: '5%' }), implementations as never);
    const id = await begin(h, 200);
    const { execution, steps } = await h.run(id);
    expect(execution).toMatchObject({ status: 'succeeded', output: { total: 200, failed: 10 } });
    const good = upTo(200).filter((host) => !bad.has(host));
    expect(hostsOf('drain')).toEqual(good);
    expect(hostsOf('deploy')).toEqual(good);
    expect(steps['hosts']?.children?.count).toBe(8);
    const output = steps['hosts']?.output as { items: ({ host: number } | null)[] } | undefined;
    expect(output?.items.map((item) => item?.host ?? null)).toEqual(
      upTo(200).map((host) => (bad.has(host) ? null : host)),
    );
    const item = await h.state(`${id}.hosts.1.27.0`);
    expect(item.execution).toMatchObject({
      status: 'compensated',
      workflow: 'deploy-host',
      plan: expect.stringMatching(/\.hosts\.25x10x25\.hosts\[27\]$/),
    });
  });

  it('are all undone where one more fails', async () => {
    const { implementations, stands } = fleet(new Set(upTo(11)));
    const h = harness(rollout({ mayFail: '5%' }), implementations as never);
    const id = await begin(h, 200);
    expect((await h.run(id, { maxMs: 6 * 3_600_000 })).execution.status).toBe('compensated');
    expect([...stands].filter(([key]) => !key.includes('.check.'))).toEqual([]);
  });
});

describe('a list of workflows', () => {
  it.each<Fault>(['before', 'after'])(
    'loses and doubles nothing, whichever write a process dies %s',
    async (fault) => {
      const bad = new Set([2]);
      const good = upTo(5).filter((host) => !bad.has(host));
      for (let nth = 1; nth <= 110; nth += fault === 'before' ? 2 : 3) {
        const { implementations, hostsOf } = fleet(bad);
        const h = harness(rollout({ mayFail: 1, concurrency: 2 }), implementations as never, 1, (world) =>
          failingWrite(world, nth, fault),
        );
        const id = await begin(h, 5);
        const { execution } = await h.run(id);
        expect([nth, execution.output]).toEqual([nth, { total: 5, failed: 1 }]);
        expect(hostsOf('deploy')).toEqual(good);
      }
    },
  );

  it('has so many under way at once as it says', async () => {
    const { implementations } = fleet();
    let open = 0;
    let most = 0;
    const h = harness(rollout({ concurrency: 3 }), {
      ...implementations,
      drain: {
        ...implementations.drain,
        execute: async (ctx: { idempotencyKey: string }, given: unknown) => {
          open += 1;
          most = Math.max(most, open);
          await h.clock.sleep(1_000);
          return implementations.drain.execute(ctx, given);
        },
      },
      check: {
        execute: async () => {
          open -= 1;
          return {};
        },
      },
    } as never);
    const id = await begin(h, 12);
    expect((await h.run(id)).execution.status).toBe('succeeded');
    expect(most).toBe(3);
  });

  it.each([
    ['is undone when it is stopped', {}, []],
    ["stays where its undo is 'none'", { undo: 'none' }, upTo(30)],
  ])('%s', async (_, options, left) => {
    const { implementations, hostsOf } = fleet();
    const flow = workflow('then', { input, within: '6h' }, (w) => {
      const { hosts } = w.input as never as { hosts: never };
      const all = w.map('hosts', deployHost, hosts, (host) => ({ host }) as never, options as never);
      w.wait('rest', { for: '1h', after: [all] });
    }) as Workflow;
    const h = harness(flow, implementations as never);
    const id = await begin(h, 30);
    await h.run(id, { until: ({ steps }: Snapshot) => steps['hosts']?.status === 'done' });
    await cancel(h.scheduler, id, {});
    expect((await h.run(id)).execution.status).toBe('canceled');
    expect(hostsOf('deploy')).toEqual(left);
  });
});
