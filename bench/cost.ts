/**
 * `npm run bench:cost`: computes the cost of a million steps on AWS from the calls on the local cloud.
 *
 * Owns: the cases, the limits, the output. Does not own: the counting (`parts/meter.ts`), the prices
 * (`parts/prices.ts`), costs other than steps (`parts/situations.ts`).
 */

import { Command } from 'commander';
import { atLeastOne } from './parts/options.ts';
import { KINDS, type Load, run, warmUp, type WorkflowName } from './parts/load.ts';
import { type FunctionUse, type Reading, unitsOf } from './parts/meter.ts';
import {
  apiDollars,
  BILLED,
  DOLLAR_HEADS,
  type Dollars,
  dollars,
  logDollars,
  PRICES,
  rivals,
  type Rivals,
  total,
  type Units,
} from './parts/prices.ts';
import { printVerdicts, type Verdict } from './parts/limits.ts';
import { keep, replaced, resultOf } from './parts/results.ts';
import { type Situations, situations } from './parts/situations.ts';
import { type Stage, setStage, type StageOptions } from './parts/stage.ts';
import { machine, type Machine } from './parts/machine.ts';
import { table } from './parts/print.ts';
import { type TagPrice, tagPrice } from './parts/tag.ts';
import { costVerdicts } from './parts/verdicts.ts';

const PAYLOADS = [100, 1_024, 16_384] as const;
const KIND_NAMES = Object.keys(KINDS) as WorkflowName[];
type Mode = 'atRest' | 'underLoad';
/** `underLoad` uses batches of ten, and enough running steps to fill them. */
const BATCH = 10;
const MAX_INPUT_BYTES = 262_144;
const IN_FLIGHT = 250;
/**
 * Under load an agent has one process, so that its queue is never empty; the functions that start executions
 * have more.
 */
const STAGES: Readonly<Record<Mode, StageOptions>> = {
  atRest: { batchSize: 1, processes: 1, schedules: false },
  underLoad: { batchSize: BATCH, processes: 5, agentProcesses: 1, schedules: false },
};

/** The name in `--only` for the price of a tag. */
const TAG = 'tag';

export interface CostCase {
  readonly kind: WorkflowName;
  readonly payloadBytes: number;
  readonly mode: Mode;
  readonly executions: number;
  readonly steps: number;
  readonly usdPerMillionSteps: number;
  /** The limit for this case, if there is one. */
  readonly limit?: number;
  readonly parts: Dollars;
  /** The units of one execution. */
  readonly units: Units;
  /** Processor time of all functions. */
  readonly cpuMsPerStep: number;
  /** How many messages one invocation of an agent processed. */
  readonly messagesPerInvocation: number;
  /** Requests to the API, not part of the sum. */
  readonly apiGateway: number;
  readonly logs: number;
  readonly peers: Rivals;
}

export interface OneHost {
  readonly machine: Machine;
  readonly cases: readonly CostCase[];
}

export interface CostReport {
  readonly machine: Machine;
  readonly prices: { readonly asOf: string };
  readonly cases: readonly CostCase[];
  /** The first case under load again, with `transport: 'sdk'`. */
  readonly bySdk?: CostCase;
  /** Cases in one host, which `--one-host --save` keeps. */
  readonly oneHost?: OneHost;
  readonly situations?: Situations;
  /** The price of a tag. */
  readonly tag?: TagPrice;
  readonly limits: readonly Verdict[];
}

const LIMITS: Readonly<Record<string, number>> = {
  'chain5/100/atRest': 4,
  'chain5/100/underLoad': 3,
  'chain5/1024/underLoad': 3.8,
  'mixed20/100/underLoad': 2.3,
};

/** The limits if all agents share one function. */
const LIMITS_OF_ONE_HOST: Readonly<Record<string, number>> = {
  'chain5/100/atRest': 2.85,
  'chain5/100/underLoad': 2.6,
};

interface Options {
  readonly json?: true;
  readonly save?: true;
  readonly only?: string;
  readonly situations: boolean;
  readonly executions: number;
  readonly oneHost?: true;
}

const program = new Command('bench:cost')
  .description(
    'Runs executions on a fresh local cloud and counts every AWS unit that they would be billed for. Counts do not depend on how busy the machine is; only the processor time in Lambda’s GB-seconds does.',
  )
  .option('--json', 'one line of JSON at the end')
  .option('--save', 'for bench:report; of all cases together, or of some in one host')
  .option('--one-host', 'all agents share one function, which takes one message an invocation')
  .option('--only <kind/bytes/mode>', 'cases that begin like this, e.g. chain5/100, mixed20 or tag')
  .option(
    '--executions <n>',
    'of five steps in a case at rest; five times as many under load',
    atLeastOne,
    40,
  )
  .option(
    '--no-situations',
    'without idling, deferring, waiting, heartbeats and queueing, which take eight minutes',
  );

const say = (text: string): void => void process.stderr.write(`${text}\n`);

async function main(options: Options): Promise<void> {
  const named = (['atRest', 'underLoad'] as const).flatMap((mode) =>
    wanted(mode, {}).map((one) => nameOf(one, mode)),
  );
  const all = [...named, TAG];
  if (options.only !== undefined && !all.some((name) => name.startsWith(options.only ?? '')))
    program.error(`error: no case begins with ${options.only}; there are ${all.join(', ')}`);
  const isPart = options.only !== undefined || !options.situations;
  if (options.save && isPart && options.oneHost === undefined)
    program.error(
      'error: only all cases together are kept: --save goes with neither --only nor --no-situations',
    );
  const cases = [...(await measure('atRest', options)), ...(await measure('underLoad', options))];
  const again = cases.find((one) => one.mode === 'underLoad');
  const bySdk = again && options.oneHost === undefined ? await measureBySdk(again) : undefined;
  const found = options.situations ? { situations: await situations(say) } : {};
  const tag = TAG.startsWith(options.only ?? '') ? { tag: await tagPrice(options.executions) } : {};
  const about = { machine: machine(), prices: { asOf: PRICES.asOf } };
  const sdk = bySdk === undefined ? {} : { bySdk };
  const stored = resultOf('cost') as CostReport | undefined;
  const measured = options.oneHost ? { cases: [], oneHost: { ...about, cases } } : { cases };
  const limits = [...costVerdicts({ ...measured, ...found }), ...(tag.tag?.limits ?? [])];
  const report: CostReport = { ...about, cases, ...sdk, ...found, ...tag, limits };
  print(report);
  if (options.save) {
    const { oneHost } = stored ?? {};
    const key = (one: CostCase): string => nameOf({ kind: one.kind, bytes: one.payloadBytes }, one.mode);
    const known = { machine: about.machine, cases: replaced(oneHost?.cases ?? [], cases, key) };
    if (options.oneHost) keep('cost', { ...stored, oneHost: known });
    else keep('cost', { ...headline(cases), ...report, ...(oneHost && { oneHost }) });
  }
  if (options.json) console.log(JSON.stringify({ ...headline(cases), ...report }));
}

interface Wanted {
  readonly kind: WorkflowName;
  readonly bytes: number;
}
const nameOf = ({ kind, bytes }: Wanted, mode: Mode): string => `${kind}/${bytes}/${mode}`;

const wanted = (mode: Mode, { only = '' }: Pick<Options, 'only'>): Wanted[] =>
  KIND_NAMES.flatMap((kind) => PAYLOADS.map((bytes) => ({ kind, bytes }))).filter(
    (one) =>
      // Leaves out lists whose hundred items exceed the limit of an input.
      one.bytes * (one.kind === 'map100' ? 100 : 1) < MAX_INPUT_BYTES && nameOf(one, mode).startsWith(only),
  );

async function measure(mode: Mode, options: Options): Promise<CostCase[]> {
  const chosen = wanted(mode, options);
  if (chosen.length === 0) return [];
  say(`Starting the local cloud for what is measured ${mode === 'atRest' ? 'at rest' : 'under load'} …`);
  const stage = await setStage({ ...STAGES[mode], ...hostOf(options) });
  try {
    const kinds = [...new Set(chosen.map(({ kind }) => kind))];
    await warmUp(stage, kinds, mode === 'underLoad' ? IN_FLIGHT : 1);
    const cases: CostCase[] = [];
    for (const { kind, bytes } of chosen) {
      const load = loadOf(kind, bytes, mode, options.executions);
      const one = await measureOne(stage, mode, load, options.oneHost);
      say(`  ${kind} ${bytes} B: $${one.usdPerMillionSteps.toFixed(2)} per million steps`);
      cases.push(one);
    }
    return cases;
  } finally {
    await stage.strike();
  }
}

/** Unchanged units are counted as well, because the calls are the same. */
async function measureBySdk({ kind, payloadBytes, executions, mode }: CostCase): Promise<CostCase> {
  say('The same by the AWS SDK …');
  const stage = await setStage({ ...STAGES[mode], transport: 'sdk' });
  try {
    await warmUp(stage, [kind], IN_FLIGHT);
    const inFlight = Math.min(executions, IN_FLIGHT);
    return await measureOne(stage, mode, { kind, payloadBytes, executions, inFlight });
  } finally {
    await stage.strike();
  }
}

/** Chooses the load so that each case has about as many steps. */
function loadOf(kind: WorkflowName, payloadBytes: number, mode: Mode, executions: number): Load {
  const steps = executions * 5 * (mode === 'underLoad' ? 5 : 1);
  const count = Math.max(mode === 'underLoad' ? 8 : 3, Math.ceil(steps / KINDS[kind].steps));
  const inFlight = mode === 'atRest' ? 1 : Math.min(count, IN_FLIGHT);
  return { kind, payloadBytes, executions: count, inFlight };
}

const hostOf = ({ oneHost }: Pick<Options, 'oneHost'>): Partial<StageOptions> =>
  oneHost === true ? { oneHost, batchSize: 1 } : {};

async function measureOne(stage: Stage, mode: Mode, load: Load, oneHost?: true): Promise<CostCase> {
  const { kind, payloadBytes, executions } = load;
  const { reading, steps } = await run(stage, load);
  // A host's steps run one after the other in an invocation, and each waits for its own calls.
  const side = steps / invocationsOfAgents(reading.functions);
  const messagesPerInvocation = oneHost === true ? 1 : Math.max(1, side);
  const units = unitsOf(reading, messagesPerInvocation);
  const parts = dollars(units, steps);
  const limit = (oneHost === true ? LIMITS_OF_ONE_HOST : LIMITS)[`${kind}/${payloadBytes}/${mode}`];
  const { containers } = KINDS[kind];
  return {
    kind,
    payloadBytes,
    mode,
    executions,
    steps,
    usdPerMillionSteps: total(parts),
    ...(limit === undefined ? {} : { limit }),
    parts,
    units: perExecution(units, executions),
    cpuMsPerStep: reading.functions.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / steps,
    messagesPerInvocation,
    apiGateway: apiDollars(units, steps),
    logs: logDollars(units, steps),
    peers: rivals({ steps: KINDS[kind].steps, containers, payloadBytes }),
  };
}

const invocationsOfAgents = (functions: Reading['functions']): number =>
  functions
    .filter(({ role }: FunctionUse) => role === 'agent')
    .reduce((sum, { invocations }) => sum + invocations, 0);

const perExecution = (units: Units, executions: number): Units =>
  Object.fromEntries(Object.entries(units).map(([what, count]) => [what, count / executions])) as Units;

/** The figures for the limits, by name. */
function headline(cases: readonly CostCase[]): Record<string, Partial<Record<Mode, unknown>>> {
  const names = {
    chain5: ['chain5', 100],
    chain5At1KB: ['chain5', 1_024],
    mixed20: ['mixed20', 100],
  } as const;
  return Object.fromEntries(
    Object.entries(names).map(([name, [kind, bytes]]) => {
      const found = cases.filter((one) => one.kind === kind && one.payloadBytes === bytes);
      const of = found.map(({ mode, usdPerMillionSteps, parts, units, limit }) => [
        mode,
        { usdPerMillionSteps, limit, usdByComponent: parts, unitsPerExecution: units },
      ]);
      return [name, Object.fromEntries(of) as Partial<Record<Mode, unknown>>];
    }),
  );
}

const money = (usd: number): string => usd.toFixed(2);

function print({ cases, bySdk, situations: found, limits }: CostReport): void {
  const rows = cases.map((one) => [
    one.kind,
    `${one.payloadBytes} B`,
    one.mode === 'atRest' ? 'at rest' : `load (${one.messagesPerInvocation.toFixed(1)} a batch)`,
    ...BILLED.map((what) => money(one.parts[what])),
    money(one.usdPerMillionSteps),
    money(one.apiGateway),
    money(one.logs),
    money(one.peers.stepFunctionsStandard),
    money(one.peers.lambdaDurable),
  ]);
  console.log('\n$ per million steps\n');
  console.log(table(['workflow', 'payload', 'how', ...DOLLAR_HEADS], rows));
  const direct = cases.find((one) => one.kind === bySdk?.kind && one.mode === bySdk.mode);
  if (bySdk !== undefined && direct !== undefined)
    console.log(
      `\nProcessor time of a step, ${bySdk.kind}, ${bySdk.payloadBytes} B, under load: ${direct.cpuMsPerStep.toFixed(2)} ms; with transport 'sdk' ${bySdk.cpuMsPerStep.toFixed(2)} ms, and $${money(bySdk.usdPerMillionSteps)} per million steps in place of $${money(direct.usdPerMillionSteps)}`,
    );
  const shown = cases.find(({ limit }) => limit !== undefined) ?? cases[0];
  if (shown !== undefined) console.log(`\n${arithmetic(shown).join('\n')}`);
  if (found !== undefined) console.log(`\n${found.lines.join('\n')}`);
  printVerdicts(limits);
}

/** Shows how the sum of one case is computed. */
export function arithmetic({
  kind,
  payloadBytes,
  mode,
  units,
  steps,
  executions,
  parts,
  peers,
}: CostCase): string[] {
  const each = steps / executions;
  return [
    `${kind}, ${payloadBytes} B, ${mode === 'atRest' ? 'at rest' : 'under load'}: of one execution with ${each} steps`,
    ...BILLED.map(
      (what) =>
        `  ${what} ${units[what].toFixed(3)} / ${each} × 1 M × $${PRICES.usd[what].toPrecision(3)} = $${money(parts[what])}`,
    ),
    ...peers.arithmetic.map((line) => `  ${line}`),
  ];
}

await main(program.parse().opts<Options>());
