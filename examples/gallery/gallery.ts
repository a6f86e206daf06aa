/**
 * Runs all examples in parallel on one local cloud, and kills processes at random moments: each example must
 * end as expected, or the run fails.
 *
 *     npx tsx examples/gallery/gallery.ts [--seed 7] [--short] [--only a,b] [--json]
 *
 * Owns: the durations of playing and killing, the table, the last line and the exit code. Does not own: the
 * scenes and their checks (`example.ts` of each), the judgement (`play.ts`).
 */

import { parseArgs } from 'node:util';
import { cloudOf } from './cloud.ts';
import type { Played } from './example.ts';
import { countsOf, exampleNames, isWell, messageOf, type Performance, perform, problemsOf } from './play.ts';

/** How long new rounds may begin. */
const PLAY_MS = 60_000;
/** Rounds continue after `PLAY_MS` until this many processes were killed. */
const KILLS = 50;
const KILL_EVERY_MS = 700;
const LOOK_EVERY_MS = 500;
/** An execution that has not ended by then is stuck. */
const STUCK_MS = 280_000;
/** How long a single round takes kills: a later kill would only make the round longer. */
const SHORT_MS = 10_000;
/** No round begins after this time. */
const LAST_ROUND_MS = 150_000;

interface Options {
  readonly seed: number;
  readonly names: readonly string[];
  /** Plays one round of each example, with the kills that happen during it. */
  readonly short: boolean;
  readonly json: boolean;
}

function optionsOf(): Options {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string' },
      only: { type: 'string' },
      short: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const { seed, only, short, json } = values;
  return {
    seed: seed === undefined ? Math.floor(Math.random() * 1e6) : Number(seed),
    names: only?.split(',') ?? exampleNames(),
    short,
    json,
  };
}

async function main({ seed, names, short, json }: Options): Promise<number> {
  const beganAt = Date.now();
  console.log(`${names.length} examples on one local cloud, with kills from the seed ${seed}.`);
  const cloud = await cloudOf(names, (text) =>
    process.stdout.write(text.startsWith('local cloud:') ? '' : text),
  );
  let keep = true;
  try {
    const playedFromAt = Date.now();
    const kills = cloud.killAtRandom({ seed, everyMs: KILL_EVERY_MS });
    const again = (round: number): boolean => {
      const passedMs = Date.now() - playedFromAt;
      if (round === 0 || short) return round === 0;
      return passedMs < PLAY_MS || (kills.count() < KILLS && passedMs < LAST_ROUND_MS);
    };
    // Lets running work recover.
    const heal = (): void => {
      const passedMs = Date.now() - playedFromAt;
      if (passedMs > (short ? SHORT_MS : PLAY_MS) && (short || kills.count() >= KILLS)) kills.stop();
    };
    const healing = setInterval(heal, LOOK_EVERY_MS);
    const heard = progress();
    const performances = await Promise.all(
      names.map((name) => perform(name, cloud, again, playedFromAt + STUCK_MS, heard)),
    );
    clearInterval(healing);
    kills.stop();
    const seconds = Math.round((Date.now() - beganAt) / 100) / 10;
    const gallery = { examples: names.length, ...countsOf(performances), kills: kills.count(), seconds };
    console.log(`\n${[...tableOf(performances), '', ...problemsIn(performances)].join('\n')}`);
    const well = isWell(performances) && (short || gallery.kills >= KILLS);
    keep = !well;
    console.log(
      `${gallery.asExpected} of ${gallery.executions} executions as expected under ${gallery.kills} kills, in ${seconds} s.`,
    );
    if (!well)
      console.log(`Again: npm run gallery -- --seed ${seed}\nTables, logs and ledgers: ${cloud.folder}`);
    if (json) console.log(JSON.stringify({ gallery }));
    return well ? 0 : 1;
  } finally {
    await cloud.stop({ keep });
  }
}

/** Prints now and then how many scenes have ended. */
function progress(): (played: Played) => void {
  let ended = 0;
  return () => {
    ended += 1;
    if (ended % 10 === 0) console.log(`  ${ended} executions have ended`);
  };
}

function tableOf(performances: readonly Performance[]): string[] {
  const head = ['example', 'executions', 'as expected', 'doubled', 'lost', 'left behind', 'stuck'];
  const rows = performances.map((one) => {
    const { executions, asExpected, doubled, lost, leftBehind, stuck } = countsOf([one]);
    return [one.name, ...[executions, asExpected, doubled, lost, leftBehind, stuck].map(String)];
  });
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0)));
  return [head, ...rows].map((row) =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  '),
  );
}

function problemsIn(performances: readonly Performance[]): string[] {
  return performances.flatMap(({ name, played, audit }) => [
    ...played.flatMap((one) =>
      problemsOf(one, audit).map(
        (problem) => `✘ ${name}, ${one.subject} (${one.end?.executionId ?? 'no end'}): ${problem}`,
      ),
    ),
    ...audit.findings
      .filter(({ subject }) => subject === undefined)
      .map(({ kind, text }) => `✘ ${name}: ${kind}: ${text}`),
  ]);
}

try {
  process.exitCode = await main(optionsOf());
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
