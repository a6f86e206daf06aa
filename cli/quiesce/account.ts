/**
 * What quiesce has to know of an AWS account: a port.
 *
 * Owns: the words for what runs by itself. Does not own: the order (`order.ts`), the calls (`aws.ts`).
 */

/** In which step it is stopped; `start` and `source` are the triggers' two ends. */
export type Role = 'source' | 'start' | 'work' | 'supervision';

/**
 * - `mapping`: a function reads a queue
 * - `rule`, `schedule`: EventBridge sends by itself
 * - `service`: tasks of ECS read a queue
 * - `route`: API Gateway passes calls on
 */
export type Kind = 'mapping' | 'rule' | 'schedule' | 'service' | 'route';

export interface Part {
  readonly role: Role;
  readonly kind: Kind;
  /** The name by which its own service knows it; unique together with `kind`. */
  readonly id: string;
  /** How long what it has begun may go on once it has stopped, in ms. */
  readonly tailMs: number;
}

export type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value };

/** A part and how it was before the first quiesce: all that unquiesce needs. */
export interface Former {
  readonly role: Role;
  readonly kind: Kind;
  readonly id: string;
  readonly state: Value;
}

/** Steps with a lease that has not run out, or with a process that may be alive. */
export interface Leases {
  readonly count: number;
  /** When the last of them is over for certain, epoch ms; 0 without any. */
  readonly lastAt: number;
}

export interface Account {
  /** @returns every part of the deployment; rejects with CliError `no-stack`, naming those there are */
  find(): Promise<readonly Part[]>;
  /** @returns how it is now, to be given to `restore`; nothing where the part is gone */
  state(part: Former | Part): Promise<Value | undefined>;
  /** Stops it; once more does nothing. @returns false where the part is gone */
  stop(part: Former): Promise<boolean>;
  /** Makes it what it was; once more does nothing. @returns false where the part is gone */
  restore(part: Former): Promise<boolean>;
  /** Whether it is stopped now, or is gone. */
  isStopped(part: Former | Part): Promise<boolean>;
  /** Whether something of it still goes on after `stop`, which AWS carries out by and by. */
  runs(part: Former): Promise<boolean>;
  /** @param at of leases and process deadlines, those that are later; epoch ms */
  leases(at: number): Promise<Leases>;
  /** How many executions are open. */
  open(): Promise<number>;
  /** Everything that was saved and not forgotten. */
  load(): Promise<readonly Former[]>;
  /** Adds to what is saved and overwrites nothing; returns when it is kept. */
  save(formers: readonly Former[]): Promise<void>;
  /** Forgets everything that is saved. */
  forget(): Promise<void>;
}
