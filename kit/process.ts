/**
 * Simulates a process: one invocation of a function, with its ports.
 *
 * Owns: stopping all work of dead and frozen processes, and naming the points for faults, which are around
 * every call that changes state. Does not own: when a fault occurs, the code in the process.
 *
 * A sent request takes effect even if its sender dies. Promises that a dead process awaits never settle.
 */

import type { AgentSpec } from '../lib/core/plan/agent.ts';
import type { Send, Write } from '../lib/core/decisions/decision.ts';
import type { News } from '../lib/core/decisions/news.ts';
import type { Clock, Lanes, LargeValues, Ports } from '../lib/core/ports.ts';
import type { ExecutionMessage } from '../lib/core/records/mailbox.ts';
import type { Execution } from '../lib/core/records/state.ts';
import type { MemoryWorld } from '../lib/memory/world.ts';
import type { StepNames } from './step-names.ts';

/**
 * Called at every point of a run, with its name ('after:write:7') and its subject.
 * @param advice what to change if the fault does harm, if known
 * @returns whether the fault of this name occurs here
 */
export type Injects = (point: string, about: string, advice?: string) => boolean;

/** The state that all processes of a run share. */
export interface Host {
  readonly world: MemoryWorld;
  readonly injects: Injects;
  /** How long an effect may still occur after its caller gave up, in ms. */
  readonly lateMs: (agent: AgentSpec) => number;
  /** Counts the calls of a kind: 1, 2, … … */
  readonly count: (what: string) => number;
  /** Called with each execution when it is created. */
  readonly hasCreated: (execution: Execution) => void;
  /** The step names of all executions so far. */
  readonly names: StepNames;
}

export interface Process {
  readonly ports: Ports;
  readonly kill: () => void;
  readonly isDead: () => boolean;
  readonly freezeUntil: (at: number) => void;
  /** Settles at once if the process is alive, after the thaw if it is frozen, and never if it is dead. */
  readonly alive: () => Promise<void>;
  /** Settles when it is killed, but not at its deadline. */
  readonly died: Promise<void>;
}

const never: Promise<never> = new Promise(() => undefined);

/** Reads. They are not points for faults, because a crash after one equals the crash before the next call. */
const READS: ReadonlySet<string> = new Set([
  'read',
  'readSteps',
  'readExecution',
  'readPlan',
  'due',
  'list',
  'inbox',
  'getValue',
  'readLane',
  'queued',
  'readMailbox',
  'readMessage',
]);

/** @param processDeadlineAt when the platform ends it, in epoch ms */
export function startProcess(host: Host, name: string, processDeadlineAt: number): Process {
  const { world } = host;
  const fate = { dead: false, frozenUntil: 0 };
  let tellDeath = (): void => undefined;
  const died = new Promise<void>((resolve) => {
    tellDeath = resolve;
  });
  const kill = (): void => {
    fate.dead = true;
    tellDeath();
  };
  const alive = async (): Promise<void> => {
    for (let leftMs = 1; leftMs > 0 && !fate.dead; ) {
      leftMs = fate.frozenUntil - world.clock.now();
      if (leftMs > 0) await world.clock.sleep(leftMs);
    }
    if (fate.dead || world.clock.now() >= processDeadlineAt) await never;
  };
  const call: Call = async (method, args, perform) => {
    await alive();
    if (READS.has(method)) {
      const answer = await perform();
      await alive();
      return answer;
    }
    const place = `${method}:${host.count(method)}`;
    const about = `${name} ${aboutCall(host.names, method, args)}`;
    if (host.injects(`before:${place}`, about)) kill();
    await alive();
    const answer = await perform();
    if (method === 'create') host.hasCreated(args[0] as Execution);
    if (host.injects(`after:${place}`, about)) kill();
    await alive();
    return answer;
  };
  const clock: Clock = {
    now: world.clock.now,
    sleep: async (ms, signal) => {
      await world.clock.sleep(ms, signal);
      await alive();
    },
  };
  return {
    ports: { ...portsThrough(world, call), clock },
    kill,
    isDead: () => fate.dead,
    freezeUntil: (at) => {
      fate.frozenUntil = at;
    },
    alive,
    died,
  };
}

type Call = (method: string, args: readonly unknown[], perform: () => Promise<unknown>) => Promise<unknown>;

/** The ports, with the calls that change state passed through `call`. */
const portsThrough = (world: MemoryWorld, call: Call): Ports => ({
  ...world,
  store: through(world.store, call),
  queue: through(world.queue, call),
  announcer: through(world.announcer, call),
  rates: through(world.rates, call),
  lanes: lanesThrough(world.lanes, call),
  mailboxes: through(world.mailboxes, call),
  ...(world.largeValues === undefined ? {} : { largeValues: valuesThrough(world.largeValues, call) }),
});

const lanesThrough = (lanes: Lanes, call: Call): Lanes => {
  const { hash, ...calls } = lanes;
  return { ...through(calls as Lanes, call), hash };
};

const valuesThrough = (values: LargeValues, call: Call): LargeValues => ({
  hash: values.hash,
  put: async (key, json) => void (await call('putValue', [key], () => values.put(key, json))),
  get: async (key) => (await call('getValue', [key], () => values.get(key))) as string | undefined,
});

/** Passes all methods of a port through `call`. */
const through = <Port extends object>(port: Port, call: Call): Port =>
  new Proxy(port, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      const method = member as (...args: unknown[]) => Promise<unknown>;
      return (...args: unknown[]) => call(String(key), args, () => method.apply(target, args));
    },
  });

/** Describes the record or message of a call. */
function aboutCall(names: StepNames, method: string, args: readonly unknown[]): string {
  if (method === 'write') {
    if ('givenUntil' in (args[0] as object)) return 'takes a slot of its rate';
    const { executionId: id, execution, step, question, taken } = args[0] as Write;
    const records = [
      ...(taken === undefined ? [] : [`message '${taken.message.name}' as taken`]),
      ...(step === undefined ? [] : [`step ${names.quoted(id, step.name)} as ${step.status}`]),
      ...(execution === undefined ? [] : [`the execution as ${execution.status}`]),
      ...(question === undefined ? [] : [questionText(names, id, question)]),
    ];
    return `writes ${records.join(' and ')}`;
  }
  if (method === 'send') {
    const steps = (args[0] as readonly Send[]).map(
      ({ message: { mode, execution: of, step } }) => `${mode} ${names.quoted(of, step)}`,
    );
    return `sends ${steps.join(', ')}`;
  }
  if (method === 'create') return 'creates the execution';
  if (method === 'writePlan') return 'stores the plan';
  if (method === 'queue') return 'queues in its lane';
  if (method === 'unqueue') return 'leaves the queue of its lane';
  if (method === 'writeLane') return 'writes who has a place in the lane';
  if (method === 'accept') return `accepts message '${(args[1] as ExecutionMessage).name}'`;
  if (method === 'writeMailbox') return 'writes that the mailbox was evaluated';
  if (method === 'putValue') return 'puts a large value beside the table';
  return method === 'announce' ? `announces ${aboutNews(names, args[0] as News)}` : `calls ${method}`;
}

const questionText = (
  names: StepNames,
  executionId: string,
  {
    number,
    kind,
    step = '',
  }: { readonly number?: number | undefined; readonly kind: string; readonly step?: string | undefined },
): string => (number === undefined ? `the ${kind} ${names.quoted(executionId, step)}` : `incident ${number}`);

function aboutNews(names: StepNames, news: News): string {
  if (news.about === 'end') return 'the end';
  if (news.about === 'question') {
    const { executionId, incident: number, kind, step } = news;
    return `that ${questionText(names, executionId, { number, kind, step })} is ${news.change}`;
  }
  return `news: ${news.change}`;
}
