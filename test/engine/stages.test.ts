/**
 * The pattern's central case: an encoder stalls twice at 47 %, its attempt is fenced, and it runs again at
 * 720p, with and without an effect to undo.
 */

import type { AttemptContext } from '../../lib/core/plan/agent.ts';
import { retry, useAgent, withInput, workflow } from '../../lib/author/builder/workflow.ts';
import { cancel, pause, resume } from '../../lib/scheduler/commands.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import type { ClaimedAttempt } from '../../lib/core/decisions/events.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { recordDeath } from '../../lib/engine/death.ts';
import { type Harness, PROCESS_MS, anAgent, anyObject, drain, harness, settle } from './harness.ts';
import { aProcess, deferred, never, type Process } from './process.ts';

const SETTLE_MS = 5_000;
const LIMITS = { lease: '10s', progressWithin: '4s', timeout: '50s' } as const;
const RECOVERY = [retry(1, { delay: '1s', maxDelay: '1s' }), withInput({ height: 720 })];

type Options = Parameters<typeof anAgent>[1];
const encoding = (options: Options, recovery: readonly unknown[] = RECOVERY) =>
  workflow('encoding', { input: anyObject, within: '1d' }, (w) => {
    const agent = anAgent('encoder', { ...LIMITS, ...options });
    const file = w.step('encode', agent, { height: 1080 }, { recovery: recovery as never });
    return { height: file.output['height'] };
  });

interface Done {
  readonly what: string;
  readonly key: string;
  readonly at: number;
}

/** An encoder that stalls at 47 % for the height 1080. */
function encoder(flow: ReturnType<typeof encoding>, settings: Parameters<typeof harness>[4] = {}) {
  const done: Done[] = [];
  const implementations = {
    encoder: {
      execute: async (ctx: AttemptContext, input: unknown) => {
        const { height } = input as { height: number };
        done.push({ what: `encode ${height}`, key: ctx.idempotencyKey, at: h.clock.now() });
        if (height === 720) return { height };
        for (let share = 0.1; !ctx.signal.aborted; share = Math.min(0.47, share + 0.1)) {
          await h.clock.sleep(1_000);
          ctx.progress(share);
        }
        return never;
      },
      undo: async (ctx: AttemptContext, input: unknown, output: unknown) => {
        const { height } = input as { height: number };
        done.push({
          what: `undo ${height} ${output === undefined}`,
          key: ctx.idempotencyKey,
          at: h.clock.now(),
        });
      },
    },
  };
  const h: Harness = harness(flow, implementations, 1, undefined, settings);
  return { h, done };
}

const HOURS_MS = 6 * 3_600_000;
const GRACE_MS = 2_000;
/**
 * Simulates containers: each message has its own process that may live for hours; its worker kills it when
 * its lease is lost.
 */
function inContainers(flow: ReturnType<typeof encoding>) {
  const processes: Process[] = [];
  const killedAt: number[] = [];
  let claimed: { readonly attempt: ClaimedAttempt; readonly process: Process | undefined } | undefined;
  const kill = async (): Promise<void> => {
    const { attempt, process } = claimed ?? {};
    await h.clock.sleep(GRACE_MS);
    process?.kill();
    killedAt.push(h.clock.now());
    if (attempt !== undefined) await recordDeath(h, new Map(), attempt);
  };
  const listener = {
    claimed: (attempt: ClaimedAttempt) => {
      claimed = { attempt, process: processes.at(-1) };
    },
    leaseLost: () => void kill(),
  };
  const { h, done } = encoder(flow, { listener, processMs: HOURS_MS });
  const portsOf = () => {
    processes.push(aProcess(h));
    return processes.at(-1)?.ports;
  };
  return { h, done, killedAt, portsOf };
}

describe('an encoder that stalls twice at 47 %', () => {
  it('has no lasting effect: it runs again at 720p when the former process is dead for certain and settled', async () => {
    const { h, done } = encoder(encoding({ effect: 'none' }));
    const { id } = await h.begin();
    const { execution, steps, questions } = await h.run(id);
    expect(execution).toMatchObject({ status: 'succeeded', output: { height: 720 } });
    expect(questions ?? {}).toEqual({});
    expect(done.map(({ what }) => what)).toEqual(['encode 1080', 'encode 1080', 'encode 720']);
    expect(steps['encode']?.attempts.map(({ failure }) => failure?.code)).toEqual([
      'no-progress',
      'no-progress',
      undefined,
    ]);
    const [, second, third] = done;
    expect((third?.at ?? 0) - (second?.at ?? 0)).toBeGreaterThanOrEqual(PROCESS_MS + SETTLE_MS);
    expect(third?.key).toBe(`${second?.key}-2`);
    expect(steps['encode']).toMatchObject({ mayHaveActed: false });
  });

  it('has an undo: that comes first, with the agent, input and key of what it takes back, and without output', async () => {
    const { h, done } = encoder(encoding({ effect: 'idempotent' }));
    const { id } = await h.begin();
    const { execution, questions } = await h.run(id);
    expect(execution).toMatchObject({ status: 'succeeded', output: { height: 720 } });
    expect(questions ?? {}).toEqual({});
    expect(done.map(({ what }) => what)).toEqual([
      'encode 1080',
      'encode 1080',
      'undo 1080 true',
      'encode 720',
    ]);
    const [, second, undone, last] = done;
    expect(undone?.key).toBe(second?.key);
    expect((undone?.at ?? 0) - (second?.at ?? 0)).toBeGreaterThanOrEqual(PROCESS_MS + SETTLE_MS);
    expect(last?.key).toBe(`${second?.key}-2`);
  });

  it('can be neither left nor undone: a person is asked, although no stage says so', async () => {
    const { h, done } = encoder(encoding({ probe: 'none', undo: 'none' }));
    const { id } = await h.begin();
    const { questions } = await h.run(id, { until: (state) => state.questions?.[1] !== undefined });
    expect(questions?.[1]).toMatchObject({ kind: 'recovery', step: 'encode' });
    expect(done.map(({ what }) => what)).toEqual(['encode 1080', 'encode 1080']);
  });
});

describe('an encoder in a container that stalls twice at 47 %', () => {
  it.each([
    ['none', ['encode 1080', 'encode 1080', 'encode 720']],
    ['idempotent', ['encode 1080', 'encode 1080', 'undo 1080 true', 'encode 720']],
  ] as const)(
    'is killed each time, and runs again at 720p within seconds, not after its timeout of hours (effect %s, S10)',
    async (effect, expected) => {
      const { h, done, killedAt, portsOf } = inContainers(encoding({ effect }));
      const { id } = await h.begin();
      const { execution, steps } = await h.run(id, { portsOf });
      expect(execution).toMatchObject({ status: 'succeeded', output: { height: 720 } });
      expect(done.map(({ what }) => what)).toEqual(expected);
      const [, second, next] = done;
      // It is alive for 3 s, stalls for 4, and has 2 to end; then its requests, and two clocks, get their
      // time.
      const stalledMs = 3_000 + 4_000 + GRACE_MS;
      const betweenMs = (next?.at ?? 0) - (second?.at ?? 0);
      expect(betweenMs).toBeGreaterThanOrEqual(stalledMs + SETTLE_MS);
      expect(betweenMs).toBeLessThan(stalledMs + SETTLE_MS + 10_000);
      // The second had begun before the first was killed: that death has a token that is not the latest.
      expect(second?.at).toBeLessThan(killedAt[0] ?? 0);
      expect(steps['encode']?.attempts.map(({ failure }) => failure?.code).slice(0, 2)).toEqual([
        'no-progress',
        'no-progress',
      ]);
    },
  );
});

describe('an undo between two stages', () => {
  const toUndo = async () => {
    const { h, done } = encoder(encoding({}));
    const { id } = await h.begin();
    await h.run(id, { until: ({ steps }) => steps['encode']?.nextStage !== undefined });
    return { h, done, id };
  };

  it('is the final one where the execution is stopped meanwhile, and is not made twice', async () => {
    const { h, done, id } = await toUndo();
    await cancel(h.scheduler, id, { commandId: 'c' });
    const { execution, steps } = await h.run(id);
    expect([execution.status, steps['encode']?.status]).toEqual(['canceled', 'compensated']);
    expect(done.map(({ what }) => what).slice(2)).toEqual(['undo 1080 true']);
  });

  it('is not begun where the execution ends as it is, also by a process that read before', async () => {
    const { h, done, id } = await toUndo();
    const state = await h.state(id);
    await cancel(h.scheduler, id, { commandId: 'c', undo: false });
    const end = await h.run(id);
    expect(end.execution.status).toBe('failed');
    expect(end.steps['encode']?.nextStage).toBeUndefined();
    expect(end.steps['encode']?.version).toBeGreaterThan(state.steps['encode']?.version ?? 0);
    expect(done.map(({ what }) => what)).not.toContain('undo 1080 true');
  });

  it('waits for the end of a pause, and so does the next stage', async () => {
    const { h, done, id } = await toUndo();
    await pause(h.scheduler, id, { commandId: 'p' });
    h.clock.advanceTo(h.clock.now() + 3_600_000);
    await h.sweep();
    await drain(h);
    expect((await h.state(id)).steps['encode']).toMatchObject({ status: 'failed' });
    expect(done).toHaveLength(2);
    await resume(h.scheduler, id, { commandId: 'r' });
    expect((await h.run(id)).execution.status).toBe('succeeded');
    expect(done.map(({ what }) => what).slice(2)).toEqual(['undo 1080 true', 'encode 720']);
  });

  it.each([
    ['skip', 'succeeded'],
    ['keep', 'failed'],
  ] as const)('that fails for good is a question: %s', async (choice, status) => {
    const { h, done, id } = await toUndo();
    const undo = h.implementations['encoder']?.undo;
    h.implementations['encoder'] = {
      ...(h.implementations['encoder'] as object as { execute: never }),
      undo: async () => {
        throw new PermanentError('locked');
      },
    };
    const asked = await h.run(id, { until: ({ questions }) => questions?.[1] !== undefined });
    expect(asked.questions?.[1]).toMatchObject({ kind: 'undo', otherwise: 'keep' });
    expect(asked.execution.status).toBe('waiting');
    await h.run(id, { maxMs: 2 * PROCESS_MS, until: () => h.clock.now() > 0 });
    h.clock.advanceTo(h.clock.now() + 2 * PROCESS_MS);
    if (undo !== undefined) h.implementations['encoder'] = { ...h.implementations['encoder'], undo };
    await resolveIncident(h.scheduler, id, { incident: 1, choice });
    expect((await h.run(id)).execution.status).toBe(status);
    expect(done.some(({ what }) => what === 'encode 720')).toBe(choice === 'skip');
  });

  it('is not needed where the former attempt succeeds late; once it is claimed, that is refused', async () => {
    const other = anAgent('other');
    const flow = workflow('late', { input: anyObject, within: '1d' }, (w) => {
      w.step('encode', anAgent('encoder'), {}, { recovery: [useAgent(other as never)] });
    });
    const run = async (until: 'failed' | 'compensating') => {
      const slow = deferred<object>();
      const undoing = deferred<void>();
      const h = harness(flow, {
        encoder: { execute: () => slow.promise, undo: () => undoing.promise },
        other: { execute: async () => ({ by: 'other' }), undo: async () => undefined },
      });
      const frozen = aProcess(h);
      const { id } = await h.begin();
      const portsOf = ({ message }: { message: { mode: string } }) =>
        message.mode === 'execute' ? frozen.ports : undefined;
      await h.run(id, { portsOf, until: ({ steps }) => steps['encode']?.status === 'running' });
      frozen.freeze();
      await h.run(id, { until: ({ steps }) => steps['encode']?.status === until });
      slow.resolve({ by: 'encoder' });
      frozen.thaw();
      await settle();
      undoing.resolve();
      return (await h.run(id)).steps['encode']?.output;
    };
    expect(await run('failed')).toEqual({ by: 'encoder' });
    expect(await run('compensating')).toEqual({ by: 'other' });
  });
});
