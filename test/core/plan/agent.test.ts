/** The compiled form of an agent's declaration, its defaults, and refusals at the exact limits. */

import {
  type AgentOptions,
  type AgentSpec,
  agentProblem,
  declareAgent,
  EFFECTS,
} from '../../../lib/core/plan/agent.ts';
import { cannotTell, done, notDone, running } from '../../../lib/core/plan/answers.ts';
import { any, type Anything, base, refusalOf } from '../../author/refusals.ts';

const declared = (more: object = {}) =>
  declareAgent<Anything, Anything>('worker', { ...base, ...more } as unknown as AgentOptions<
    Anything,
    Anything
  >);
const defaults: AgentSpec = {
  name: 'worker',
  effect: 'idempotent',
  timeoutMs: 60_000,
  leaseMs: 30_000,
  pickupMs: 30_000,
  settleMs: 5_000,
  undo: 'required',
};

it('says little, and has all that it needs', () => {
  const { timeout: _, ...least } = base;
  const agent = declareAgent<Anything, Anything>(
    'worker',
    least as unknown as AgentOptions<Anything, Anything>,
  );
  expect(agent).toStrictEqual({ kind: 'steadfast:agent', spec: defaults, input: any, output: any });
  expect(declared({ runsIn: 'lambda', isolate: false }).spec).toStrictEqual(defaults);
});

it.each(['execute', 'undo', 'probe'])('refuses the function %s and names the handler', (key) => {
  expect(() => declared({ [key]: () => undefined })).toThrow(
    `agent 'worker': '${key}' is a function; code belongs to its handler: export const handler = it.handler({ ${key}: … })`,
  );
});

it('may say more', () => {
  const more = {
    effect: 'probed',
    timeout: '2h',
    lease: '4s',
    claimWithin: '5s',
    lateEffectWithin: '6s',
    progressWithin: '7s',
    undo: 'none',
    isolate: true,
  };
  expect(declared({ ...more, runsIn: 'container' }).spec).toStrictEqual({
    name: 'worker',
    effect: 'probed',
    timeoutMs: 7_200_000,
    leaseMs: 4_000,
    pickupMs: 5_000,
    settleMs: 6_000,
    maxNoProgressMs: 7_000,
    undo: 'none',
    runsIn: 'container',
    isolate: true,
  });
});

it('is refused by name', () => {
  const refused = refusalOf(() => declared({ lease: '2s' }));
  expect([refused.code, refused.message]).toEqual([
    'bad-agent',
    "agent 'worker': lease is under 3s; a heartbeat whose request hangs must have time for another",
  ]);
  expect(refusalOf(() => declareAgent('No', base as never)).code).toBe('bad-name');
  expect(refusalOf(() => declareAgent('No', base as never)).message).toContain('agent');
});

const lambda =
  "timeout is over 14m, which a Lambda function cannot give; with runsIn: 'container' it may be up to 24h";
it.each<[Partial<Record<keyof AgentSpec, unknown>>, string | undefined]>([
  [{}, undefined],
  [{ effect: 'x' }, "effect is \"x\"; allowed: 'idempotent', 'probed', 'unsafe' and 'none'"],
  [{ effect: 'unsafe' }, undefined],
  [{ runsIn: 'vm' }, "runsIn is \"vm\"; allowed: 'lambda' and 'container'"],
  [{ isolate: true }, undefined],
  [{ isolate: 'yes' }, 'isolate is "yes"; allowed: true and false'],
  [{ timeoutMs: 14 * 60_000 }, undefined],
  [{ timeoutMs: 14 * 60_000 + 1 }, lambda],
  [{ runsIn: 'container', timeoutMs: 24 * 3_600_000 }, undefined],
  [{ runsIn: 'container', timeoutMs: 24 * 3_600_000 + 1 }, 'timeout is over 24h; cut the work into steps'],
  [{ leaseMs: 3_000 }, undefined],
  [{ leaseMs: 2_999 }, 'lease is under 3s; a heartbeat whose request hangs must have time for another'],
  [{ pickupMs: 1_000 }, undefined],
  [{ pickupMs: 999 }, 'claimWithin is under 1s; a message needs time to arrive'],
  [{ maxNoProgressMs: 1_000 }, undefined],
  [{ maxNoProgressMs: 999 }, 'progressWithin is under 1s; three heartbeats must fit into it'],
  [{ undo: 'none' }, undefined],
  [{ undo: 'x' }, "undo is \"x\"; allowed: 'required' and 'none'"],
])('%j: %s', (more, problem) => {
  expect(agentProblem({ ...defaults, ...more } as AgentSpec)).toBe(problem);
});

it('a probe has four answers, and an effect is one of four', () => {
  expect(cannotTell('status 501')).toStrictEqual({ verdict: 'cannot-tell', reason: 'status 501' });
  expect([done({ n: 1 }), notDone(), running(), cannotTell()]).toEqual([
    { verdict: 'done', output: { n: 1 } },
    { verdict: 'not-done' },
    { verdict: 'running' },
    { verdict: 'cannot-tell' },
  ]);
  expect(EFFECTS).toEqual(['idempotent', 'probed', 'unsafe', 'none']);
});
