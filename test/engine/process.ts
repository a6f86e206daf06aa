/**
 * Wraps the ports of a harness: processes that die or freeze, stores that answer late, with errors or not at
 * all.
 */

import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Ports, Store, WriteResult } from '../../lib/core/ports.ts';

export const never: Promise<never> = new Promise(() => undefined);

export interface Process {
  readonly ports: Ports;
  /** Kills the process: its calls no longer have any effect. */
  readonly kill: () => void;
  /** Stops the process until `thaw`; then it continues unaware of the pause. */
  readonly freeze: () => void;
  readonly thaw: () => void;
}

type Call = (...args: never[]) => Promise<unknown>;

export function aProcess(world: Ports): Process {
  let dead = false;
  let frozen: Promise<void> | undefined;
  let thaw = (): void => undefined;
  const admission = async (): Promise<void> => {
    if (frozen !== undefined) await frozen;
    if (dead) await never;
  };
  const admitted = <Target extends object>(target: Target): Target =>
    Object.fromEntries(
      Object.entries(target).map(([name, value]) => [
        name,
        typeof value !== 'function'
          ? value
          : async (...args: never[]) => {
              await admission();
              const result = await (value as Call)(...args);
              await admission();
              return result;
            },
      ]),
    ) as Target;
  return {
    ports: {
      ...world,
      store: admitted(world.store),
      queue: admitted(world.queue),
      announcer: admitted(world.announcer),
      clock: { now: world.clock.now, sleep: admitted({ sleep: world.clock.sleep }).sleep },
    },
    kill: () => {
      dead = true;
      thaw();
    },
    freeze: () => {
      frozen = new Promise((resolve) => {
        thaw = resolve;
      });
    },
    thaw: () => {
      frozen = undefined;
      thaw();
    },
  };
}

/** The same ports with a changed store. */
export const withStore = (world: Ports, change: (store: Store) => Partial<Store>): Ports => ({
  ...world,
  store: { ...world.store, ...change(world.store) },
});

/** Delays the first write that is `chosen` until it is released. */
export function heldWrite(
  world: Ports,
  chosen: (write: Write) => boolean,
): { ports: Ports; arrived: Promise<void>; release: () => void; result: Promise<WriteResult> } {
  const arrival = deferred<void>();
  const released = deferred<void>();
  const outcome = deferred<WriteResult>();
  let taken = false;
  const ports = withStore(world, (store) => ({
    write: async (write) => {
      if (taken || !chosen(write)) return store.write(write);
      taken = true;
      arrival.resolve();
      await released.promise;
      const result = await store.write(write);
      outcome.resolve(result);
      return result;
    },
  }));
  return { ports, arrived: arrival.promise, release: released.resolve, result: outcome.promise };
}

export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
}

export function deferred<Value>(): Deferred<Value> {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

export type Fault = 'before' | 'after';

/** Makes the n-th write (from 1) reject, before or after it took place. */
export function failingWrite(world: Ports, nth: number, fault: Fault): Ports {
  let count = 0;
  return withStore(world, (store) => ({
    write: async (write) => {
      count += 1;
      if (count !== nth) return store.write(write);
      if (fault === 'after') await store.write(write);
      throw new Error('the connection was lost');
    },
  }));
}
