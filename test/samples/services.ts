/**
 * Services in memory for all agents of a workflow. Each acts once for a key, can be probed by the key, and
 * can undo. Owns: the record of effects. Does not own: the answers (each test), the workflow.
 */

import { accepted, done, notDone, running, type Workflow } from 'steadfast';
import { type ExternalWorld, externalWorld, type TestAgent } from 'steadfast/testing';

/** Answers by agent; an error is thrown before the agent acts. */
export type Answers = Readonly<Record<string, (input: never) => unknown>>;

export interface Services {
  readonly agents: readonly TestAgent[];
  readonly world: ExternalWorld;
  /** The effects in order; an undone one has an exclamation mark. */
  readonly deeds: () => string[];
}

/** After this many probes, accepted work is done. */
const ASKED = 2;

export function servicesFor(workflow: Workflow, answers: Answers = {}): Services {
  const world = externalWorld();
  const asked = new Map<string, number>();
  const names = new Set<string>();
  const agents = workflow.agents.flatMap((agent): TestAgent[] => {
    const { name, effect, acceptsMs } = agent.spec;
    if (names.has(name)) return [];
    names.add(name);
    const answer = (input: unknown): unknown => answers[name]?.(input as never) ?? {};
    const answered = async (key: string, input: unknown): Promise<unknown> => {
      const output = answer(input);
      if (effect === 'none') await world.request(key, async () => undefined);
      else await world.actOnce(key, name);
      return output;
    };
    const implementation = {
      execute: async ({ idempotencyKey: key }: { readonly idempotencyKey: string }, input: unknown) => {
        const output = await answered(key, input);
        return acceptsMs === undefined ? output : accepted({ token: key });
      },
      probe: async ({ idempotencyKey: key }: { readonly idempotencyKey: string }, input: unknown) => {
        if ((await world.find(key, name)) === undefined) return notDone();
        const times = (asked.get(key) ?? 0) + 1;
        asked.set(key, times);
        return acceptsMs !== undefined && times <= ASKED ? running() : done(answer(input));
      },
      undo: ({ idempotencyKey: key }: { readonly idempotencyKey: string }) => world.undo(key, name),
    };
    return [{ worker: { agent, implementation } as unknown as TestAgent['worker'] }];
  });
  const deeds = (): string[] => world.effects().map(({ kind, undone }) => `${kind}${undone ? '!' : ''}`);
  return { agents, world, deeds };
}
