/**
 * `npm run demo`: runs six orders at once on a fresh local cloud; five of them go wrong, and the supervisor
 * is killed too.
 *
 * Owns: the order of events, the interrupt and the exit code. It uses public interfaces only: the HTTP API,
 * the local cloud's control and the outside world's own interface.
 */

import { parseArgs } from 'node:util';
import { type Api, apiAt, type Execution, hasEnded, type ExternalWorld, externalWorldAt } from './api.ts';
import { REPLY_AFTER_MS, Saboteur } from './faults.ts';
import { report } from './report.ts';
import { FROZEN, KILLED, type Scenario, SCENARIOS } from './scenarios.ts';
import { type DemoStage, setStage } from './setup.ts';
import { type Table, tableOn } from './table.ts';

const HELP = `Usage: npm run demo [-- --port <n>] [--keep]

Runs six orders at once on a fresh local cloud. One goes well; the others meet an unavailable service, a lost answer,
a killed agent, a carrier that declines, and a frozen agent. The supervisor is killed as well. At the end, the external party
world's ledger is held against what the executions say.

  --port <n>  of the HTTP API while the demo runs (default: any free one)
  --keep      keeps the folder with the tables, the logs and the ledger
  --help      this text

Takes less than a minute. The last line is JSON; the exit code is 0 only if everything was as expected.`;

/** Orders that have not ended by then are stuck. */
const GIVE_UP_MS = 90_000;
const ACT_EVERY_MS = 20;
const LOOK_EVERY_MS = 300;

let isInterrupted = false;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '0' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const table = tableOn(process.stdout, Date.now() - process.uptime() * 1_000);
  const interrupt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      isInterrupted = true;
      table.close();
      console.log('\nInterrupted: stopping the local cloud and the outside world.');
      interrupt.abort();
      void starting.then(
        (started) => started.cloud.stop().finally(() => process.exit(130)),
        () => process.exit(130),
      );
    });
  }
  const starting = setStage({ port: Number(values.port), say: table.say, signal: interrupt.signal });
  let keep = values.keep;
  const stage = await starting;
  const { cloud } = stage;
  try {
    const ok = await perform(stage, table);
    keep ||= !ok;
    if (keep) console.log(`Tables, logs and ledger of this run: ${cloud.folder}`);
    return ok ? 0 : 1;
  } finally {
    await cloud.stop({ keep });
  }
}

async function perform({ cloud, refusedReports }: DemoStage, table: Table): Promise<boolean> {
  const api = apiAt(cloud.url);
  const world = externalWorldAt(cloud.environment['WORLD_URL'] ?? '');
  const saboteur = new Saboteur({ ...cloud, refusedReports }, table.say);
  await misbehave(world);
  table.say(`Starting ${SCENARIOS.length} orders at once at ${cloud.url} …`);
  const ids = await Promise.all(SCENARIOS.map(({ orderId }) => api.start(orderOf(orderId))));
  saboteur.ringSupervisor();
  table.say('Ringing the supervisor, which would look by itself within a minute.');
  const executions = await watch(api, world, ids, saboteur, table);
  table.close();
  const { lines, summary, allAsExpected } = report({
    orders: SCENARIOS.map((scenario, index) => ({ scenario, execution: executions[index] as Execution })),
    entries: await world.ledger(),
    rules: await world.rules(),
    kill: saboteur.kill,
    freeze: saboteur.freeze,
    supervisorKill: saboteur.supervisorKill,
    seconds: process.uptime(),
  });
  console.log(`\n${lines.join('\n')}\n`);
  console.log(JSON.stringify({ demo: summary }));
  return allAsExpected;
}

async function misbehave(world: ExternalWorld): Promise<void> {
  for (const { misbehaviour, orderId } of SCENARIOS) {
    if (misbehaviour !== undefined) await world.behave({ ...misbehaviour, match: { about: orderId } });
  }
  const late = { mode: 'slow-reply', ms: REPLY_AFTER_MS, times: 1 } as const;
  await world.behave({ ...late, service: 'payment', match: { about: KILLED.orderId } });
  await world.behave({ ...late, service: 'warehouse', match: { about: FROZEN.orderId } });
}

const orderOf = (orderId: Scenario['orderId']) => ({
  orderId,
  email: `${orderId}@customers.example`,
  address: '1 Harbour Street',
  items: [{ sku: 'lighthouse', quantity: 1 }],
  total: 4_200,
});

/** Reads the executions and lets the saboteur act until all have ended, or the time is up. */
async function watch(
  api: Api,
  world: ExternalWorld,
  ids: readonly string[],
  saboteur: Saboteur,
  table: Table,
): Promise<readonly Execution[]> {
  const giveUpAt = Date.now() + GIVE_UP_MS;
  const seen: { executions: readonly Execution[]; over: boolean } = { executions: [], over: false };
  const look = async (): Promise<void> => {
    while (!seen.over) {
      const executions = await Promise.all(ids.map((id) => api.execution(id)));
      seen.executions = executions;
      table.show(
        SCENARIOS.map(({ orderId, title }, index) => ({ orderId, title, execution: executions[index] })),
      );
      seen.over = (executions.every(hasEnded) && saboteur.isDone) || Date.now() > giveUpAt;
      if (!seen.over) await pause(LOOK_EVERY_MS);
    }
  };
  const idOf = (scenario: (typeof SCENARIOS)[number]): string => ids[SCENARIOS.indexOf(scenario)] ?? '';
  const [killedId, frozenId] = [idOf(KILLED), idOf(FROZEN)];
  const act = async (): Promise<void> => {
    while (!seen.over) {
      const frozen = seen.executions[SCENARIOS.indexOf(FROZEN)];
      const reserveOfFrozen = frozen?.steps.find(({ name }) => name === 'reserve');
      saboteur.act({ entries: await world.ledger(), reserveOfFrozen, killedId, frozenId });
      await pause(ACT_EVERY_MS);
    }
  };
  await Promise.all([look(), act()]);
  return seen.executions;
}

try {
  process.exitCode = await main();
} catch (error) {
  // A process that is stopped midway reports errors, which do not matter.
  if (!isInterrupted) console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
