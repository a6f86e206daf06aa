/**
 * What executions of a workflow cost on AWS, from the shape of its plan.
 *
 * Owns: the quantities of one healthy execution, and their sum. Does not own: the prices (`aws-prices.ts`).
 * Pure. The constants are what `bench/cost.ts` counts on the wire; a test holds the estimate within
 * `TOLERANCE` of the recorded counts.
 *
 * It takes every step once: none fails, is skipped, undone, tried again or queued beyond its pickup time.
 */

import type { WorkflowStepView } from '../../lib/api/deployment-answers.ts';
import { LARGE_VALUE_BYTES, MAX_VALUE_BYTES } from '../../lib/core/records/large-values.ts';
import type { Prices } from './aws-prices.ts';

/** How far the sum may be from what was counted in the benchmark's workflows. */
export const TOLERANCE = 0.1;

/** A workflow, as the API lists it. */
export interface PricedWorkflow {
  readonly workflow: string;
  readonly steps: readonly WorkflowStepView[];
}

export interface CostOptions {
  readonly executions: number;
  /** Bytes of the input, and of each step's output, as JSON. */
  readonly payloadBytes: number;
  /** Items of each list that a step maps over. */
  readonly items: number;
  /** Rounds of each step that is repeated, or as many as it may have if that is less. */
  readonly rounds: number;
  /** Messages that one invocation of an agent takes together: 1 at rest, up to `batchSize` under load. */
  readonly batch: number;
  /** That an agent's own code takes, each time. */
  readonly workMs: number;
  /** The memory of each function. */
  readonly memoryMb: number;
}

/** The largest payload that is estimated: more no value has. */
export const MOST_PAYLOAD_BYTES: number = MAX_VALUE_BYTES;

export const COST_DEFAULTS: CostOptions = {
  executions: 1_000_000,
  payloadBytes: 1_024,
  items: 25,
  rounds: 10,
  batch: 1,
  workMs: 100,
  memoryMb: 384,
};

/** What Steadfast itself uses, for which AWS charges. */
export const OWN_UNITS = [
  'writeUnits',
  'readUnits',
  'sqsRequests',
  'lambdaRequests',
  'lambdaGbSeconds',
  'events',
] as const;
export type OwnUnit = (typeof OWN_UNITS)[number];
/** What comes on top, and depends on more than the plan. */
export const BESIDE_UNITS = ['agentGbSeconds', 'apiRequests', 'logGb', 'bucketPuts', 'bucketGets'] as const;
export type BesideUnit = (typeof BESIDE_UNITS)[number];

export interface Estimate {
  readonly workflow: string;
  readonly options: CostOptions;
  readonly prices: Pick<Prices, 'asOf' | 'region' | 'sources'>;
  /** That agents perform in one execution, those of its children and lists included. */
  readonly agentSteps: number;
  /** What one execution uses. */
  readonly units: Readonly<Record<OwnUnit | BesideUnit, number>>;
  /** What all executions cost, in US dollars. */
  readonly usd: Readonly<Record<OwnUnit | BesideUnit, number>>;
  /** What Steadfast itself costs: the sum of what is counted. */
  readonly steadfastUsd: number;
  /** With what comes on top. */
  readonly totalUsd: number;
  /** The tolerance of Steadfast's own sum. */
  readonly tolerance: number;
  readonly leftOut: readonly string[];
}

/** Said with every estimate. */
export const LEFT_OUT: readonly string[] = [
  'failures: each further attempt costs about as much as the step',
  'steps that wait in a queue for longer than their pickup time, and heartbeats of attempts that outlast their lease',
  'services that agents call, and containers instead of functions',
  'conditions: every step is counted, and on-failure steps are not',
  'monthly costs: supervisors, alarms, metrics, storage, backups',
  'free tiers, taxes, discounts, other regions',
];

/** What is in use while one execution goes from its start to its announced end. */
interface Use {
  agentSteps: number;
  writes: number;
  reads: number;
  sqs: number;
  invocations: number;
  events: number;
  /** Time of Steadfast's own code in all invocations, at 384 MB, waiting for AWS's answers included. */
  ms: number;
  apiRequests: number;
  workMs: number;
  /** Values that lie beside the table: put there, and read. */
  puts: number;
  gets: number;
}

const KB = 1_024;
/** What a record keeps of a value that lies beside the table. */
const REF_BYTES = 120;
/** Records without their payload. */
const EXECUTION_BYTES = 450;
const STEP_BYTES = 270;
const INPUT_BYTES = 120;
/** From here on an input has an item of its own. */
const INPUT_APART_BYTES = 2_500;
const ITEMS_PER_PART = 25;
/** Steps. */
const LONG_PLAN = 36;
const BATCH_OF_SENDS = 10;

/** How long a call's answer takes, as the benchmark assumes it. */
const TABLE_MS = 4;
const QUEUE_MS = 7;
const EVENTS_MS = 15;
/** Processor time at 384 MB (0.217 of a processor): of a message, and of an invocation for all of them. */
const MESSAGE_MS = 6;
const INVOCATION_MS = 7;
const SCHEDULER_MS = 20;
const MS_OF_A_KB_READ = 0.06;
const LOG_BYTES_OF_AN_INVOCATION = 370;
/** If two steps end at once, each may send what comes after both, where nothing batches them. */
const SENT_TWICE = 0.7;

/** Beyond its own steps: begin, an evaluation, end. */
const WAIT: Partial<Use> = { writes: 7.1, reads: 4.6 };
const ASKED: Partial<Use> = { writes: 16, reads: 6, events: 2, apiRequests: 1, invocations: 1, ms: 40 };
/** Queued, placed, admitted and handed on, without anybody before it. */
const IN_LANE: Partial<Use> = { writes: 12, reads: 8, ms: 60 };
/** Beyond the child's own: started, known of, its end taken note of. */
const CHILD: Partial<Use> = { writes: 9, reads: 5, ms: 60 };
/** Beyond those of its execution. */
const ROUND: Partial<Use> = { writes: 4, reads: 3, ms: 20 };
/** Beyond its items' own. */
const PART = { writes: 10, ms: 80 };
const CHILD_IN_LIST: Partial<Use> = { writes: 10.5, reads: 12, ms: 120 };

const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / KB));
const readUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / (4 * KB)));

/**
 * @param find a workflow that runs as a step of another, if it is known
 * @throws RangeError where a workflow runs itself, which no plan can
 */
export function estimateCost(
  workflow: PricedWorkflow,
  options: CostOptions,
  prices: Prices,
  find: (name: string) => PricedWorkflow | undefined = () => undefined,
): Estimate {
  const unknown = new Set<string>();
  const child = (name: string, within: readonly string[]): Partial<Use> => {
    const found = find(name);
    if (found !== undefined) return executionUse(found, { ...options, child }, within);
    unknown.add(name);
    return {};
  };
  const use = add(executionUse(workflow, { ...options, child }, []), { invocations: 1, apiRequests: 1 });
  const gbOf = (ms: number): number => ((ms / 1_000) * options.memoryMb) / KB;
  const units: Record<OwnUnit | BesideUnit, number> = {
    writeUnits: use.writes,
    readUnits: use.reads,
    sqsRequests: use.sqs,
    lambdaRequests: use.invocations,
    lambdaGbSeconds: gbOf(use.ms),
    events: use.events,
    agentGbSeconds: gbOf(use.workMs),
    apiRequests: use.apiRequests,
    logGb: (use.invocations * LOG_BYTES_OF_AN_INVOCATION) / 1e9,
    bucketPuts: use.puts,
    bucketGets: use.gets,
  };
  const priceOf = (what: OwnUnit | BesideUnit): number =>
    prices.usd[what === 'agentGbSeconds' ? 'lambdaGbSeconds' : what];
  const usd = Object.fromEntries(
    [...OWN_UNITS, ...BESIDE_UNITS].map((what) => [what, units[what] * options.executions * priceOf(what)]),
  ) as Record<OwnUnit | BesideUnit, number>;
  const sum = (of: readonly (OwnUnit | BesideUnit)[]): number => of.reduce((all, what) => all + usd[what], 0);
  const { asOf, region, sources } = prices;
  return {
    workflow: workflow.workflow,
    options,
    prices: { asOf, region, sources },
    agentSteps: use.agentSteps,
    units,
    usd,
    steadfastUsd: sum(OWN_UNITS),
    totalUsd: sum([...OWN_UNITS, ...BESIDE_UNITS]),
    tolerance: TOLERANCE,
    leftOut: [
      ...LEFT_OUT,
      ...[...unknown].map((name) => `executions of '${name}': this project does not have that workflow`),
    ],
  };
}

interface Sizes extends CostOptions {
  /** An execution of the workflow of this name, started with its parent's work, not by a call. */
  readonly child: (name: string, within: readonly string[]) => Partial<Use>;
}

/** @param above workflows in which it runs */
function executionUse({ workflow, steps: all }: PricedWorkflow, sizes: Sizes, above: readonly string[]): Use {
  if (above.includes(workflow)) throw new RangeError(`'${workflow}' runs itself`);
  const steps = all.filter(({ onFailure }) => onFailure !== true);
  const { items, payloadBytes } = sizes;
  const given = steps.some(({ kind }) => kind === 'map') ? items * payloadBytes : payloadBytes;
  const input = isBeside(payloadBytes) ? REF_BYTES : given;
  const use = add(startAndEnd(input), besideOf(payloadBytes));
  const within = [...above, workflow];
  for (const [done, step] of steps.entries()) {
    // In a long plan a claim reads only the records that decide it.
    const most = step.after.length + 2;
    const seen = steps.length > LONG_PLAN && done > 12 * most ? most : done;
    const there = EXECUTION_BYTES + input + seen * (STEP_BYTES + inRecord(payloadBytes));
    if (step.kind === 'agent') add(use, agentStep(steps, step, there, sizes));
    else if (step.kind === 'wait') add(use, WAIT);
    else if (step.kind === 'lane') add(use, IN_LANE);
    else if (step.kind === 'callback' || step.kind === 'approval') add(use, ASKED);
    else if (step.kind === 'child') addChildren(use, step, sizes, within);
    else
      for (let left = items; left > 0; left -= ITEMS_PER_PART)
        add(use, part(step, Math.min(left, ITEMS_PER_PART), sizes, within), {
          reads: readUnits(EXECUTION_BYTES + input),
        });
  }
  return use;
}

/** Asked of one payload: the input of a list of small ones is counted as the benchmark has counted it. */
const isBeside = (bytes: number): boolean => bytes > LARGE_VALUE_BYTES;
const inRecord = (bytes: number): number => (isBeside(bytes) ? REF_BYTES : bytes);

/** A value that is put beside the table, and read once: by the next step, or for the output at the end. */
const besideOf = (bytes: number): Partial<Use> => (isBeside(bytes) ? { puts: 1, gets: 1 } : {});

/** One execution, or one for each round; that of an agent has one step, and is announced to nobody. */
function addChildren(use: Use, step: WorkflowStepView, sizes: Sizes, within: readonly string[]): void {
  const count = step.rounds === undefined ? 1 : Math.min(step.rounds.atMost, sizes.rounds);
  for (let round = 0; round < count; round += 1) {
    if (step.agent === undefined) add(use, sizes.child(step.workflow ?? '', within), CHILD);
    else {
      const one = { name: step.name, kind: 'agent' as const, after: [], agent: step.agent };
      add(use, executionUse({ workflow: `${step.name} alone`, steps: [one] }, sizes, within), CHILD, {
        events: -1,
      });
    }
    // Between two rounds the answer of one is read, and the next is recorded with the parent's execution.
    if (round > 0) add(use, ROUND);
  }
}

function startAndEnd(inputBytes: number): Use {
  const isApart = inputBytes > INPUT_APART_BYTES;
  const record = writeUnits(EXECUTION_BYTES + (isApart ? 0 : inputBytes));
  return add(
    { ...NOTHING },
    {
      // Written at its start, its end and its announcement; two indexes at the start, one
      // when it has no wake time any more.
      writes: 3 * record + 3 + (isApart ? writeUnits(INPUT_BYTES + inputBytes) : 0),
      events: 1,
      ms: SCHEDULER_MS,
    },
  );
}

/** @param before bytes that are there when it is claimed */
function agentStep(
  steps: readonly WorkflowStepView[],
  step: WorkflowStepView,
  before: number,
  { batch, payloadBytes: bytesOfOne, workMs }: CostOptions,
): Partial<Use> {
  const payloadBytes = inRecord(bytesOfOne);
  const evaluations = meets(steps, step) ? 1 : 0;
  const again = batch === 1 ? SENT_TWICE * evaluations : 0;
  const after = before + 2 * (STEP_BYTES + payloadBytes);
  const bytes = before + (evaluations + again) * after;
  return {
    agentSteps: 1,
    writes: 1 + writeUnits(STEP_BYTES + payloadBytes),
    reads: readUnits(before) + (evaluations + again) * readUnits(after),
    sqs: sendsOf(batch) + 2 / batch + again * 3,
    invocations: (1 + again) / batch,
    ms:
      ((3 + evaluations) * TABLE_MS + QUEUE_MS + EVENTS_MS / steps.length + INVOCATION_MS) / batch +
      MESSAGE_MS +
      (bytes / KB) * MS_OF_A_KB_READ +
      again * (TABLE_MS + MESSAGE_MS + INVOCATION_MS),
    workMs: workMs / batch,
    ...besideOf(bytesOfOne),
  };
}

/** An execution for some items of a list: it has their inputs, and its parent reads their outputs. */
function part(step: WorkflowStepView, items: number, sizes: Sizes, within: readonly string[]): Use {
  const { batch, workMs } = sizes;
  const payloadBytes = inRecord(sizes.payloadBytes);
  const bytes = isBeside(sizes.payloadBytes) ? REF_BYTES : items * payloadBytes;
  // Its input, which each of its items reads, and its output, which its parent does.
  const beside = isBeside(sizes.payloadBytes) ? { puts: 2, gets: 1 + items } : {};
  const use = add({ ...NOTHING }, { writes: PART.writes + 3 * writeUnits(bytes), ms: PART.ms }, beside);
  if (step.agent === undefined) {
    for (let item = 0; item < items; item += 1)
      add(use, sizes.child(step.workflow ?? '', within), CHILD_IN_LIST);
    return use;
  }
  let reads = 0;
  for (let done = 0; done < items; done += 1)
    reads += readUnits(EXECUTION_BYTES + bytes + done * (STEP_BYTES + payloadBytes));
  // A claim reads the part, and so does what follows a report; those of one invocation share the latter.
  const times = batch === 1 ? 2 : 1 + 4 / batch;
  return add(use, {
    agentSteps: items,
    writes: items * (1 + writeUnits(STEP_BYTES + payloadBytes)),
    reads: reads * times,
    sqs: Math.ceil(items / BATCH_OF_SENDS) + (2 * items) / batch,
    invocations: items / batch,
    ms:
      items * ((4 * TABLE_MS) / batch + MESSAGE_MS + INVOCATION_MS / batch) +
      reads * times * 4 * MS_OF_A_KB_READ,
    workMs: (items * workMs) / batch,
    // Each item's output, read once for the part's.
    ...(isBeside(sizes.payloadBytes) ? { puts: items, gets: items } : {}),
  });
}

/** Messages of one invocation to one agent are sent together, except the first of an execution. */
const sendsOf = (batch: number): number => Math.min(1, 2 / batch);

/** Whether another step waits for it and others too: then all is read again after its report. */
function meets(steps: readonly WorkflowStepView[], { name }: WorkflowStepView): boolean {
  const next = steps.filter(({ after }) => after.includes(name));
  if (next.length > 0) return next.some(({ after }) => after.length > 1);
  return steps.filter((one) => steps.every(({ after }) => !after.includes(one.name))).length > 1;
}

const NOTHING: Use = {
  agentSteps: 0,
  writes: 0,
  reads: 0,
  sqs: 0,
  invocations: 0,
  events: 0,
  ms: 0,
  apiRequests: 0,
  workMs: 0,
  puts: 0,
  gets: 0,
};

function add(use: Use, ...more: readonly Partial<Use>[]): Use {
  for (const one of more) for (const key of Object.keys(one) as (keyof Use)[]) use[key] += one[key] ?? 0;
  return use;
}
