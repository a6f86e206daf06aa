/**
 * The processes that run agents' code, apart from the server's.
 *
 * Owns: which agents share a process, when an agent gets its own, and reporting agents that end a process.
 * Does not own: a process and its calls (`lib/worker/isolated.ts`), its program (`isolated-process.ts`).
 *
 * There is one process for all agents, and one for each attempt of an agent that declares `isolate`. An agent
 * gets processes of its own if it was running both times that the shared process died, or blocked it once. So
 * the culprit becomes known: if a process dies, its only attempt is at fault.
 */

import { relative } from 'node:path';
import type { Worker } from '../lib/agent/author-code.ts';
import { defined } from '../lib/core/values/defined.ts';
import { loadedFile, programFile, typescriptLoader } from '../lib/project/package-files.ts';
import { performedIn, type PoolOptions, ProcessPool } from '../lib/worker/isolated.ts';
import type { Program } from '../lib/worker/isolated-child.ts';
import type { Trouble } from '../lib/worker/isolated-words.ts';
import type { TroubleBook } from './worker-troubles.ts';
import type { Served, ServedAgent } from './workflows.ts';

/** An agent that was running at this many deaths of the shared process leaves it. */
const MOST_ENDS = 2;
/** After this long without another death, the agent shares again. */
const FORGOTTEN_MS = 3_600_000;
/** The most simultaneous attempts of an agent that got processes without asking for them. */
const MOST_OF_ITS_OWN = 8;
export const WORKER_MEMORY_MB = 2_048;

export interface WorkersOptions {
  readonly agents: Served['agents'];
  /** Agents whose attempts each have a process of their own, besides those that declare it. */
  readonly isolate: readonly string[];
  /** Whether all other agents also run in separate processes. */
  readonly areApart: boolean;
  /** The memory limit of each process. */
  readonly memoryMb: number;
  readonly now: () => number;
  /** How long the server has run, in ms (`loop-clock.ts`). */
  readonly ran: () => number;
  /** The troubles that the status, `/health` and the console show. */
  readonly troubles: TroubleBook;
  readonly log: (what: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** How often a process died while an agent was running. */
interface Ends {
  readonly times: number;
  /** At `MOST_ENDS` the agent gets its own process. A death counts 1, a block `MOST_ENDS`. */
  readonly weight: number;
  readonly since: number;
  readonly at: number;
}

export class Workers {
  readonly #options: WorkersOptions;
  /** Agents that begin in the shared process. */
  readonly #sharing: readonly string[];
  readonly #isolated: ReadonlySet<string>;
  readonly #shared: ProcessPool | undefined;
  readonly #own = new Map<string, ProcessPool>();
  readonly #ends = new Map<string, Ends>();

  constructor(options: WorkersOptions) {
    const { agents, isolate, areApart, ran } = options;
    this.#options = options;
    // An agent without a file cannot be loaded in another process.
    const named = [...agents].filter(([, { file }]) => file !== undefined);
    const isAlone = ([name, one]: [string, ServedAgent]): boolean => one.isIsolated || isolate.includes(name);
    const namesOf = (some: typeof named): readonly string[] => some.map(([name]) => name);
    this.#isolated = new Set(namesOf(named.filter(isAlone)));
    for (const name of this.#isolated) this.#own.set(name, this.#poolOf(name));
    this.#sharing = areApart ? namesOf(named.filter((one) => !isAlone(one))) : [];
    if (this.#sharing.length > 0) {
      const onTrouble = (trouble: Trouble): void => this.#told(trouble, true);
      this.#shared = new ProcessPool(this.#programOf(this.#sharing), { isShared: true, now: ran, onTrouble });
    }
  }

  /** Starts processes before they are needed. */
  warm(): void {
    this.#shared?.warm();
    for (const pool of this.#own.values()) pool.warm();
  }

  /** Called when the clock was set forward or the event loop was blocked. */
  readonly timeSkipped = (): void => {
    for (const pool of this.#pools) pool.timeSkipped();
  };

  async stop(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.stop()));
  }

  get #pools(): readonly ProcessPool[] {
    return [...(this.#shared === undefined ? [] : [this.#shared]), ...this.#own.values()];
  }

  /** Runs the agent's attempts in a separate process; undefined if they run in the server's own. */
  of({ agent }: Worker): Pick<Worker, 'implementation' | 'enter'> | undefined {
    const { name } = agent.spec;
    if (!this.#isolated.has(name) && !this.#sharing.includes(name)) return undefined;
    const pool = (): ProcessPool => this.#poolNow(name);
    return { implementation: performedIn(agent, pool), enter: () => pool().enter() };
  }

  #poolNow(name: string): ProcessPool {
    const own = this.#own.get(name);
    if (this.#shared === undefined || this.#isolated.has(name)) return own ?? this.#ownOf(name);
    const ends = this.#ends.size === 0 ? undefined : this.#ends.get(name);
    if (ends === undefined || ends.weight < MOST_ENDS) return this.#shared;
    if (this.#options.now() - ends.at < FORGOTTEN_MS) return own ?? this.#ownOf(name);
    this.#ends.delete(name);
    return this.#shared;
  }

  #ownOf(name: string): ProcessPool {
    // The agent did not ask to be killed at the end of its lease, and alone in a process it blocks no other.
    const pool = this.#poolOf(name, { most: MOST_OF_ITS_OWN, isPatient: true });
    this.#own.set(name, pool);
    return pool;
  }

  #poolOf(name: string, more: Pick<PoolOptions, 'most' | 'isPatient'> = {}): ProcessPool {
    const { ran } = this.#options;
    const onTrouble = (trouble: Trouble): void => this.#told({ agent: name, ...trouble }, false);
    return new ProcessPool(this.#programOf([name]), { isShared: false, now: ran, onTrouble, ...more });
  }

  #programOf(names: readonly string[]): Program {
    const files = names.map((name) => this.#options.agents.get(name)?.file ?? '');
    const loaded = files.map(loadedFile);
    // Compiled files need no TypeScript loader.
    const isCompiled = loaded.every((file, at) => file !== files[at]);
    return {
      entry: programFile('serve/isolated-process'),
      args: names.flatMap((name, at) => [name, loaded[at] ?? '']),
      execArgv: isCompiled ? [] : ['--import', typescriptLoader()],
      memoryMb: this.#options.memoryMb,
    };
  }

  /** The file, relative to the folder in which the server was started. */
  #fileOf(name: string): string | undefined {
    const file = this.#options.agents.get(name)?.file;
    return file && relative(process.cwd(), file);
  }

  #told({ agent, atWork, why, isBlock, isLoad }: Trouble, isShared: boolean): void {
    const { now: time, log, troubles } = this.#options;
    const now = time();
    const ended = (name: string, more: number): Ends => {
      const { times = 0, weight = 0, since = now } = this.#ends.get(name) ?? {};
      const one = { times: times + 1, weight: weight + more, since, at: now };
      this.#ends.set(name, one);
      return one;
    };
    if (agent === undefined) {
      for (const name of atWork) ended(name, 1);
      troubles.ended({ atWork, now, why });
      log('worker-ended', { why, oneOf: atWork });
      return;
    }
    const before = this.#ends.get(agent)?.weight ?? 0;
    const { times, weight, since } = ended(agent, isBlock === true ? MOST_ENDS : 1);
    const isMoved = isShared && before < MOST_ENDS && weight >= MOST_ENDS;
    const isAlone = !isShared || isMoved ? ({ isAlone: true } as const) : {};
    if (atWork.includes(agent))
      troubles.lost(agent, now, { why, ...defined({ file: this.#fileOf(agent) }), ...isAlone });
    // Each attempt of an agent whose code cannot be loaded fails, and reports that.
    else if (isLoad !== true) troubles.ended({ agent, atWork, now, why });
    log('worker-ended', {
      agent,
      why,
      times,
      since: new Date(since).toISOString(),
      ...(isMoved ? { next: 'each of its attempts gets a process of its own' } : {}),
    });
    if (isMoved) this.#ownOf(agent).warm();
  }
}
