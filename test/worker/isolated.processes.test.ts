/** Calls to an agent's own process: input, output, and the report of a call that never began. */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { perform } from '../../lib/agent/author-code.ts';
import {
  type AttemptContext,
  declareAgent,
  type Implementation,
  PROCESS_TIME_LEFT_MS,
} from '../../lib/core/plan/agent.ts';
import type { Mode } from '../../lib/core/records/state.ts';
import { performedIn, ProcessPool } from '../../lib/worker/isolated.ts';
import type { Trouble } from '../../lib/worker/isolated-words.ts';

const ANY = { input: z.any(), output: z.any(), effect: 'probed' } as const;
const agent = declareAgent('alone', { ...ANY, lease: '20s' });
const lines: unknown[] = [];
const quiet = (): void => undefined;
const UNSHOWN = 'what was thrown cannot be shown';

interface Own {
  readonly implementation: Implementation<unknown, unknown>;
  readonly stop: () => Promise<void>;
}

function programOf(file: string): Own {
  const program = { entry: join(import.meta.dirname, 'isolated', file), execArgv: ['--import', 'tsx'] };
  const pool = new ProcessPool(program, { isShared: false, now: Date.now });
  return { implementation: performedIn(agent, () => pool), stop: () => pool.stop() };
}

const contextOf = (more: Partial<AttemptContext> = {}): AttemptContext => ({
  executionId: 'e',
  step: 's',
  attempt: 1,
  idempotencyKey: 'e.s',
  timeLeftMs: () => 60_000,
  signal: new AbortController().signal as never,
  progress: quiet,
  log: { debug: quiet, info: (...line) => void lines.push(line), warn: quiet, error: quiet },
  ...more,
});

const called = (of: Own, mode: Mode, input: object, ctx = contextOf()) =>
  perform(
    { agent, implementation: of.implementation },
    { mode, ctx, input: input as never, output: undefined },
  );

describe('a call of a process of its own', () => {
  const own = programOf('agent.ts');
  afterAll(() => own.stop());
  const answer = (way: string, ctx = contextOf(), at?: unknown) =>
    own.implementation.execute(ctx, { way, at });
  const execute = (way: string) => called(own, 'execute', { way });

  it('gets the input that the schema has made, not its JSON', async () => {
    expect(await answer('x', contextOf(), new Date(0))).toEqual({ way: 'x', isDate: true });
  });

  it('fails for good where its code throws a PermanentError of a name of its own', async () => {
    expect(await execute('declines')).toMatchObject({
      kind: 'failed',
      permanent: true,
      failure: { code: 'CardDeclined', message: 'declined' },
    });
  });

  it('fails as it says where what it throws cannot be read', async () => {
    const failure = { message: UNSHOWN };
    expect(await execute('unreadable')).toMatchObject({ kind: 'failed', permanent: true, failure });
    const message = expect.stringContaining(`nothing awaited: Error: ${UNSHOWN}`) as string;
    expect(await execute('unreadable, unawaited')).toMatchObject({ failure: { message } });
  });

  it('fails at once where it cuts itself off from its caller', async () => {
    const message = expect.stringContaining('it called process.disconnect()') as string;
    expect(await execute('disconnects')).toMatchObject({ failure: { message } });
  });

  it('is called although it has removed all listeners of its process', async () => {
    for (const way of ['listens to nothing', 'x']) expect(await answer(way)).toHaveProperty('way', way);
    expect(await execute('unreadable, unawaited')).toMatchObject({ failure: { code: 'process-died' } });
  });

  it('answers without what JSON leaves out', async () => {
    expect(await answer('function')).toEqual({ way: 'function' });
  });

  it('has done its work where its output cannot leave the process: a wrong answer', async () => {
    expect(await execute('promise')).toMatchObject({ kind: 'wrong-answer', failure: { code: 'bad-output' } });
    const found = await called(own, 'probe', { way: 'found' });
    expect(found).toMatchObject({ kind: 'wrong-answer', failure: { code: 'bad-output' } });
  });

  // Before the tests below, after which the process drops lines for up to a second.
  it('logs what cannot be sent as text, and goes on', async () => {
    lines.length = 0;
    await answer('logs');
    expect(lines).toEqual([
      ['a line', { shown: expect.any(String) as string }],
      ['undefined', expect.objectContaining({ message: UNSHOWN })],
    ]);
  });

  it('sends nothing that its caller cannot read', async () => {
    lines.length = 0;
    const failure = { code: 'bad-output' };
    expect(await execute('is its own cause')).toMatchObject({ kind: 'wrong-answer', failure });
    expect(lines[0]).toEqual(['a circle', { shown: expect.any(String) as string }]);
    expect(lines).toHaveLength(80);
    lines.length = 0;
  });

  it('sends nothing that keeps its caller busy', async () => {
    lines.length = 0;
    const message = expect.stringMatching(/it cannot be sent: it has more than \d+ characters/) as string;
    const failure = { code: 'bad-output', message };
    const said: (string | number)[] = [];
    const ctx = contextOf({ progress: (token) => void said.push(token) });
    expect(await called(own, 'execute', { way: 'too long' }, ctx)).toMatchObject({
      kind: 'wrong-answer',
      failure,
    });
    expect(String(said[0])).toHaveLength(4_096);
    expect(JSON.stringify(lines).length).toBeLessThan(300_000);
    lines.length = 0;
  });

  it.each<[string, number, number]>([
    ['logs without end', 300_000, 30_000],
    ['logs long lines', 100, 50],
  ])('%s: most lines are dropped and counted', async (way, said, most) => {
    const dropped: number[] = [];
    let sent = 0;
    const log = {
      ...contextOf().log,
      info: () => void (sent += 1),
      warn: (_: string, fields: object = {}) => void dropped.push(Number(Object(fields).dropped)),
    };
    await answer(way, contextOf({ log }));
    expect(sent).toBeLessThan(most);
    expect(dropped.length).toBeGreaterThan(0);
    expect(dropped.reduce((sum, one) => sum + one, sent)).toBe(said);
  });

  it.each(['too many', 'too many, of no JSON'])('sends not %s', async (way) => {
    const message = expect.stringMatching(/it has more than 300000 values or 50000 different keys/) as string;
    const failure = { code: 'bad-output', message };
    expect(await execute(way)).toMatchObject({ kind: 'wrong-answer', failure });
  });

  it('is undone whatever its undo returns', async () => {
    expect(await called(own, 'undo', { way: 'x' })).toMatchObject({ kind: 'compensated' });
  });

  it('reports cannot-tell if the probe returns no verdict', async () => {
    expect(await called(own, 'probe', { way: 'tells' })).toMatchObject({
      kind: 'found',
      verdict: 'cannot-tell',
    });
  });

  it('survives what the author or a library says on the channel', async () => {
    expect(await answer('says what is no word')).toHaveProperty('way');
    // Earlier messages are handled by now.
    expect(await answer('x')).toHaveProperty('way');
  });

  it('is told of time that a pause of its execution gives back', async () => {
    let leftMs = 0;
    const more = { timeLeftMs: () => leftMs, progress: () => void (leftMs = 60_000) };
    const told = (await answer('awaits time', contextOf(more))) as { readonly leftMs: number };
    expect(told.leftMs).toBeGreaterThan(0);
  });

  it('is told of time that is given back while it passes', async () => {
    const told = await answer('watches its time', contextOf({ timeLeftMs: () => 30_000 }));
    expect(told).toEqual({ isGivenBack: true });
  });
  it('sends the latest progress, not each', async () => {
    const said: (string | number)[] = [];
    await answer('reports', contextOf({ progress: (token) => void said.push(token) }));
    expect(said.at(-1)).toBe(99_999);
    expect(said.length).toBeLessThan(10_000);
  });

  it('takes nothing for its own that an earlier call still says', async () => {
    await answer('reports later');
    const said: unknown[] = [];
    await answer('x', contextOf({ progress: (token) => void said.push(token) }));
    expect(said).toEqual([]);
  });

  it('keeps no answer of an earlier one as long as the process lives', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const kept: WeakRef<object>[] = [];
    for (let at = 0; at < 20; at += 1) kept.push(new WeakRef((await answer('big')) as object));
    for (let turn = 0; turn < 3; turn += 1) {
      await new Promise((over) => setImmediate(over));
      collect();
    }
    expect(kept.filter((one) => one.deref() !== undefined).length).toBeLessThan(3);
  });

  it('has a bug where its code has one, and where fetch fails none', async () => {
    expect(await execute('bug')).toMatchObject({
      kind: 'unknown',
      failure: {
        code: 'bug',
        message: expect.stringMatching(
          /^a bug in agent 'alone': TypeError: Cannot read .*\(isolated\/agent\.ts:\d+\)$/,
        ) as string,
      },
    });
    expect(await execute('fetch fails')).toMatchObject({
      kind: 'unknown',
      failure: { code: 'TypeError', message: 'fetch failed: ECONNREFUSED refused' },
    });
  });

  it('is of unknown outcome where its process dies', async () => {
    expect(await execute('dies')).toMatchObject({ kind: 'unknown', failure: { code: 'process-died' } });
  });
});

describe('a call that never began has certainly done nothing', () => {
  it('where its process died while it was loading', async () => {
    const own = programOf('dead.ts');
    const report = await called(own, 'execute', {});
    expect(report).toMatchObject({
      kind: 'failed',
      permanent: false,
      failure: { code: 'process-died', message: expect.stringContaining('before it began: exit code 3') },
    });
  });

  it('where it was aborted before: the process is ready for the next', async () => {
    const own = programOf('agent.ts');
    const signal = AbortSignal.abort() as never;
    expect(await called(own, 'execute', { way: 'dies' }, contextOf({ signal }))).toMatchObject({
      kind: 'failed',
      failure: { code: 'not-begun' },
    });
    expect(await own.implementation.execute(contextOf(), { way: 'x' })).toHaveProperty('way');
    await own.stop();
  });

  it('where its input cannot be sent', async () => {
    const own = programOf('agent.ts');
    expect(await called(own, 'execute', { way: 'x', at: () => 1 })).toMatchObject({
      kind: 'failed',
      permanent: true,
      failure: { code: 'input-unsendable' },
    });
    expect(await own.implementation.execute(contextOf(), { way: 'x' })).toHaveProperty('way');
    await own.stop();
  });
});

describe('where no process can be started', () => {
  const none = { entry: join(import.meta.dirname, 'isolated', 'agent.ts'), execArgv: ['--import', 'tsx'] };

  it.each([true, false])(
    'no message is claimed, and so no attempt is charged (S9); shared: %s',
    async (isShared) => {
      const said: string[] = [];
      const { execPath } = process;
      const pool = new ProcessPool(none, { isShared, now: Date.now, onTrouble: ({ why }) => said.push(why) });
      // The system refuses to start a process, as it does without a descriptor or memory for one.
      process.execPath = join(import.meta.dirname, 'no-such-program');
      try {
        expect(await pool.enter()).toBeUndefined();
      } finally {
        process.execPath = execPath;
      }
      expect(said).toEqual([expect.stringContaining('ENOENT')]);
      const leave = await pool.enter();
      expect(leave).toBeDefined();
      leave?.();
      await pool.stop();
    },
  );
});

it('names the agent whose code loops behind an await, and where, among others in its process', async () => {
  const program = { entry: join(import.meta.dirname, 'isolated', 'agent.ts'), execArgv: ['--import', 'tsx'] };
  const troubles: Trouble[] = [];
  const onTrouble = (trouble: Trouble): void => void troubles.push(trouble);
  const pool = new ProcessPool(program, { isShared: true, now: Date.now, onTrouble });
  const leased = (name: string): Implementation<unknown, unknown> =>
    performedIn(declareAgent(name, { ...ANY, lease: '3s' }), () => pool);
  let progressed: () => void = quiet;
  const hasBegun = new Promise<void>((over) => (progressed = over));
  const beside = leased('alone').execute(contextOf({ progress: () => progressed() }), { way: 'goes on' });
  await hasBegun;
  const looping = leased('other').execute(contextOf(), { way: 'loops later' });
  await expect(looping).rejects.toThrow(/silent for \d+ s, busy at .*isolated\/agent\.ts:\d+:\d+/);
  await expect(beside).rejects.toThrow('by no fault of its own that is known');
  expect(troubles).toMatchObject([{ agent: 'other', isBlock: true }]);
  await pool.stop();
});

it('ends one that has ignored its abort where its clock skips time, and interrupts the others', async () => {
  const program = { entry: join(import.meta.dirname, 'isolated', 'agent.ts'), execArgv: ['--import', 'tsx'] };
  let ignored: () => void = quiet;
  const isIgnored = new Promise<void>((over) => (ignored = over));
  const pool = new ProcessPool(program, { isShared: true, now: Date.now, onTrouble: () => ignored() });
  const own = performedIn(agent, () => pool);
  const abort = new AbortController();
  const begun = (): [Promise<void>, AttemptContext] => {
    let progressed: () => void = quiet;
    const hasBegun = new Promise<void>((over) => (progressed = over));
    const timeLeft = { timeLeftMs: () => 0, [PROCESS_TIME_LEFT_MS]: () => 3_600_000 };
    return [
      hasBegun,
      contextOf({ ...timeLeft, signal: abort.signal as never, progress: () => progressed() }),
    ];
  };
  const [first, firstCtx] = begun();
  const deaf = own.execute(firstCtx, { way: 'goes on' });
  await first;
  const [second, secondCtx] = begun();
  const other = own.execute(
    { ...secondCtx, signal: new AbortController().signal as never },
    { way: 'goes on' },
  );
  await second;
  abort.abort();
  await isIgnored;
  pool.timeSkipped();
  await expect(deaf).rejects.toMatchObject({ code: 'process-died' });
  await expect(other).rejects.toThrow('by no fault of its own that is known');
  await pool.stop();
});

it('ends without a stack, with all that it has started, where the one that calls has been killed', async () => {
  const caller = join(import.meta.dirname, 'isolated', 'caller.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', caller], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', (part: Buffer) => (said += part.toString()));
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  // Its processes, and their programs, have the other end of the pipe open.
  await once(child, 'close');
  expect(said).toBe('');
});
