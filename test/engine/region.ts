/**
 * A child that provisions a site in a region, and on failure in another one; and the provider, with the
 * effects in each region.
 */

import { askPerson, retry, withInput, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { Input } from '../../lib/author/references.ts';
import { PermanentError, TransientError } from '../../lib/core/values/errors.ts';
import type { Ports } from '../../lib/core/ports.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { anAgent, anyObject, type Harness, harness } from './harness.ts';

const input = anyObject as never;
const LIMITS = { lateEffectWithin: '2s' } as const;
export const network = anAgent('network', LIMITS);
export const cluster = anAgent('cluster', { ...LIMITS, effect: 'probed' });
const once = { recovery: [retry(0)], retryUndo: retry(20, { delay: '1s', maxDelay: '2s' }) };

export const site = workflow('site', { input, within: '1h' }, (w) => {
  const { region } = w.input as never as { region: Input<string> };
  const net = w.step('network', network, { region }, once);
  const run = w.step('cluster', cluster, { region }, { ...once, after: [net] });
  return { at: run.output['region'] as never };
});

const first = { delay: '1s', maxDelay: '2s' } as const;
/** Twice in one region, then in another, then a person. */
export const moving = workflow('moving', { input, within: '6h' }, (w) => {
  const up = w.child('up', site as never, { region: 'north' } as never, {
    recovery: [retry(1, first), withInput({ region: 'south' }, first), askPerson({ within: '1h' })],
  });
  const { at } = up.output as never as { at: never };
  w.step('announce', network, { at }, once);
  return { at };
});

/** A provider: records its acts, and its effects in place, as `<region> <step> <execution>`. */
export class Provider {
  readonly stands = new Set<string>();
  readonly done: string[] = [];
  /** Regions that refuse clusters transiently. */
  readonly full = new Set<string>();
  /** Regions that refuse clusters permanently. */
  readonly closed = new Set<string>();
  readonly #known = new Map<string, string>();

  readonly implementations = { network: this.#of('network'), cluster: this.#of('cluster') };

  #of(service: string) {
    const nameOf = (key: string): string => key.slice(0, key.lastIndexOf('.'));
    return {
      execute: async ({ idempotencyKey }: { idempotencyKey: string }, given: unknown): Promise<object> => {
        const { region: at = '' } = given as { region?: string };
        if (service === 'cluster' && this.full.has(at)) throw new TransientError(`${at} is full`);
        if (service === 'cluster' && this.closed.has(at)) throw new PermanentError(`${at} is closed`);
        const known = this.#known.get(idempotencyKey);
        if (known !== undefined) return { region: known };
        this.#known.set(idempotencyKey, at);
        this.done.push(`${at} ${nameOf(idempotencyKey)}`);
        this.stands.add(`${at} ${nameOf(idempotencyKey)}`);
        return { region: at };
      },
      probe: async ({ idempotencyKey }: { idempotencyKey: string }, given: unknown) => {
        const { region: at = '' } = given as { region?: string };
        return this.stands.has(`${at} ${nameOf(idempotencyKey)}`)
          ? { verdict: 'done' as const, output: { region: at } }
          : { verdict: 'not-done' as const };
      },
      undo: async ({ idempotencyKey }: { idempotencyKey: string }, given: unknown): Promise<void> => {
        const { region: at = '' } = given as { region?: string };
        this.stands.delete(`${at} ${nameOf(idempotencyKey)}`);
      },
    };
  }
}

/** Makes a provider that refuses clusters in these regions. */
export function provided(
  full: readonly string[],
  wrap: (world: MemoryWorld) => Ports = (world) => world,
): { h: Harness; outside: Provider } {
  const outside = new Provider();
  for (const region of full) outside.full.add(region);
  return { h: harness(moving as Workflow, outside.implementations as never, 1, wrap), outside };
}
