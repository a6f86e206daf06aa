/**
 * The work of every measured engine, including ours: a workflow of five steps that do nothing, one after the
 * other; each passes on the hundred bytes of its input, and its result is stored before the next begins.
 *
 * Owns: the work, the interface of an engine, the load, the messages between the measuring process and an
 * engine's process. Does not own: how an engine does the work (`engines/`), its process (`child.ts`), rounds
 * and figures (`../parts/beside.ts`).
 */

export interface Engine {
  /** The server that stores the state, with its version. */
  readonly server?: string;
  /**
   * What makes a step durable before the next one begins, read from the running server if it reports that.
   */
  readonly durableBy: string;
  /** Runs one workflow, from the request until its end is known. @returns its milliseconds */
  readonly runOne: () => Promise<number>;
  /** Waits until nothing is in progress. */
  readonly quiet?: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/**
 * @param folder an empty folder for its data, removed afterwards
 * @param variant how to set it up, if there is more than one way
 */
export type Start = (folder: string, variant?: string) => Promise<Engine>;

export const STEPS = 5;
/** `{"data":"…"}` of a hundred bytes. */
export const PAYLOAD = { data: 'x'.repeat(89) } as const;
export type Payload = { readonly data: string };

/** The work of a step: nothing. */
export const noOp = (given: Payload): Promise<Payload> => Promise.resolve({ data: given.data });

/** Times one call and checks its answer. */
export async function timed(call: () => Promise<unknown>): Promise<number> {
  const askedAt = performance.now();
  const answer = await call();
  const ms = performance.now() - askedAt;
  const { data } = (answer ?? {}) as Partial<Payload>;
  if (data !== PAYLOAD.data) throw new Error(`a workflow was answered ${JSON.stringify(answer)}`);
  return ms;
}

export interface Ran {
  readonly ms: number;
  readonly latenciesMs: readonly number[];
}

/** Runs this many clients; each starts the next workflow when its last one has ended. */
export async function runMany({ runOne }: Engine, count: number, inFlight: number): Promise<Ran> {
  const latenciesMs: number[] = [];
  let left = count;
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      latenciesMs.push(await runOne());
    }
  };
  const beganAt = performance.now();
  await Promise.all(Array.from({ length: Math.min(inFlight, count) }, client));
  return { ms: performance.now() - beganAt, latenciesMs };
}

/** Something that the engine needs is missing on this machine. */
export class Missing extends Error {
  readonly install: string;
  /** @param install the command that installs it */
  constructor(what: string, install: string) {
    super(what);
    this.install = install;
  }
}

/** A request to run workflows; a signal asks for the end instead. */
export interface Asked {
  readonly count: number;
  readonly inFlight: number;
}

export type Told =
  | { readonly told: 'started'; readonly server?: string; readonly durableBy: string }
  | ({ readonly told: 'ran' } & Ran)
  | { readonly told: 'missing'; readonly reason: string; readonly install: string }
  | { readonly told: 'failed'; readonly reason: string };
