/**
 * The order of calls: every way in which processes of the real engine can take turns at the store, and the
 * point at which one of them is killed. Nothing is mirrored here; a state is identified by the calls that led
 * to it, and is reached again by repeating them.
 *
 * Owns: processes that stop at each call, the search over their turns, the search backwards for states from
 * which no end is reached without a kill. Does not own: which processes begin, and the invariants (the scenes
 * beside it).
 *
 * Two states are equal if the same is stored and their processes have had the same answers. Time passes only
 * while no process is under way.
 */

import type { Ports } from '../../../lib/core/ports.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import { canonicalJson, type Json } from '../../../lib/core/values/json.ts';
import { memoryWorld, type MemoryWorld } from '../../../lib/memory/world.ts';
import type { Explored, Limits } from '../explore.ts';

/** The things that can begin in a state: a request, a sweep, the passing of time. */
export interface Beginning {
  readonly name: string;
  /** Set if an execution can reach its end without it. */
  readonly isFault?: true;
  readonly begin: (ports: Ports) => Promise<unknown>;
}

/** The stored records, read once for each state. */
export interface Seen {
  readonly world: MemoryWorld;
  /** All executions, ordered by id. */
  readonly all: readonly Snapshot[];
  /** How many processes are under way. */
  readonly underWay: number;
}

/** One run of a scene, from its start. */
export interface Scene {
  readonly kills: number;
  /** How often the turn may pass to another process while a process has not ended. */
  readonly overtakings: number;
  /** The possible starts of another process. @param busy the processes under way */
  readonly beginnings: (seen: Seen, busy: readonly string[]) => readonly Beginning[];
  readonly problems: (seen: Seen) => readonly string[];
  readonly isEnd: (seen: Seen) => boolean;
  /** Properties that a state must have once, or the search shows nothing about them. */
  readonly goals: Readonly<Record<string, (seen: Seen) => boolean>>;
  /** State of the run that is not stored. */
  readonly memory: () => string;
}

/** The last word of its name: two processes with the same one do not begin at the same time. */
const aboutOf = (name: string): string => name.slice(name.lastIndexOf(' '));

/**
 * All possible beginnings that no process has begun; if none need begin, time passes to the next wake time.
 * @param others wake times beside those of executions
 */
export function orTime(
  world: MemoryWorld,
  all: readonly Snapshot[],
  busy: readonly string[],
  possible: readonly Beginning[],
  others: readonly number[] = [],
): readonly Beginning[] {
  const free = possible.filter(({ name }) => !busy.some((other) => aboutOf(other) === aboutOf(name)));
  if (busy.length > 0 || free.some(({ isFault }) => isFault !== true)) return free;
  const wakes = [...all.flatMap(({ execution: { wakeAt } }) => wakeAt ?? []), ...others];
  if (wakes.length === 0) return free;
  return [...free, { name: 'time', begin: async () => world.clock.advanceTo(Math.min(...wakes)) }];
}

/** The ports of one process, without one of the rules they obey. */
export type Planted = (ports: Ports) => Ports;

interface Call {
  readonly go: () => void;
}

/**
 * A process that stops before each call until it may continue; the calls of one process follow one another.
 */
class Process {
  readonly name: string;
  readonly pending: Call[] = [];
  readonly answers: string[] = [];
  isOver = false;

  constructor(name: string) {
    this.name = name;
  }

  through<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key);
        if (typeof member !== 'function' || key === 'hash' || key === 'readPlan' || key === 'writePlan')
          return member;
        const method = member as (...args: unknown[]) => Promise<unknown>;
        return (...args: unknown[]) =>
          new Promise((resolve, reject) => {
            const go = (): void => {
              method.apply(target, args).then((answer) => {
                this.answers.push(`${String(key)} ${textOf(answer)}`);
                resolve(answer);
              }, reject);
            };
            this.pending.push({ go });
          });
      },
    });
  }
}

const textOf = (value: unknown): string =>
  value === undefined
    ? ''
    : canonicalJson(JSON.parse(JSON.stringify(value, (key, one) => (key === 'writeId' ? '' : one))) as Json);

/** Counts promises, not time. */
const MANY_TURNS = 5_000;
const FEW_TURNS = 20;

const baseOf = (name: string): string => name.replace(/#.*/, '');

async function snapshotsIn({ store }: MemoryWorld): Promise<readonly Snapshot[]> {
  const { items } = await store.inventory(Number.MAX_SAFE_INTEGER).page({ index: 0, of: 1 });
  const all = new Map<string, { execution: Execution; steps: Record<string, Step> }>();
  for (const found of items)
    if (found.kind === 'execution') all.set(found.execution.id, { execution: found.execution, steps: {} });
  for (const found of items) {
    const steps = found.kind === 'step' ? all.get(found.executionId)?.steps : undefined;
    if (found.kind === 'step' && steps !== undefined) steps[found.step.name] = found.step;
  }
  return [...all.values()];
}

interface Move {
  readonly name: string;
  readonly isFault: boolean;
}

/** A scene with its processes, as far as they have come. */
export class Run {
  readonly world: MemoryWorld = memoryWorld();
  readonly scene: Scene;
  processes: Process[] = [];
  readonly #planted: Planted;
  #ids = 0;
  #seen: Seen | undefined;
  kills = 0;
  overtakings = 0;
  current = '';
  begun = 0;

  constructor(make: () => Scene, planted: Planted) {
    this.scene = make();
    this.#planted = planted;
  }

  async seen(): Promise<Seen> {
    const underWay = this.processes.length;
    this.#seen ??= { world: this.world, all: await snapshotsIn(this.world), underWay };
    return this.#seen;
  }

  async key(): Promise<string> {
    const { lanes, store } = this.world;
    const under = this.processes
      .map(({ name, answers, pending }) => `${baseOf(name)} ${pending.length} ${answers.join()}`)
      .toSorted();
    return [
      textOf((await this.seen()).all),
      textOf([...lanes.lanes.values()].map((lane) => [lane, lanes.inQueue(lane.lane)])),
      textOf(
        store.mailboxes
          .found()
          .map(({ executionId, life, message }) =>
            message === undefined
              ? store.mailboxes.readMailbox(executionId, life)
              : store.mailboxes.readMessage(executionId, life, message),
          ),
      ),
      `${this.world.clock.now()} ${this.kills} ${this.overtakings} ${this.scene.memory()}`,
      baseOf(this.current),
      ...under,
    ]
      .join('\n')
      .replaceAll(/qq\d+qq/g, '');
  }

  async moves(): Promise<readonly Move[]> {
    const busy = this.processes.map(({ name }) => name);
    const isBusy = busy.includes(this.current);
    const mayOvertake = !isBusy || this.overtakings < this.scene.overtakings;
    const going = busy.filter((name) => name === this.current || mayOvertake);
    const killed = this.kills < this.scene.kills ? busy : [];
    const seen = await this.seen();
    const all = mayOvertake && busy.length < 2 ? this.scene.beginnings(seen, busy.map(baseOf)) : [];
    return [
      ...going.map((name) => ({ name: `go ${name}`, isFault: false })),
      ...killed.map((name) => ({ name: `kill ${name}`, isFault: true })),
      ...all.map(({ name, isFault }) => ({ name: `begin ${name}`, isFault: isFault === true })),
    ];
  }

  async make(move: string): Promise<void> {
    const [, verb, name = ''] = /^(\w+) (.*)$/.exec(move) ?? [];
    const known = this.processes.find((one) => one.name === name);
    const isOvertaken = this.processes.some((one) => one.name === this.current) && name !== this.current;
    if (verb !== 'kill' && isOvertaken) this.overtakings += 1;
    if (verb === 'go') this.current = name;
    if (verb === 'go') known?.pending.shift()?.go();
    else if (verb === 'begin') await this.#begin(name);
    else this.kills += 1;
    if (verb === 'kill') this.processes = this.processes.filter((one) => one !== known);
    await this.#settled();
    this.processes = this.processes.filter(({ isOver }) => !isOver);
    this.#seen = undefined;
  }

  /** Waits until each process stands before a call, or has ended. */
  async #settled(): Promise<void> {
    const isMoving = ({ pending, isOver }: Process): boolean => pending.length === 0 && !isOver;
    for (let turns = 0; turns < MANY_TURNS && this.processes.some(isMoving); turns += 1)
      await Promise.resolve();
    if (this.processes.some(isMoving)) await new Promise((resolve) => setImmediate(resolve));
    // Calls that are made side by side all stop there.
    for (let turns = 0; turns < FEW_TURNS; turns += 1) await Promise.resolve();
  }

  async #begin(name: string): Promise<void> {
    const busy = this.processes.map((one) => baseOf(one.name));
    const all = this.scene.beginnings(await this.seen(), busy);
    const process = new Process(`${name}#${(this.begun += 1)}`);
    const { store, lanes, mailboxes, clock, ...others } = this.world;
    const [base = ''] = name.split(' ');
    const ports = this.#planted({
      ...others,
      store: process.through(store),
      lanes: process.through(lanes),
      mailboxes: process.through(mailboxes),
      clock: { now: clock.now, sleep: async () => undefined },
      random: { id: () => `${base}qq${(this.#ids += 1)}qq`, number: () => 0.5 },
    });
    this.processes = [...this.processes, process];
    this.current = process.name;
    const over = (): void => void (process.isOver = true);
    void all
      .find((one) => one.name === name)
      ?.begin(ports)
      .then(over, over);
  }
}

async function again(make: () => Scene, planted: Planted, moves: readonly string[]): Promise<Run> {
  const run = new Run(make, planted);
  for (const move of moves) await run.make(move);
  return run;
}

interface Known {
  readonly parent: number;
  readonly move: string;
  readonly healthyTo: number[];
}

function movesTo(states: readonly Known[], target: number): string[] {
  const moves: string[] = [];
  for (let at = target; at > 0; at = (states[at] as Known).parent) moves.push((states[at] as Known).move);
  return moves.toReversed();
}

/** Depth first: one of the next states continues in the same run, the others are reached again. */
export async function exploreScene(
  make: () => Scene,
  planted: Planted,
  { maxStates, firstOnly }: Limits,
): Promise<Explored> {
  const ids = new Map<string, number>();
  const states: Known[] = [];
  const ends: number[] = [];
  const goals = new Map(Object.entries(make().goals));
  let [edges, violations, closed] = [0, 0, true];
  let first: Explored['first'];
  const visit = async (run: Run, parent: number, move: string): Promise<[number, boolean]> => {
    const key = await run.key();
    const known = ids.get(key);
    if (known !== undefined) return [known, false];
    ids.set(key, states.length);
    states.push({ parent, move, healthyTo: [] });
    return [states.length - 1, true];
  };
  const start = new Run(make, planted);
  await visit(start, -1, '');
  const open: { readonly at: number; readonly moves: readonly string[]; run: Run | undefined }[] = [
    { at: 0, moves: [], run: start },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (states.length > maxStates || (violations > 0 && firstOnly)) {
      closed = false;
      break;
    }
    const { at, moves } = next;
    let run: Run | undefined = next.run ?? (await again(make, planted, moves));
    const { scene } = run;
    const seen = await run.seen();
    const problems = scene.problems(seen);
    if (problems.length > 0) {
      violations += 1;
      first ??= { problems, trace: movesTo(states, at) };
      continue;
    }
    if (scene.isEnd(seen)) ends.push(at);
    for (const [name, holds] of goals) if (holds(seen)) goals.delete(name);
    const all = await run.moves();
    for (const { name, isFault } of all) {
      const there: Run = run ?? (await again(make, planted, moves));
      run = undefined;
      await there.make(name);
      const [id, isNew] = await visit(there, at, name);
      edges += 1;
      if (!isFault) (states[at] as Known).healthyTo.push(id);
      if (isNew) open.push({ at: id, moves: [...moves, name], run: undefined });
      const top = open.at(-1);
      // The run that made the latest call continues there; all other states are reached again from the start.
      if (isNew && top !== undefined && name === all.at(-1)?.name) top.run = there;
    }
  }
  const lost = closed && violations === 0 ? stuckAmong(states, ends) : [];
  if (lost[0] !== undefined)
    first ??= { problems: ['L1 no end can be reached from here'], trace: movesTo(states, lost[0]) };
  const counts = { states: states.length, edges, violations, stuck: lost.length };
  return { ...counts, closed, unreached: [...goals.keys()], ...(first && { first }) };
}

function stuckAmong(states: readonly Known[], ends: readonly number[]): number[] {
  const before: number[][] = states.map(() => []);
  for (const [at, { healthyTo }] of states.entries()) for (const to of healthyTo) before[to]?.push(at);
  const good = new Set(ends);
  const queue = [...ends];
  for (let at = queue.pop(); at !== undefined; at = queue.pop())
    for (const from of before[at] ?? [])
      if (!good.has(from)) {
        good.add(from);
        queue.push(from);
      }
  return [...states.keys()].filter((at) => !good.has(at));
}
