/**
 * `npm run bench:profile`: shows where a function spends its processor time, by sampling a warm and busy one.
 *
 * Owns: the sampling, and the attribution of each sample. Does not own: the total (`speed.ts`).
 *
 * One agent's process, the third of a chain of five, is sampled while 256 executions are in flight. A sample
 * belongs to the nearest caller in our bundle: Node's work for a request belongs to the code that made it.
 * Node's general work, above all reading from sockets, and the garbage collector are parts of their own.
 * Sampling takes some time itself.
 */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Profiler } from 'node:inspector';
import { Command } from 'commander';
import { atLeastOne } from './parts/options.ts';
import { run, warmUp } from './parts/load.ts';
import { machine, type Machine } from './parts/machine.ts';
import { table } from './parts/print.ts';
import { keep } from './parts/results.ts';
import { type Stage, setStage } from './parts/stage.ts';

export interface Part {
  readonly part: string;
  /** Processor time per step. */
  readonly msPerStep: number;
  readonly share: number;
}
export interface ProfileReport {
  readonly machine: Machine;
  readonly steps: number;
  readonly msPerStep: number;
  readonly parts: readonly Part[];
}
interface Options {
  readonly json?: true;
  readonly save?: true;
  readonly executions: number;
}

const program = new Command('bench:profile')
  .description('Samples a busy agent and says what its processor time goes to. It takes a minute.')
  .option('--json', 'one line of JSON at the end')
  .option('--save', 'for bench:report')
  .option('--executions <n>', 'executions that are in the sample', atLeastOne, 2_000);

const AGENT = 'echoc';
const IN_FLIGHT = 256;
const EVERY_US = 200;
/** A process that gets SIGUSR1 listens here. */
const INSPECTOR = 'http://127.0.0.1:9229/json/list';

/** The first pattern that matches the source of a frame decides. */
const PARTS: readonly (readonly [RegExp, string])[] = [
  [/lib\/core\//, 'decisions (lib/core)'],
  [/lib\/(?:engine|scheduler|agent|supervisor)\/|lambdas\//, 'engine and roles (lib/engine)'],
  [/lib\/aws\/(direct|exchange|signature)/, 'calls: signing, sending, reading answers (lib/aws/direct)'],
  [/lib\/aws\/(telemetry|metrics)|powertools/, 'log and figures'],
  [/lib\/aws\//, 'records to items and back (lib/aws)'],
  [/node_modules\/(@aws-sdk|@smithy|@aws)/, 'AWS SDK'],
  [/node_modules\/zod/, 'checking inputs and outputs (zod)'],
  [/^(?:.*\/)?local\//, 'what stands for Lambda’s runtime (local)'],
  [/bench\/workflows/, 'the agent’s own code'],
];
const COLLECTOR = 'garbage collection';
const NODE = 'Node: sockets, timers, promises';

const say = (text: string): void => void process.stderr.write(`${text}\n`);

async function main({ json, save, executions }: Options): Promise<void> {
  const stage = await setStage({
    batchSize: 10,
    processes: 2,
    agentProcesses: 1,
    schedules: false,
    capacity: false,
  });
  try {
    say('Warming up …');
    await warmUp(stage, ['chain5'], IN_FLIGHT);
    say(`Sampling ${executions} executions …`);
    const load = { kind: 'chain5', payloadBytes: 100, executions, inFlight: IN_FLIGHT } as const;
    const profile = await sampled(pidOf(stage), () => run(stage, load));
    const parts = partsOf(profile, executions);
    const msPerStep = parts.reduce((sum, one) => sum + one.msPerStep, 0);
    const report: ProfileReport = { machine: machine(), steps: executions, msPerStep, parts };
    const rows = parts.map((one) => [one.part, one.msPerStep.toFixed(3), `${Math.round(one.share * 100)} %`]);
    console.log(
      `\n${table(['of an agent', 'CPU ms a step', 'share'], [...rows, ['all', msPerStep.toFixed(2), '']])}`,
    );
    if (save) keep('profile', { profile: report });
    if (json) console.log(JSON.stringify({ profile: report }));
  } finally {
    await stage.strike();
  }
}

function pidOf({ cloud: { control } }: Stage): number {
  const [found] = control
    .functions()
    .filter(({ logicalId }) => logicalId.toLowerCase().includes(AGENT))
    .flatMap(({ processes }) => processes);
  if (found === undefined) throw new Error(`no process of the agent ${AGENT} is there`);
  return found.pid;
}

async function sampled(pid: number, work: () => Promise<unknown>): Promise<Profiler.Profile> {
  process.kill(pid, 'SIGUSR1');
  const socket = await inspectorOf();
  const answers = new Map<number, (result: unknown) => void>();
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { readonly id: number; readonly result: unknown };
    answers.get(id)?.(result);
  });
  const ask = (id: number, method: string, params: object = {}): Promise<unknown> =>
    new Promise((resolve) => {
      answers.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
  await ask(1, 'Profiler.enable');
  await ask(2, 'Profiler.setSamplingInterval', { interval: EVERY_US });
  await ask(3, 'Profiler.start');
  await work();
  const { profile } = (await ask(4, 'Profiler.stop')) as { readonly profile: Profiler.Profile };
  socket.close();
  return profile;
}

/** Waits until the inspector listens, which takes it a moment. */
async function inspectorOf(): Promise<WebSocket> {
  for (let tries = 0; tries < 50; tries += 1) {
    await new Promise((done) => setTimeout(done, 100));
    const answer = await fetch(INSPECTOR).catch(() => undefined);
    const [target] = ((await answer?.json()) ?? []) as { readonly webSocketDebuggerUrl: string }[];
    if (target === undefined) continue;
    const socket = new WebSocket(target.webSocketDebuggerUrl);
    await new Promise((opened) => socket.addEventListener('open', opened, { once: true }));
    return socket;
  }
  throw new Error(`the process does not listen at ${INSPECTOR}; is another debugger open there?`);
}

function partsOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile, steps: number): Part[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  const partOfFrame = sources();
  const partOf = (id: number): string | undefined => {
    const name = byId.get(id)?.callFrame.functionName;
    if (name === '(idle)') return undefined;
    if (name === '(garbage collector)') return COLLECTOR;
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const part = partOfFrame(byId.get(at)?.callFrame);
      if (part !== undefined) return part;
    }
    return NODE;
  };
  const parts = new Map<string, number>();
  samples.forEach((id, at) => {
    const part = partOf(id);
    if (part !== undefined) parts.set(part, (parts.get(part) ?? 0) + (timeDeltas[at] ?? 0) / 1_000);
  });
  const all = [...parts.values()].reduce((sum, ms) => sum + ms, 0);
  return [...parts]
    .map(([part, ms]) => ({ part, msPerStep: ms / steps, share: ms / all }))
    .sort((one, other) => other.msPerStep - one.msPerStep);
}

/** Resolves through the bundle's source map, which is read once. */
function sources(): (frame: Profiler.ProfileNode['callFrame'] | undefined) => string | undefined {
  const maps = new Map<string, SourceMap>();
  return (frame) => {
    if (frame === undefined || !frame.url.startsWith('file:')) return undefined;
    let source: string = frame.url;
    if (source.endsWith('/index.mjs')) {
      const map =
        maps.get(source) ?? new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${source}.map`), 'utf8')));
      maps.set(source, map);
      const entry = map.findEntry(frame.lineNumber, frame.columnNumber);
      source = 'originalSource' in entry ? entry.originalSource : '';
    }
    return PARTS.find(([pattern]) => pattern.test(source))?.[1];
  };
}

/** Node 20 has a WebSocket only with a flag. */
function withWebSocket(): void {
  const [, ...args] = process.argv;
  const again = ['--experimental-websocket', ...process.execArgv, ...args];
  process.exitCode = spawnSync(process.execPath, again, { stdio: 'inherit' }).status ?? 1;
}

if (typeof WebSocket === 'undefined') withWebSocket();
else await main(program.parse().opts<Options>());
