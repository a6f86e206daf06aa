/** An agent dies, freezes, is slow, or does not know its outcome: P2, P7, L2, S4, S5, S6, S9. */

import type { AttemptContext } from '../../lib/core/plan/agent.ts';
import type { Verdict } from '../../lib/core/plan/answers.ts';
import { PermanentError, TransientError } from '../../lib/core/values/errors.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import { anAgent, anyObject, harness, PROCESS_MS } from '../engine/harness.ts';
import { aProcess, never } from '../engine/process.ts';

/** An agent with leases and pickup times of 10 s, timeout 30 s, settle 5 s; a process lives 60 s. */
const safe = anAgent('safe');
const asked = anAgent('asked', { effect: 'probed' });
const LEASE_MS = 10_000;
const MARGIN_MS = 1_000;
const SETTLE_MS = 5_000;
const recovery = [retry(3, { delay: '1s', maxDelay: '5s' })];

const single = (agent: typeof safe) =>
  workflow('single', { input: anyObject, within: '1h' }, (w) => {
    const it = w.step('it', agent, {}, { recovery });
    return { it: it.output };
  });
const undo = async (): Promise<void> => undefined;
const noProbe = async (): Promise<Verdict<unknown>> => ({ verdict: 'cannot-tell' });

describe('an agent that dies after its claim', () => {
  it('of an idempotent step is noticed when its lease ends, and the step is tried again (L2)', async () => {
    const startedAt: number[] = [];
    const execute = async (): Promise<object> => {
      startedAt.push(h.clock.now());
      if (startedAt.length > 1) return { try: 2 };
      doomed.kill();
      return never;
    };
    const h = harness(single(safe), { safe: { execute, undo } });
    const doomed = aProcess(h);
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id, {
      portsOf: ({ message }) => (message.attempt === 1 ? doomed.ports : undefined),
    });
    expect(execution).toMatchObject({ status: 'succeeded', output: { it: { try: 2 } } });
    expect(steps['it']?.attempts).toMatchObject([
      { number: 1, outcome: 'unknown', failure: { code: 'lease-ended' } },
      { number: 2, outcome: 'done' },
    ]);
    expect((startedAt[1] ?? 0) - (startedAt[0] ?? 0)).toBeLessThanOrEqual(LEASE_MS + MARGIN_MS);
  });

  it('of a probed step is asked about before anything is repeated (P2)', async () => {
    const calls: string[] = [];
    const execute = async (): Promise<object> => {
      calls.push('execute');
      doomed.kill();
      return never;
    };
    const probe = async (): Promise<Verdict<unknown>> => {
      calls.push('probe');
      return { verdict: 'done', output: { found: true } };
    };
    const h = harness(single(asked), { asked: { execute, probe, undo } });
    const doomed = aProcess(h);
    const { id } = await h.begin();
    const first = h.clock.now();
    const { execution, steps } = await h.run(id, {
      portsOf: ({ message }) => (message.mode === 'execute' ? doomed.ports : undefined),
    });
    expect(execution).toMatchObject({ status: 'succeeded', output: { it: { found: true } } });
    expect(calls).toEqual(['execute', 'probe']);
    expect(steps['it']).toMatchObject({ status: 'done', attempt: 1 });
    // A probe's 'done' counts at once, long before the process is certainly dead.
    expect(h.clock.now() - first).toBeLessThan(PROCESS_MS);
  });

  it('is believed to have done nothing only when it is dead for certain and all has settled (S6)', async () => {
    const probedAt: number[] = [];
    const executedAt: number[] = [];
    const execute = async (): Promise<object> => {
      executedAt.push(h.clock.now());
      if (executedAt.length > 1) return {};
      doomed.kill();
      return never;
    };
    const probe = async (): Promise<Verdict<unknown>> => {
      probedAt.push(h.clock.now());
      return { verdict: 'not-done' };
    };
    const h = harness(single(asked), { asked: { execute, probe, undo } });
    const doomed = aProcess(h);
    const { id } = await h.begin();
    const deadAt = h.clock.now() + PROCESS_MS;
    const { execution, steps } = await h.run(id, {
      portsOf: ({ message }) =>
        message.mode === 'execute' && message.attempt === 1 ? doomed.ports : undefined,
    });
    expect(execution.status).toBe('succeeded');
    expect(probedAt).toHaveLength(2);
    expect(probedAt[0]).toBeLessThan(deadAt);
    expect(probedAt[1]).toBeGreaterThanOrEqual(deadAt + SETTLE_MS);
    expect(executedAt[1]).toBeGreaterThanOrEqual(deadAt + SETTLE_MS);
    expect(steps['it']).toMatchObject({ attempt: 2, mayHaveActed: false });
  });

  it('while a probe is under way is asked about again', async () => {
    let probes = 0;
    const execute = async (): Promise<object> => {
      throw new Error('socket hang up');
    };
    const probe = async (): Promise<Verdict<unknown>> => {
      probes += 1;
      if (probes > 1) return { verdict: 'done', output: {} };
      doomed.kill();
      return never;
    };
    const h = harness(single(asked), { asked: { execute, probe, undo } });
    const doomed = aProcess(h);
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id, {
      portsOf: ({ message }) => (message.mode === 'probe' && probes === 0 ? doomed.ports : undefined),
    });
    expect(execution.status).toBe('succeeded');
    expect(steps['it']?.attempts).toMatchObject([
      { mode: 'execute', outcome: 'unknown' },
      { mode: 'probe', outcome: 'cannot-tell' },
      { mode: 'probe', outcome: 'done' },
    ]);
  });
});

describe('an agent that works', () => {
  it('keeps its lease by heartbeats for as long as it works, and nobody intervenes (S4)', async () => {
    let tries = 0;
    const execute = async (): Promise<object> => {
      tries += 1;
      await h.clock.sleep(29_000);
      return {};
    };
    const h = harness(single(safe), { safe: { execute, undo } });
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id);
    expect(execution.status).toBe('succeeded');
    expect([tries, steps['it']?.attempt]).toEqual([1, 1]);
    expect(steps['it']?.heartbeat).toBeGreaterThanOrEqual(8);
    const noted = h.notes.map(({ what }) => what);
    for (const what of ['lease-ended', 'dispatched']) expect(noted).not.toContain(what);
  });

  it('longer than its timeout is aborted, and its outcome is unknown', async () => {
    let signal: AttemptContext['signal'] | undefined;
    const execute = async (ctx: AttemptContext): Promise<object> => {
      signal = ctx.signal;
      return never;
    };
    const probe = async (): Promise<Verdict<unknown>> => ({ verdict: 'done', output: {} });
    const h = harness(single(asked), { asked: { execute, probe, undo } });
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id);
    expect(signal?.aborted).toBe(true);
    expect(execution.status).toBe('succeeded');
    expect(steps['it']?.attempts).toMatchObject([
      { outcome: 'unknown', failure: { code: 'timeout' } },
      { mode: 'probe', outcome: 'done' },
    ]);
  });

  it('and answers the abort in time has its answer counted', async () => {
    const execute = (ctx: AttemptContext): Promise<object> =>
      new Promise((_, reject) => {
        ctx.signal.addEventListener('abort', () => reject(new PermanentError('stopped before it began')));
      });
    const h = harness(single(asked), { asked: { execute, probe: noProbe, undo } });
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id);
    expect(execution.status).toBe('failed');
    expect(steps['it']?.attempts).toMatchObject([{ outcome: 'failed', failure: { code: 'PermanentError' } }]);
  });

  it('and asks for a pause between attempts gets it', async () => {
    const startedAt: number[] = [];
    const execute = async (): Promise<object> => {
      startedAt.push(h.clock.now());
      if (startedAt.length === 1) throw new TransientError('429', { retryAfter: '2m' });
      return {};
    };
    const h = harness(single(safe), { safe: { execute, undo } });
    const { id } = await h.begin();
    const { execution } = await h.run(id, { supervised: false });
    expect(execution.status).toBe('succeeded');
    expect((startedAt[1] ?? 0) - (startedAt[0] ?? 0)).toBeGreaterThanOrEqual(120_000);
  });

  it('gets as many attempts as its recovery has, and no more', async () => {
    let tries = 0;
    const execute = async (): Promise<object> => {
      tries += 1;
      throw new TransientError('503');
    };
    const h = harness(single(safe), { safe: { execute, undo } });
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id);
    expect([tries, steps['it']?.attempt, steps['it']?.status]).toEqual([4, 4, 'failed']);
    expect(execution).toMatchObject({ status: 'failed', cause: { kind: 'failure', step: 'it' } });
  });
});

describe('an agent that froze past its lease and comes back with a result', () => {
  const frozenRun = async (deliverable: (mode: string) => boolean, thawIn: string) => {
    let tries = 0;
    const execute = async (): Promise<object> => {
      tries += 1;
      if (tries > 1) {
        await h.clock.sleep(8_000);
        return { by: 'the second' };
      }
      sleepy.freeze();
      return { by: 'the first' };
    };
    const agent = thawIn === 'unknown' ? asked : safe;
    const h = harness(single(agent), { [agent.spec.name]: { execute, probe: noProbe, undo } });
    const sleepy = aProcess(h);
    const { id } = await h.begin();
    const portsOf = ({ message }: { message: { attempt: number; mode: string } }) =>
      message.attempt === 1 && message.mode === 'execute' ? sleepy.ports : undefined;
    await h.run(id, {
      portsOf,
      deliverable: ({ message }) => deliverable(`${message.mode} ${message.attempt}`),
      until: ({ steps }) =>
        steps['it']?.status === thawIn && (thawIn !== 'running' || steps['it'].attempt === 2),
    });
    sleepy.thaw();
    const { execution, steps } = await h.run(id, { portsOf, deliverable: () => true });
    return { execution, step: steps['it'], tries, notes: h.notes.map(({ what }) => what) };
  };

  it.each([
    ['unknown', 'probe 1'],
    ['retrying', 'execute 2'],
  ])('is taken at its word while the step is %s: late success counts (P7, S5)', async (status, held) => {
    const { execution, step, tries, notes } = await frozenRun((message) => message !== held, status);
    expect(execution).toMatchObject({ status: 'succeeded', output: { it: { by: 'the first' } } });
    expect(step).toMatchObject({ status: 'done', attempt: 1 });
    expect(tries).toBe(1);
    expect(notes).toContain('adopted');
  });

  it('is refused once somebody else has claimed the step (S4, S5)', async () => {
    const { execution, step, tries, notes } = await frozenRun(() => true, 'running');
    expect(execution).toMatchObject({ status: 'succeeded', output: { it: { by: 'the second' } } });
    expect(step).toMatchObject({ status: 'done', attempt: 2 });
    expect(tries).toBe(2);
    expect(notes).not.toContain('adopted');
  });
});

describe('a probe', () => {
  it('that says "running" is asked again a lease later, until it can tell', async () => {
    const probedAt: number[] = [];
    const execute = async (): Promise<object> => {
      throw new Error('socket hang up');
    };
    const probe = async (): Promise<Verdict<unknown>> => {
      probedAt.push(h.clock.now());
      return probedAt.length < 4 ? { verdict: 'running' } : { verdict: 'done', output: {} };
    };
    const h = harness(single(asked), { asked: { execute, probe, undo } });
    const { id } = await h.begin();
    const { execution } = await h.run(id, { supervised: false });
    expect(execution.status).toBe('succeeded');
    const gaps = probedAt.slice(1).map((at, index) => at - (probedAt[index] ?? 0));
    expect(gaps).toEqual([LEASE_MS, LEASE_MS, LEASE_MS]);
  });

  it('that can never tell is given up, and the step is undone as one that may have acted (S10)', async () => {
    const undone: string[] = [];
    const execute = async (): Promise<object> => {
      throw new Error('socket hang up');
    };
    const spy = async (ctx: AttemptContext, _: unknown, output: unknown): Promise<void> => {
      undone.push(`${ctx.step} ${String(output)}`);
    };
    const h = harness(single(asked), { asked: { execute, probe: noProbe, undo: spy } });
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id, { supervised: false });
    expect(execution.status).toBe('compensated');
    expect(steps['it']).toMatchObject({ status: 'compensated', probes: 20 });
    expect(undone).toEqual(['it undefined']);
  });
});
