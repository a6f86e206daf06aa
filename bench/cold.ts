/**
 * `npm run bench:cold`: measures a function's start time before its first event, and the size of its code.
 *
 * Owns: the measurement. Does not own: the bundles (`lib/infra/bundle.ts`), their budgets
 * (`test/infra/bundle.test.ts`).
 *
 * Each start is a process of its own with the environment that the template gives, so that clients and ports
 * are created as in a function's initialisation. The measurement begins once Node runs and ends with the
 * import; AWS adds the sandbox, Node's own start and the download of the code. Compare processor times: they
 * hardly depend on other processes.
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { ENV, TRIGGER_FILE } from '../lib/aws/names.ts';
import { type Bundle, bundleDeployment } from '../lib/infra/bundle.ts';
import { discoverWorkflows } from '../lib/infra/discover.ts';
import { PROJECT_ROOT } from '../lib/infra/synth.ts';
import { atLeastOne } from './parts/options.ts';
import { percentile } from './parts/load.ts';
import { machine } from './parts/machine.ts';
import { table } from './parts/print.ts';

interface Start {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly memoryMb: number;
}
interface Options {
  readonly json?: true;
  readonly starts: number;
}

/** Runs in the measured process. */
const MEASURE = `
const cpu = process.cpuUsage();
const at = performance.now();
await import(process.argv[1]);
const wallMs = performance.now() - at;
const { user, system } = process.cpuUsage(cpu);
process.stdout.write(JSON.stringify({ wallMs, cpuMs: (user + system) / 1000, memoryMb: process.memoryUsage().rss / 2 ** 20 }));
process.exit(0);
`;

const TRIGGER = {
  name: 'measured',
  workflow: 'order-fulfilment',
  from: 'message',
  input: { $ref: 'input', path: ['body'] },
  key: [{ $ref: 'input', path: ['id'] }],
};

function measure(name: string, folder: string): Start {
  const environment = {
    PATH: process.env['PATH'] ?? '',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'measured',
    AWS_SECRET_ACCESS_KEY: 'measured',
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '384',
    LAMBDA_TASK_ROOT: folder,
    [ENV.table]: 'table',
    [ENV.bus]: 'bus',
    [ENV.wakeBus]: 'wake-bus',
    [ENV.deployment]: 'measured',
    [ENV.deadLetters]: 'https://sqs.us-east-1.amazonaws.com/1/dead',
  };
  const options = { env: environment, encoding: 'utf8' as const };
  const args = ['--input-type=module', '--eval', MEASURE, join(folder, 'index.mjs')];
  return JSON.parse(execFileSync(process.execPath, args, options)) as Start;
}

function write(folder: string, { files }: Bundle): void {
  mkdirSync(folder, { recursive: true });
  for (const [file, content] of files) writeFileSync(join(folder, file), content);
  writeFileSync(join(folder, TRIGGER_FILE), JSON.stringify(TRIGGER));
}

const median = (values: readonly number[]): number => Math.round(percentile(values, 0.5));

async function main({ starts, json }: Options): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'steadfast-cold-'));
  try {
    const bundles = bundleDeployment(await discoverWorkflows({ root: PROJECT_ROOT, folders: ['examples'] }));
    for (const [name, bundle] of bundles) write(join(root, name), bundle);
    const names = [...bundles.keys()];
    const measured = new Map<string, Start[]>(names.map((name) => [name, []]));
    // Alternates between functions, so that other processes affect all of them alike; the first round only
    // warms the file cache.
    for (let round = 0; round <= starts; round += 1) {
      for (const name of names) {
        const start = measure(name, join(root, name));
        if (round > 0) measured.get(name)?.push(start);
      }
    }
    const functions = names.map((name) => {
      const of = measured.get(name) ?? [];
      return {
        name,
        kilobytes: Math.round((bundles.get(name)?.bytes ?? 0) / 1_024),
        cpuMs: median(of.map(({ cpuMs }) => cpuMs)),
        wallMs: median(of.map(({ wallMs }) => wallMs)),
        memoryMb: median(of.map(({ memoryMb }) => memoryMb)),
      };
    });
    const report = { machine: machine(), starts, functions };
    const { processors, model, load, node } = report.machine;
    const rows = functions.map((one) => Object.values(one).map(String));
    console.log(table(['function', 'KB', 'processor ms', 'ms', 'memory MB'], rows));
    console.log(`\n${starts} starts each; Node ${node}, ${processors} × ${model}, load ${load.join(', ')}`);
    if (json) console.log(JSON.stringify({ cold: report }));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const program = new Command('bench:cold')
  .description('What the process of each function does before its first event.')
  .option('--json', 'one line of JSON at the end')
  .option('--starts <n>', 'of each function', atLeastOne, 20);
await main(program.parse().opts<Options>());
