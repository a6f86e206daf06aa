/**
 * What there is to pay for beside steps: waiting, beating, idling, parking.
 *
 * Owns: the situations, and how a second of each is carried over to an hour, a month or a million. Does not own: the
 * counting (`meter.ts`).
 */

import { type AttributeValue, DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { DEFAULT_WATCH_SHARDS, TABLE } from '../../lib/aws/names.ts';
import { between, type Reading, unitsOf } from './meter.ts';
import { dollars, PRICES, total, type Units } from './prices.ts';
import { type Stage, setStage } from './stage.ts';

export interface Situation {
  readonly what: string;
  readonly usd: number;
  readonly arithmetic: string;
}

export interface Situations {
  readonly list: readonly Situation[];
  readonly lines: readonly string[];
  /** Calls of DynamoDB in a minute in which nothing is due. */
  readonly idle: { readonly shards: number; readonly queries: number; readonly others: number };
}

const PARKED = 20;
const HOUR_MS = 3_600_000;
const HOURS_A_MONTH = 730;
const MILLION = 1_000_000;
/** Of a nap whose lease is 3 s: a beat a second. */
const NAP_MS = 12_000;
/** Ten minutes with the usual lease of 30 s. */
const BEATS_OF_TEN_MINUTES = 60;
/** DynamoDB adds as much to every item and every index entry that is stored. */
const ENTRY_OVERHEAD_BYTES = 100;
const GIGABYTE = 1_000_000_000;
/** Five pollers of twenty seconds each. */
const EMPTY_POLLS_AN_HOUR = 900;

export async function situations(say: (text: string) => void): Promise<Situations> {
  say('Waiting, beating, idling and parking …');
  const stage = await setStage({ batchSize: 1, processes: 2, schedules: false });
  try {
    await ticked(stage);
    const minute = await ticked(stage);
    const list = [
      ...(await parking(stage, say)),
      await beating(stage),
      {
        what: 'Lambda’s polling of an empty queue, a month and agent',
        usd: EMPTY_POLLS_AN_HOUR * HOURS_A_MONTH * PRICES.usd.sqsRequests,
        arithmetic: `${EMPTY_POLLS_AN_HOUR} polls an hour × ${HOURS_A_MONTH} h × $0.40 / M (not on the wire: five pollers, 20 s each)`,
      },
    ];
    const width = Math.max(...list.map(({ what }) => what.length));
    const lines = list.map(
      ({ what, usd, arithmetic }) => `${what.padEnd(width)}  $${usd.toFixed(usd < 1 ? 6 : 2)}  ${arithmetic}`,
    );
    return { list, lines, idle: idleOf(minute) };
  } finally {
    await stage.strike();
  }
}

/** Of one execution, not of a million. */
const usdOf = (units: Units): number => total(dollars(units, MILLION));

async function ticked(stage: Stage): Promise<Reading> {
  const before = stage.meter.read();
  const clocks = stage.cloud.control
    .schedules()
    .filter(({ name }) => name.toLowerCase().includes('supervisor'));
  await Promise.all(clocks.map(({ name }) => stage.cloud.control.tick(name)));
  return between(before, stage.meter.read());
}

function idleOf({ calls }: Reading): Situations['idle'] {
  const dynamo = calls.filter(({ service, caller }) => service === 'dynamodb' && caller !== 'outside');
  const count = (isQuery: boolean): number =>
    dynamo
      .filter(({ operation }) => (operation === 'Query') === isQuery)
      .reduce((sum, one) => sum + one.calls, 0);
  return { shards: DEFAULT_WATCH_SHARDS, queries: count(true), others: count(false) };
}

const brief = ({ writeUnits, readUnits, sqsRequests, lambdaRequests }: Units): string =>
  `${writeUnits} write units, ${readUnits} read units, ${sqsRequests} SQS requests, ${lambdaRequests} invocations`;

async function parking(stage: Stage, say: (text: string) => void): Promise<Situation[]> {
  await ticked(stage);
  const idle = unitsOf(await ticked(stage), 1);
  const before = stage.meter.read();
  for (let at = 0; at < PARKED; at += 1) await stage.start('asks', { data: 'x'.repeat(90) });
  await stage.quiet();
  const begun = unitsOf(between(before, stage.meter.read()), 1);
  const itemBytes = (await storedBytes(stage)) / PARKED;
  say('  ticks of the supervisor until all is looked at: four minutes');
  await looksOf(stage);
  for (let at = 0; at < PARKED; at += 1) await stage.start('waits', { until: Date.now() + HOUR_MS });
  await stage.quiet();
  const each = (await looksOf(stage)) / PARKED;
  // The tick after one that found something also counts what is open.
  await ticked(stage);
  const parked = unitsOf(await ticked(stage), 1);
  const month = (units: Units): number => usdOf(units) * 60 * HOURS_A_MONTH;
  const storage = (itemBytes / GIGABYTE) * MILLION * PRICES.usd.storageGbMonth;
  return [
    {
      what: 'an idle system, a month',
      usd: month(idle),
      arithmetic: `a minute: ${brief(idle)}`,
    },
    {
      what: `the same with ${2 * PARKED} executions that wait`,
      usd: month(parked),
      arithmetic: `a minute: ${brief(parked)}`,
    },
    {
      what: 'an hour of waiting (w.wait), each',
      usd: each * PRICES.usd.writeUnits,
      arithmetic: `one look after the start: ${each.toFixed(1)} write units, and a read; then nothing until it wakes, which is another look: its place in the index is its time`,
    },
    {
      what: 'a million executions that wait for a person, to start',
      usd: (usdOf(begun) / PARKED) * MILLION,
      arithmetic: `each ${begun.writeUnits / PARKED} write units, ${begun.lambdaRequests / PARKED} invocation`,
    },
    {
      what: 'the same, for every month that they wait',
      usd: storage,
      arithmetic: `${Math.round(itemBytes)} B each with both index entries × 1 M × $${PRICES.usd.storageGbMonth} / GB; no reads, no writes`,
    },
  ];
}

/**
 * What supervisors write until they have nothing to write: each execution is looked at once, in case its message was lost. What they
 * read meanwhile is mostly the sweeps of a busy minute, which cost the same for one as for thousands.
 */
async function looksOf(stage: Stage): Promise<number> {
  let written = 0;
  for (;;) {
    const { writeUnits } = unitsOf(await ticked(stage), 1);
    if (writeUnits === 0) return written;
    written += writeUnits;
  }
}

async function beating(stage: Stage): Promise<Situation> {
  const writesOf = async (ms: number): Promise<number> => {
    const before = stage.meter.read();
    await stage.ended(await stage.start('naps3', { ms }));
    await stage.quiet();
    return unitsOf(between(before, stage.meter.read()), 1).writeUnits;
  };
  const atOnce = await writesOf(0);
  const beats = Math.floor(NAP_MS / 1_000) - 1;
  const each = Math.round(((await writesOf(NAP_MS)) - atOnce) / beats);
  const usd = BEATS_OF_TEN_MINUTES * each * PRICES.usd.writeUnits;
  return {
    what: 'the beats of a step of ten minutes',
    usd,
    arithmetic: `a lease of 30 s: ${BEATS_OF_TEN_MINUTES} beats × ${each} write unit`,
  };
}

/** Of all executions' own items with their entries in both indexes. */
async function storedBytes({ cloud }: Stage): Promise<number> {
  const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench' };
  const client = new DynamoDBClient({ endpoint: cloud.gatewayUrl, region: 'us-east-1', credentials });
  const table = [...cloud.resources.values()].find(({ type }) => type === 'AWS::DynamoDB::Table');
  let bytes = 0;
  for await (const { Items = [] } of paginateScan({ client }, { TableName: table?.ref })) {
    for (const item of Items.filter((one) => one['sk']?.S === 'exec')) bytes += storedWith(item);
  }
  client.destroy();
  return bytes;
}

const KEYS = ['pk', 'sk'];
const ENTRIES = [
  [...KEYS, TABLE.watchIndex.pk, TABLE.watchIndex.sk],
  [...KEYS, TABLE.listIndex.pk, TABLE.listIndex.sk],
];

type Item = Readonly<Record<string, AttributeValue>>;

/** By DynamoDB's rules: names and values, and of a number about half of its digits. */
function bytesOf(item: Item, names: readonly string[] = Object.keys(item)): number {
  return names
    .filter((name) => item[name] !== undefined)
    .map((name) => {
      const { S, N } = item[name] ?? {};
      return (
        Buffer.byteLength(name) + (N === undefined ? Buffer.byteLength(S ?? '') : Math.ceil(N.length / 2) + 1)
      );
    })
    .reduce((sum, bytes) => sum + bytes, ENTRY_OVERHEAD_BYTES);
}

const storedWith = (item: Item): number =>
  ENTRIES.reduce((sum, names) => sum + bytesOf(item, names), bytesOf(item));
