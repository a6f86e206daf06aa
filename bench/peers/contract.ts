/**
 * What every engine that is measured does, ours too: a workflow of five steps that do nothing, one after the
 * other, each handing on the hundred bytes that it was given, and each kept before the next begins.
 *
 * Owns: the work, what an engine offers, the load, the messages between the one that measures and the process
 * of an engine. Does not own: how an engine does it (`engines/`), its process (`child.ts`), rounds and
 * figures (`../parts/beside.ts`).
 */

export interface Engine {
  /** What keeps the state, with its version. */
  readonly server?: string;
  /** What a step is kept by before the next one begins, as read from the running server where it tells. */
  readonly durableBy: string;
  /** One workflow from the request until its end is known. @returns its milliseconds */
  readonly runOne: () => Promise<number>;
  /** Nothing is under way any more. */
  readonly quiet?: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/**
 * @param folder for its data, empty, removed afterwards
 * @param variant how it is set up, where there is more than one way
 */
export type Start = (folder: string, variant?: string) => Promise<Engine>;

export const STEPS = 5;
/** `{"data":"…"}` of a hundred bytes. */
export const PAYLOAD = { data: 'x'.repeat(89) } as const;
export type Payload = { readonly data: string };

/** What a step does: nothing. */
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

/** So many clients, each of which asks for the next workflow when its last one has ended. */
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

/** Something that the engine needs is not on this machine. */
export class Missing extends Error {
  readonly install: string;
  /** @param install the command that brings it */
  constructor(what: string, install: string) {
    super(what);
    this.install = install;
  }
}

/** An end is asked for by a signal. */
export interface Asked {
  readonly count: number;
  readonly inFlight: number;
}

export type Told =
  | { readonly told: 'started'; readonly server?: string; readonly durableBy: string }
  | ({ readonly told: 'ran' } & Ran)
  | { readonly told: 'missing'; readonly reason: string; readonly install: string }
  | { readonly told: 'failed'; readonly reason: string };
