/**
 * `npm run chaos:remote`: a Python agent is killed during its calls to a service that prints once for every
 * request.
 *
 * Owns: the options, the load, the exit code. docs/PROOF.md says what it proves.
 */

import { Command } from 'commander';
import { Progress } from './chaos/progress.ts';
import { drawsOf } from '../kit/cloud/random.ts';
import { auditJournal, processOf } from './chaos/remote-audit.ts';
import { RemoteKiller, TARGETS } from './chaos/remote-killer.ts';
import { type RemoteStage, setRemoteStage } from './chaos/remote-stage.ts';
import { auditTable, type StartedKey } from './chaos/table-audit.ts';
import { Table } from './chaos/table.ts';

interface Options {
  readonly kills: number;
  readonly seed: number;
  readonly keep: boolean;
  readonly json: boolean;
}

/** How many executions are open at the same time. */
const OPEN = 12;
/** The share of executions that the carrier refuses, so that their labels are voided. */
const HEAVY_SHARE = 0.2;
const POLL_EVERY_MS = 250;
/** Several times the sum of a lease, an attempt and the delays of its recovery. */
const HEAL_WITHIN_MS = 300_000;

/** A killer that has seen no call by now is blind: calls run all the time. */
const BLIND_AFTER_MS = 60_000;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${text} is not a whole number`);
  return value;
};

const program = new Command('chaos:remote')
  .description(
    [
      'Labels on a fresh local cloud, printed by an agent in Python that is killed in mid-call: the program itself, the process',
      'of its attempt, or its worker. The printer does not deduplicate. Afterwards everything must end, and the journal of the',
      'printer and the state table are audited. The exit code is 0 only if nothing was lost, doubled or stuck. Linux alone.',
    ].join(' '),
  )
  .option('--kills <n>', 'how many', whole, 50)
  .option('--seed <n>', 'of what is killed and when (default: random, printed first)', whole)
  .option('--keep', 'keeps the folder with the tables, logs and the journal', false)
  .option('--json', 'one JSON line at the end', false);

async function start(stage: RemoteStage, seed: number, number: number, heavy: boolean): Promise<StartedKey> {
  const key = `parcel-${seed}-${number}`;
  const response = await fetch(`${stage.cloud.apiUrl}/workflows/parcel-labels/executions`, {
    method: 'POST',
    body: JSON.stringify({
      input: { parcel: key, address: '1 Main Street', kilograms: heavy ? 31 : 2 },
      idempotencyKey: key,
    }),
  });
  const { executionId } = (await response.json()) as { executionId?: string };
  return { key, executionIds: executionId === undefined ? [] : [executionId] };
}

/** Keeps executions open until all kills have occurred, then waits until all have ended. */
async function load(
  stage: RemoteStage,
  table: Table,
  killer: RemoteKiller,
  options: Options,
  progress: Progress,
): Promise<readonly StartedKey[]> {
  const draws = drawsOf(options.seed);
  const keys: StartedKey[] = [];
  let untilAt = Number.POSITIVE_INFINITY;
  const blindAt = Date.now() + BLIND_AFTER_MS;
  while (Date.now() < untilAt) {
    if (killer.calls === 0 && options.kills > 0 && Date.now() > blindAt)
      throw new Error(
        `no call of the agent was found among the processes in ${BLIND_AFTER_MS / 1000} s: where does its program run?`,
      );
    const open = (await table.open()).length;
    progress.show({
      seconds: process.uptime(),
      phase: killer.isDone ? 'healing' : 'killing',
      started: keys.length,
      open,
      kills: killer.kills.length,
      freezes: 0,
      storeRestarts: 0,
      oldestOpenSeconds: 0,
    });
    if (killer.isDone) {
      if (open === 0) break;
      untilAt = Math.min(untilAt, Date.now() + HEAL_WITHIN_MS);
    } else {
      for (let count = open; count < OPEN; count += 1)
        keys.push(await start(stage, options.seed, keys.length + 1, draws.chance(HEAVY_SHARE)));
    }
    await pause(POLL_EVERY_MS);
  }
  return keys;
}

async function perform(
  stage: RemoteStage,
  options: Options,
  progress: Progress,
): Promise<{ readonly summary: object; readonly failures: readonly string[] }> {
  const table = new Table(stage.cloud);
  const killer = new RemoteKiller(stage, options.seed, options.kills);
  try {
    killer.begin();
    const started = await load(stage, table, killer, options, progress);
    killer.stop();
    const content = await table.everything();
    const entries = stage.journal();
    const killed = new Set(killer.kills.map(({ pid }) => pid));
    const labels = entries.flatMap(({ label }) => (label === undefined ? [] : [label]));
    const ofTable = auditTable(content, started);
    const ofJournal = auditJournal(entries, content.snapshots, killed);
    const doubled = [...ofTable.doubled, ...ofJournal.doubled];
    const lost = [...ofTable.lost, ...ofJournal.lost];
    const { stuck, findings } = ofTable;
    const ends: Record<string, number> = {};
    for (const { execution } of content.snapshots) ends[execution.status] = (ends[execution.status] ?? 0) + 1;
    const summary = {
      seed: options.seed,
      seconds: Math.round(process.uptime()),
      kills: killer.kills.length,
      killed: Object.fromEntries(
        TARGETS.map((each) => [each, killer.kills.filter(({ target }) => target === each).length]),
      ),
      afterEffect: labels.filter((label) => killed.has(processOf(label))).length,
      foundByProbe: ofJournal.found,
      executions: started.length,
      ends,
      labels: labels.length,
      doubled: doubled.length,
      lost: lost.length,
      stuck: stuck.length,
      findings: findings.length,
    };
    const { afterEffect, foundByProbe } = summary;
    const isIdle = options.kills > 0 && (afterEffect === 0 || foundByProbe === 0);
    const failures = [
      ...(isIdle ? ['idle     no kill struck between an effect and its answer'] : []),
      ...doubled.map((text) => `double   ${text}`),
      ...lost.map((text) => `lost     ${text}`),
      ...stuck.map((text) => `stuck    ${text}`),
      ...findings.map((text) => `finding  ${text}`),
    ];
    return { summary, failures };
  } finally {
    killer.stop();
    table.close();
  }
}

async function main(options: Options): Promise<number> {
  const progress = new Progress(process.stdout);
  progress.say(`Seed ${options.seed}: ${options.kills} kills of an agent in Python in mid-call.`);
  let strike: RemoteStage['strike'] | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      void (strike?.(options.keep) ?? Promise.resolve()).finally(() => process.exit(130));
    });
  let keep = options.keep;
  try {
    const stage = await setRemoteStage((how) => {
      strike = how;
    });
    const { summary, failures } = await perform(stage, options, progress);
    keep ||= failures.length > 0;
    for (const failure of failures) progress.say(`FAILED   ${failure}`);
    if (keep) progress.say(`Tables, logs and journal of this run: ${stage.folder}`);
    if (options.json) console.log(JSON.stringify({ remote: summary }));
    else console.log(summary);
    return failures.length === 0 ? 0 : 1;
  } finally {
    await strike?.(keep);
  }
}

const options = program.parse().opts<Omit<Options, 'seed'> & { readonly seed?: number }>();
try {
  process.exitCode = await main({ ...options, seed: options.seed ?? Math.floor(Math.random() * 2 ** 31) });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
