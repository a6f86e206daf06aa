/**
 * `steadfast cost`: what executions of a workflow cost on AWS, estimated from its plan.
 *
 * Owns: its options, and the words. Does not own: the quantities (`estimate.ts`), the prices (`prices.ts`),
 * where a plan comes from (`../graph/plan-source.ts`).
 */

import { type Command, InvalidArgumentError } from 'commander';
import type { Client } from '../../lib/api/client.ts';
import { client, examples, say } from '../commands.ts';
import { planSource } from '../graph/plan-source.ts';
import { type Cli, CliError, EXIT } from '../io.ts';
import { durationText, table } from '../../lib/view/text.ts';
import {
  type BesideUnit,
  BESIDE_UNITS,
  COST_DEFAULTS,
  type CostOptions,
  MOST_PAYLOAD_BYTES,
  type OwnUnit,
  OWN_UNITS,
  type Estimate,
  estimateCost,
  type PricedWorkflow,
  TOLERANCE,
} from '../../lib/view/estimate.ts';
import { AWS_PRICES } from '../../lib/view/prices.ts';

interface Flags {
  readonly executions: number;
  readonly payload: number;
  readonly items: number;
  readonly rounds: number;
  readonly batch: number;
  readonly work: number;
  readonly memory: number;
}

const between =
  (least: number, most: number) =>
  (text: string): number => {
    const count = Number(text);
    if (Number.isInteger(count) && count >= least && count <= most) return count;
    throw new InvalidArgumentError(`give ${least} to ${most}.`);
  };

export function addCost(program: Command, cli: Cli): void {
  const { executions, payloadBytes, items, rounds, batch, workMs, memoryMb } = COST_DEFAULTS;
  program
    .command('cost')
    .argument('<workflow>', 'the name of the workflow')
    .description('estimate what executions of a workflow cost on AWS, from its plan and dated prices')
    .option('--executions <count>', 'how many executions', between(1, 1e12), executions)
    .option(
      '--payload <bytes>',
      'size of the input and of each step’s output',
      between(0, MOST_PAYLOAD_BYTES),
      payloadBytes,
    )
    .option(
      '--items <count>',
      'number of items in each list that a step maps over',
      between(0, 25_000),
      items,
    )
    .option('--rounds <count>', 'rounds of each step that is repeated', between(1, 1_000), rounds)
    .option(
      '--batch <messages>',
      'messages per invocation of an agent: 1 when idle, up to the agent’s batchSize under load',
      between(1, 10),
      batch,
    )
    .option('--work <ms>', 'time that an agent’s own code takes per attempt', between(0, 885_000), workMs)
    .option('--memory <mb>', 'memory of each function', between(128, 10_240), memoryMb)
    .addHelpText(
      'after',
      `
Prices are those of ${AWS_PRICES.region} on ${AWS_PRICES.asOf}. Steadfast's share is within ${TOLERANCE * 100} % of its benchmark's count of
requests; --work sets the time of an agent's own code. Failures, retries and monthly costs are not counted.
A workflow that is not deployed is taken from the project around the working directory.
${examples('cost hello-greeting', 'cost hello-greeting --executions 30000 --payload 4096', 'cost hello-greeting --batch 10 --work 250 --json')}`,
    )
    .action(async (name: string, flags: Flags, command: Command) => {
      const options: CostOptions = {
        executions: flags.executions,
        payloadBytes: flags.payload,
        items: flags.items,
        rounds: flags.rounds,
        batch: flags.batch,
        workMs: flags.work,
        memoryMb: flags.memory,
      };
      const plans = await plansOf(client(command), name);
      const [whole] = plans.values();
      if (whole === undefined)
        throw new CliError('unknown-plan', `there is no workflow '${name}'`, EXIT.failed);
      const estimate = estimateCost(whole, options, AWS_PRICES, (child) => plans.get(child));
      say(cli, command, estimate, () => costText(estimate));
    });
}

/** The workflow's plan, and those of the workflows that are run by its steps, however deep. */
async function plansOf(api: Client, name: string): Promise<ReadonlyMap<string, PricedWorkflow>> {
  const plans = new Map<string, PricedWorkflow>();
  const wanted = [name];
  for (let next = wanted.shift(); next !== undefined; next = wanted.shift()) {
    if (plans.has(next)) continue;
    const found = await planSource(api, next, process.cwd()).catch((error: unknown) => {
      // A child's plan is part of its parent's; only what can be started is listed by its name.
      if (next !== name && error instanceof CliError && error.code === 'unknown-plan') return undefined;
      throw error;
    });
    if (found === undefined) continue;
    const { workflow, steps } = found.graph;
    plans.set(next, { workflow, steps });
    wanted.push(...steps.flatMap((step) => (step.workflow === undefined ? [] : [step.workflow])));
  }
  return plans;
}

const WORDS: Readonly<Record<OwnUnit | BesideUnit, string>> = {
  writeUnits: 'DynamoDB writes',
  readUnits: 'DynamoDB reads',
  sqsRequests: 'SQS requests',
  lambdaRequests: 'Lambda requests',
  lambdaGbSeconds: 'Lambda GB-s, Steadfast’s own',
  events: 'EventBridge events',
  agentGbSeconds: 'Lambda GB-s, the agents’ own code',
  apiRequests: 'API requests',
  logGb: 'log lines, GB',
  bucketPuts: 'S3 puts, of large values',
  bucketGets: 'S3 reads, of large values',
};

/** Said where there are any. */
const OF_LARGE_VALUES: ReadonlySet<BesideUnit> = new Set(['bucketPuts', 'bucketGets']);

export const dollarText = (usd: number): string =>
  `$${usd.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: usd < 1 ? 4 : 2 })}`;

/** The estimate is good to a tenth: two figures of a sum say all that is known of it. */
const aboutText = (usd: number): string =>
  `about ${usd < 1 ? dollarText(Number(usd.toPrecision(2))) : `$${Number(usd.toPrecision(2)).toLocaleString('en')}`}`;

export function costText(estimate: Estimate): string {
  const { workflow, options, prices, agentSteps, units, usd } = estimate;
  const row = (what: OwnUnit | BesideUnit): string[] => [
    WORDS[what],
    Number(units[what].toPrecision(3)).toLocaleString('en', { maximumFractionDigits: 9 }),
    dollarText(usd[what]),
  ];
  const count = options.executions.toLocaleString('en');
  const lines = [
    `${workflow}: ${count} executions of ${agentSteps} ${agentSteps === 1 ? 'step' : 'steps'} of agents cost ${aboutText(estimate.totalUsd)}`,
    `${options.payloadBytes} B a payload, lists of ${options.items}, ${options.batch} a batch, ${durationText(options.workMs)} of an agent’s own work, ${options.memoryMb} MB; prices of ${prices.region}, ${prices.asOf}`,
    '',
  ];
  const rows = [
    ...OWN_UNITS.map(row),
    ['Steadfast', '', `${dollarText(estimate.steadfastUsd)}, ± ${estimate.tolerance * 100} %`],
    ...BESIDE_UNITS.filter((what) => !OF_LARGE_VALUES.has(what) || units[what] > 0).map(row),
    ['together', '', dollarText(estimate.totalUsd)],
  ];
  const left = estimate.leftOut.map((one) => `  ${one}\n`).join('');
  return `${lines.join('\n')}\n${table(['WHAT', 'EACH', 'ALL'], rows)}\nLeft out:\n${left}`;
}
