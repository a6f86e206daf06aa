/**
 * What `example.ts` of an example's folder declares: how it is shown, and what must be so afterwards.
 *
 * Owns: the types, which are the contract. Does not own: how it is played (`play.ts`), by whom (`run.ts`).
 */

import type { Client, ExecutionStatus, ExecutionView } from 'steadfast/client';
import type { LocalCloud } from 'steadfast/testing';
import type { RuleInput } from '../world/behaviour.ts';
import type { Entry } from '../world/ledger.ts';

/** The default export of `example.ts`. */
export interface Example {
  /** A sentence: what it is, and what is hard about it. */
  readonly title: string;
  /** The variable by which the agents know the address of the outside world; `dev.ts` gives it. */
  readonly world: string;
  /**
   * Each is played once by `npm run example`, all at once; by `npm run gallery` as often as there is time.
   */
  readonly scenes: readonly Scene[];
  /** What the ledger says, and what is wrong with it. All executions that could end have ended. */
  readonly audit: (seen: Seen) => Audit | Promise<Audit>;
}

export interface Scene {
  /** Short, as part of a key: 'lost-reply'. */
  readonly name: string;
  /** What goes wrong. */
  readonly wrong: string;
  /** How its execution may end. */
  readonly ends: readonly ExecutionStatus[];
  /**
   * Makes it go wrong, starts the execution, and plays the people and services that answer it.
   * @param subject what the outside world knows this one by: no other scene has it
   * @returns the id of the execution, when there is nothing left to do but wait for its end
   */
  readonly play: (stage: Stage, subject: string) => Promise<string>;
  /** How it ended, in a sentence. */
  readonly tell: (end: ExecutionView) => string;
}

export interface Stage {
  readonly cloud: LocalCloud;
  readonly client: Client;
  readonly world: OutsideWorld;
  /** Polls until there is a value. Rejects when the time of the run is over. */
  readonly until: <T>(what: string, look: () => Promise<T | undefined>) => Promise<T>;
}

/** What `examples/world` serves for the audience. */
export interface OutsideWorld {
  readonly url: string;
  readonly behave: (rule: RuleInput) => Promise<void>;
  readonly ledger: <E extends Entry = Entry>() => Promise<readonly E[]>;
}

/** One scene that was played. */
export interface Played {
  readonly scene: Scene;
  readonly subject: string;
  /** Absent where it did not end in time, or could not be played. */
  readonly end?: ExecutionView;
  /** Why it could not be played. */
  readonly problem?: string;
}

export interface Seen {
  readonly stage: Stage;
  readonly played: readonly Played[];
}

export interface Audit {
  /** What stands in the outside world, in a line. */
  readonly ledger: string;
  readonly findings: readonly Finding[];
}

export interface Finding {
  /**
   * `doubled`: done twice · `lost`: promised and not there · `leftBehind`: taken back, and still
   * there · `other`: anything else.
   */
  readonly kind: 'doubled' | 'lost' | 'leftBehind' | 'other';
  /** The scene's subject. */
  readonly subject?: string;
  readonly text: string;
}
