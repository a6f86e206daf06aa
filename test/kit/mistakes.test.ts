/** `crashEverywhere` finds all of these mistakes in agents, and reports no correct agent of any kind. */

import {
  agent,
  type AgentOptions,
  type AttemptContext,
  done,
  askPerson,
  notDone,
  PermanentError,
  retry,
  running,
  TransientError,
  useAgent,
  type Verdict,
  withInput,
  workflow,
} from 'steadfast';
import {
  crashEverywhere,
  type CrashReport,
  externalWorld,
  type ExternalWorld,
  type TestAgent,
} from 'steadfast/testing';
import * as z from 'zod/mini';

type Work = (ctx: AttemptContext, world: ExternalWorld, output?: unknown) => Promise<unknown>;

/** The properties of an agent that may be right or wrong; all others are right. */
interface Ways {
  readonly effect?: 'idempotent' | 'probed' | 'unsafe';
  readonly execute?: Work;
  readonly probe?: (ctx: AttemptContext, world: ExternalWorld) => Promise<Verdict<unknown>>;
  readonly undo?: Work;
  readonly recovery?: readonly ReturnType<typeof retry | typeof askPerson>[];
}
/** The ways through the workflow: success, undo after a later step's failure, cancel, a lost first answer. */
const ALL_WAYS = ['there', 'back', 'canceled', 'unheard'] as const;
type Way = (typeof ALL_WAYS)[number];

interface Mistake extends Ways {
  /** The way on which the mistake shows. */
  readonly way: Way;
  readonly is: 'lost' | 'doubled';
}

const LIMITS = { timeout: '20s', lease: '10s', claimWithin: '10s', lateEffectWithin: '1s' } as const;
const anything = { input: z.any(), output: z.any(), ...LIMITS };
const last = agent('last-agent', { ...anything, effect: 'idempotent', undo: 'none' });
const other = agent('other-agent', { ...anything, effect: 'probed' });

const right = {
  once: (ctx: AttemptContext, world: ExternalWorld) => world.actOnce(ctx.idempotencyKey),
  act: (ctx: AttemptContext, world: ExternalWorld) => world.act(ctx.idempotencyKey),
  undo: (ctx: AttemptContext, world: ExternalWorld) => world.undo(ctx.idempotencyKey),
  probe: async (ctx: AttemptContext, world: ExternalWorld): Promise<Verdict<unknown>> =>
    (await world.find(ctx.idempotencyKey)) === undefined ? notDone() : done({}),
};

/** Runs a workflow of the tested step and one that may fail. */
async function strike(ways: Ways, through: readonly Way[]): Promise<CrashReport[]> {
  const { effect = 'idempotent', recovery } = ways;
  const {
    execute = effect === 'idempotent' ? right.once : right.act,
    probe = right.probe,
    undo = right.undo,
  } = ways;
  // Needed if it goes on in another way; without a probe that happens only after certain failures.
  const asked = effect === 'idempotent' ? ({ probe: 'none' } as const) : {};
  const first = agent('first-agent', { ...anything, effect, ...asked } as AgentOptions<unknown, unknown>);
  const flow = workflow('two-steps', { input: z.any(), within: '2h' }, (w) => {
    const begun = w.step('first', first, {}, recovery === undefined ? {} : { recovery });
    w.step('last', last, {}, { after: [begun] });
  });
  const reports: CrashReport[] = [];
  for (const way of through) {
    const world = externalWorld();
    const agents = [
      first.handler({
        execute: (ctx: AttemptContext) => execute(ctx, world),
        ...(effect === 'probed' ? { probe: (ctx: AttemptContext) => probe(ctx, world) } : {}),
        undo: (ctx: AttemptContext, _input: unknown, output: unknown) => undo(ctx, world, output),
      } as never),
      last.handler({ execute: (ctx: AttemptContext) => right.once(ctx, world) } as never),
      other.handler({
        execute: (ctx: AttemptContext) => world.act(ctx.idempotencyKey, 'other'),
        probe: (ctx: AttemptContext) => right.probe(ctx, world),
        undo: (ctx: AttemptContext) => right.undo(ctx, world),
      } as never),
    ] as readonly TestAgent[];
    reports.push(
      await crashEverywhere(flow, {
        input: {},
        agents,
        world,
        scenario: async (trial, input) => {
          if (way === 'back') trial.fail(last, { times: Infinity, with: new PermanentError('no') });
          if (way === 'unheard') trial.loseReply(first);
          const run = await trial.start(input);
          if (way !== 'canceled') return run;
          await run.until(
            ({ steps, status }) => steps['first']?.status === 'running' || status !== 'running',
          );
          await run.cancel();
          return run;
        },
      }),
    );
  }
  return reports;
}

const keyOfAttempt = (ctx: AttemptContext): string => `${ctx.idempotencyKey}/${ctx.attempt}`;
const seen = new Set<string>();

const MISTAKES: Readonly<Record<string, Mistake>> = {
  'says idempotent and acts each time': { way: 'there', is: 'doubled', execute: right.act },
  'makes its key of the attempt': {
    way: 'there',
    is: 'doubled',
    execute: (ctx, world) => world.actOnce(keyOfAttempt(ctx)),
  },
  'checks, then acts under another key': {
    way: 'there',
    is: 'doubled',
    execute: async (ctx, world) => (await world.find(ctx.idempotencyKey)) ?? world.act(keyOfAttempt(ctx)),
  },
  'asks first, then acts, as if no request of its own were still under way': {
    way: 'there',
    is: 'doubled',
    execute: async (ctx, world) => (await world.find(ctx.idempotencyKey)) ?? world.act(ctx.idempotencyKey),
  },
  'remembers in the process that it has acted, before it has': {
    way: 'there',
    is: 'lost',
    execute: async (ctx, world) => {
      if (seen.has(ctx.idempotencyKey)) return 'known';
      seen.add(ctx.idempotencyKey);
      return world.actOnce(ctx.idempotencyKey);
    },
  },
  'takes every error for success': {
    way: 'there',
    is: 'lost',
    execute: (ctx, world) => world.actOnce(ctx.idempotencyKey).catch(() => 'surely'),
  },
  'does not wait for its request': {
    way: 'there',
    is: 'lost',
    execute: async (ctx, world) => void world.actOnce(ctx.idempotencyKey).catch(() => undefined),
  },
  'takes every error for not done, and acts again': {
    way: 'there',
    is: 'doubled',
    effect: 'probed',
    execute: (ctx, world) =>
      world.act(ctx.idempotencyKey).catch(() => {
        throw new TransientError('surely not done');
      }),
  },
  'takes every error for a refusal': {
    way: 'canceled',
    is: 'lost',
    execute: (ctx, world) =>
      world.actOnce(ctx.idempotencyKey).catch(() => {
        throw new PermanentError('surely not done');
      }),
  },
  'probes for nothing': { way: 'there', is: 'doubled', effect: 'probed', probe: async () => notDone() },
  'probes with the key of the attempt': {
    way: 'there',
    is: 'doubled',
    effect: 'probed',
    probe: async (ctx, world) => ((await world.find(keyOfAttempt(ctx))) === undefined ? notDone() : done({})),
  },
  'finds whatever is asked for': { way: 'there', is: 'lost', effect: 'probed', probe: async () => done({}) },
  'does two things, and probes for the first': {
    way: 'there',
    is: 'lost',
    effect: 'probed',
    execute: async (ctx, world) => [
      await world.act(ctx.idempotencyKey, 'seat'),
      await world.act(ctx.idempotencyKey, 'ticket'),
    ],
    probe: async (ctx, world) =>
      (await world.find(ctx.idempotencyKey, 'seat')) === undefined ? notDone() : done({}),
  },
  'does two things, and only one of them once': {
    way: 'there',
    is: 'doubled',
    execute: async (ctx, world) => [
      await world.actOnce(ctx.idempotencyKey, 'seat'),
      await world.act(ctx.idempotencyKey, 'ticket'),
    ],
  },
  'does two things, and undoes one': {
    way: 'back',
    is: 'lost',
    execute: async (ctx, world) => [
      await world.actOnce(ctx.idempotencyKey, 'seat'),
      await world.actOnce(ctx.idempotencyKey, 'ticket'),
    ],
    undo: (ctx, world) => world.undo(ctx.idempotencyKey, 'seat'),
  },
  'undoes nothing': { way: 'back', is: 'lost', undo: async () => undefined },
  'undoes what its output names, which is not always there': {
    way: 'canceled',
    is: 'lost',
    undo: async (ctx, world, output) => (output === undefined ? undefined : world.undo(ctx.idempotencyKey)),
  },
  'takes every error of the undo for done': {
    way: 'back',
    is: 'lost',
    undo: (ctx, world) => world.undo(ctx.idempotencyKey).catch(() => undefined),
  },
  'cannot bear to undo what is not there': {
    way: 'back',
    is: 'lost',
    undo: async (ctx, world) => {
      if ((await world.find(ctx.idempotencyKey)) === undefined) throw new PermanentError('404');
      await world.undo(ctx.idempotencyKey);
    },
  },
};

const CORRECT: Readonly<Record<string, Ways>> = {
  idempotent: {},
  'idempotent, in two requests': {
    execute: async (ctx, world) => [
      await world.actOnce(ctx.idempotencyKey, 'seat'),
      await world.actOnce(ctx.idempotencyKey, 'ticket'),
    ],
  },
  'idempotent, by keys made of its own': {
    execute: (ctx, world) => world.actOnce(`${ctx.idempotencyKey}/charge`),
    undo: (ctx, world) => world.undo(`${ctx.idempotencyKey}/charge`),
  },
  probed: { effect: 'probed' },
  'probed, and the probe sees it under way for a while': {
    effect: 'probed',
    probe: async (ctx, world) => {
      if (!seen.has(`${ctx.idempotencyKey} probed`)) {
        seen.add(`${ctx.idempotencyKey} probed`);
        return running();
      }
      return right.probe(ctx, world);
    },
  },
  'probed, with other parameters next': { effect: 'probed', recovery: [withInput({ other: true }) as never] },
  'probed, with another agent next': { effect: 'probed', recovery: [useAgent(other) as never] },
  'idempotent, with another agent next': { recovery: [useAgent(other) as never] },
  'unsafe, with a person next': { effect: 'unsafe', recovery: [askPerson({ within: '1h' })] },
  'idempotent, with a person last': { recovery: [retry(1), askPerson({ within: '1h', otherwise: 'keep' })] },
  'undone by asking first': {
    undo: async (ctx, world) =>
      (await world.find(ctx.idempotencyKey)) === undefined ? undefined : world.undo(ctx.idempotencyKey),
  },
};

describe('an author’s mistake is found', () => {
  it.each(Object.entries(MISTAKES))('%s', async (_name, mistake) => {
    const [report] = await strike(mistake, [mistake.way]);
    expect(new Set(report?.findings.map(({ kind }) => kind))).toEqual(new Set([mistake.is]));
    expect(new Set(report?.findings.flatMap(({ step }) => step ?? 'first'))).toEqual(new Set(['first']));
  });
});

describe('nobody is accused of anything', () => {
  it.each(Object.entries(CORRECT))('%s', async (name, ways) => {
    // The way back and a cancel include most of the way there.
    const through: readonly Way[] = ['idempotent', 'probed'].includes(name) ? ALL_WAYS : ['back', 'canceled'];
    const reports = await strike(ways, through);
    expect(reports.flatMap((report) => report.findings)).toEqual([]);
    expect(reports.map((report) => report.runs > 20)).toEqual(through.map(() => true));
  });
});
