/**
 * The type of an example's `example.ts`: its presentation, and the checks afterwards.
 *
 * Owns: the types. Does not own: playing scenes (`play.ts`), the run (`run.ts`).
 */

import type { Client, ExecutionStatus, ExecutionView } from 'steadfast/client';
import type { LocalCloud } from 'steadfast/testing';
import type { RuleInput } from '../world/behaviour.ts';
import type { Entry } from '../world/ledger.ts';

/** The default export of `example.ts`. */
export interface Example {
  /** One sentence: what the example does, and why that is hard. */
  readonly title: string;
  /** The environment variable with the address of the outside world, for the agents; `dev.ts` sets it. */
  readonly world: string;
  /**
   * `npm run example` plays each scene once, all at the same time; `npm run gallery` repeats them while there
   * is time.
   */
  readonly scenes: readonly Scene[];
  /** Judges the ledger, after all executions that could end have ended. */
  readonly audit: (seen: Seen) => Audit | Promise<Audit>;
}

export interface Scene {
  /** Short, because it becomes part of a key: 'lost-reply'. */
  readonly name: string;
  /** What goes wrong. */
  readonly wrong: string;
  /** The statuses with which its execution may end. */
  readonly ends: readonly ExecutionStatus[];
  /**
   * Causes the fault, starts the execution, and plays the people and services that answer it.
   * @param subject the scene's name in the outside world, which no other scene has
   * @returns the id of the execution, once only its end is awaited
   */
  readonly play: (stage: Stage, subject: string) => Promise<string>;
  /** Describes its end in one sentence. */
  readonly tell: (end: ExecutionView) => string;
}

export interface Stage {
  readonly cloud: LocalCloud;
  readonly client: Client;
  readonly world: OutsideWorld;
  /** Polls until there is a value. Rejects when the run's time is up. */
  readonly until: <T>(what: string, look: () => Promise<T | undefined>) => Promise<T>;
}

/** The endpoints of `examples/world` for scenes. */
export interface OutsideWorld {
  readonly url: string;
  readonly behave: (rule: RuleInput) => Promise<void>;
  readonly ledger: <E extends Entry = Entry>() => Promise<readonly E[]>;
}

/** One scene that was played. */
export interface Played {
  readonly scene: Scene;
  readonly subject: string;
  /** Absent if it did not end in time, or could not be played. */
  readonly end?: ExecutionView;
  /** Why it could not be played. */
  readonly problem?: string;
}

export interface Seen {
  readonly stage: Stage;
  readonly played: readonly Played[];
}

export interface Audit {
  /** The state of the outside world, in one line. */
  readonly ledger: string;
  readonly findings: readonly Finding[];
}

export interface Finding {
  /**
   * `doubled`: done twice · `lost`: promised and missing · `leftBehind`: undone, but still there · `other`:
   * anything else.
   */
  readonly kind: 'doubled' | 'lost' | 'leftBehind' | 'other';
  /** The scene's subject. */
  readonly subject?: string;
  readonly text: string;
}
