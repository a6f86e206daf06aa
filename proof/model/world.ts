/**
 * A state of the model: the stored records, the processes under way, and the external service's ledger.
 *
 * Owns: its shape and its text form (the key of the search; processes of a kind are interchangeable, so they
 * are sorted). Does not own: how it changes.
 */

import type { ReportKind, Stored } from './codes.ts';
import { Interner } from './intern.ts';

/** An attempt, as its process knows it. Ticks count from now. */
interface Attempt {
  readonly step: number;
  readonly mode: number;
  /** Until this process is certainly dead. */
  readonly life: number;
}

/** What the claim's snapshot allows after an on-time `done` (see `Mind.unread`). */
interface Unread {
  readonly unread: 'read' | 'send' | 'end';
  readonly sends: number;
}

/**
 * A process between two of its calls; it is gone after a crash. `claim` and `write` have read and are about
 * to write their decisions, which the store refuses once another process wrote there: then the process moves
 * back to its read.
 */
export type Actor =
  | (Attempt & Unread & { readonly pc: 'claim'; readonly attempt: number; readonly to: number })
  | (Attempt & { readonly pc: 'read'; readonly attempt: number; readonly own: boolean })
  | (Attempt & Unread & { readonly pc: 'perform'; readonly own: boolean })
  | (Attempt & Unread & { readonly pc: 'report'; readonly own: boolean; readonly kind: ReportKind })
  | { readonly pc: 'evaluate'; readonly affected: number }
  /**
   * The worker of a dead attempt's process, about to record the death, as long as no other attempt has taken
   * the step.
   */
  | { readonly pc: 'mourn'; readonly step: number }
  | {
      /** About to start, stop or gather. What it has read, and what was written there since. */
      readonly pc: 'family';
      readonly out: number;
      readonly affected: number;
      readonly seen: Stored;
      readonly lost: readonly number[];
    }
  | {
      readonly pc: 'write';
      readonly out: number;
      /** The reason for which it reads again after a conflict. */
      readonly from:
        | 'evaluate'
        | 'cancel'
        | 'pause'
        | 'resume'
        | 'retry'
        | (Attempt & { readonly attempt: number });
      readonly affected: number;
      /** Set if the parent was notified of the end that is about to be announced. */
      readonly told?: true;
      /** Set if another process has written that record meanwhile. */
      readonly beaten?: true;
    };

/** Actors have small numbers; 0 stands for no actor. */
export type Cast = Interner<Actor | null>;
export const newCast = (): Cast => {
  const cast: Cast = new Interner('actors');
  cast.idOf(null);
  return cast;
};

export const NOTHING = 0;
export const LANDED = 1;
export const COMPENSATED = 2;

export interface World extends Stored {
  exec: number;
  steps: number[];
  /** The effect of each step: nothing, landed or undone. */
  effects: number[];
  /** Ticks for which a request whose sender is gone may still take effect; 0: there is none. */
  ghosts: number[];
  /** 1: its service has accepted the step's work, and does it unless it is stopped. */
  jobs: number[];
  /** Messages in flight, a bit each. */
  messages: number;
  failures: number;
  announced: number;
  /** 0: has not begun, 1: under way, 2: over. */
  canceled: number;
  /** How many pauses were requested. */
  paused: number;
  /** How many retries were requested. */
  retried: number;
  operator: number;
  agents: number[];
  supervisors: number[];
}

export const copyOf = (world: World): World => ({
  ...world,
  steps: [...world.steps],
  effects: [...world.effects],
  ghosts: [...world.ghosts],
  jobs: [...world.jobs],
  agents: [...world.agents],
  supervisors: [...world.supervisors],
});

const ascending = (left: number, right: number): number => left - right;

export function encode(world: World): string {
  world.agents.sort(ascending);
  world.supervisors.sort(ascending);
  let external = 0;
  for (const [at, effect] of world.effects.entries()) {
    external =
      external * 30 + effect * 10 + (world.jobs[at] as number) * 5 + Math.min(world.ghosts[at] as number, 4);
  }
  const counts =
    world.retried * 256 + world.paused * 64 + world.failures * 6 + world.announced * 3 + world.canceled;
  return String.fromCharCode(
    world.exec,
    ...world.steps,
    external,
    world.messages,
    counts,
    world.operator,
    ...world.agents,
    ...world.supervisors,
  );
}

export function decode(text: string, steps: number, agents: number): World {
  const codes = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  let external = codes[1 + steps] as number;
  const effects: number[] = [];
  const ghosts: number[] = [];
  const jobs: number[] = [];
  for (let at = steps - 1; at >= 0; at -= 1) {
    const all = external % 30;
    external = (external - all) / 30;
    effects[at] = Math.floor(all / 10);
    jobs[at] = Math.floor(all / 5) % 2;
    ghosts[at] = all % 5;
  }
  const all = codes[3 + steps] as number;
  const counts = all % 64;
  return {
    exec: codes[0] as number,
    steps: codes.slice(1, 1 + steps),
    effects,
    ghosts,
    jobs,
    messages: codes[2 + steps] as number,
    failures: Math.floor(counts / 6),
    announced: Math.floor((counts % 6) / 3),
    canceled: counts % 3,
    paused: Math.floor(all / 64) % 4,
    retried: Math.floor(all / 256),
    operator: codes[4 + steps] as number,
    agents: codes.slice(5 + steps, 5 + steps + agents),
    supervisors: codes.slice(5 + steps + agents),
  };
}
