/**
 * `npm run example <name>`: runs one example on a fresh local cloud and prints the faults, the ends, and the
 * ledger.
 *
 * Owns: the page that it prints, and the exit code. Does not own: what happens (`example.ts` of the folder),
 * the judgement (`play.ts`).
 */

import { parseArgs } from 'node:util';
import type { Played } from './example.ts';
import {
  countsOf,
  exampleNames,
  isWell,
  loadExample,
  messageOf,
  type Performance,
  perform,
  problemsOf,
} from './play.ts';
import { cloudOf } from './cloud.ts';
import { wrapped } from './text.ts';

const HELP = `Usage: npm run example <name> [-- --within <s>] [--keep]

Runs one example on a fresh local cloud, with real processes: its scenes, all at once, each of which goes wrong in its own way. The last
line is JSON; the exit code is 0 only if every one ended as it should and the ledger agrees.

  --within <s>  what has not ended after so many seconds is stuck (default: 90)
  --keep        keeps the folder with the tables, the logs and the ledger
`;

async function list(): Promise<void> {
  const names = exampleNames();
  const width = Math.max(...names.map((name) => name.length));
  console.log('npm run example <name>, with one of:\n');
  for (const name of names) console.log(`  ${name.padEnd(width)}  ${(await loadExample(name)).title}`);
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      within: { type: 'string', default: '90' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const [name] = positionals;
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  if (name === undefined) {
    await list();
    return 0;
  }
  if (!exampleNames().includes(name)) {
    console.error(`there is no example '${name}'; there are ${exampleNames().join(', ')}`);
    return 2;
  }
  const beganAt = Date.now();
  const { title } = await loadExample(name);
  console.log(`${wrapped(title).join('\n')}\n`);
  const cloud = await cloudOf([name], (text) => process.stdout.write(text));
  let well = false;
  try {
    const untilAt = Date.now() + Number(values.within) * 1_000;
    const onEnd = ({ scene, end }: Played): void =>
      console.log(`  ${scene.name}: ${end?.status ?? 'not ended'}`);
    const performance = await perform(name, cloud, (round) => round < 1, untilAt, onEnd);
    console.log(`\n${linesOf(performance).join('\n')}\n`);
    well = isWell([performance]);
    const seconds = Math.round((Date.now() - beganAt) / 100) / 10;
    console.log(JSON.stringify({ example: { name, ...countsOf([performance]), seconds } }));
    if (values.keep) console.log(`Tables, logs and ledger: ${cloud.folder}`);
    return well ? 0 : 1;
  } finally {
    await cloud.stop({ keep: values.keep });
  }
}

function linesOf({ played, audit }: Performance): string[] {
  const scenes = played.flatMap((one) => {
    const { scene, end } = one;
    const problems = problemsOf(one, audit);
    const took =
      end?.endedAt === undefined ? '' : ` after ${((end.endedAt - end.startedAt) / 1_000).toFixed(1)} s`;
    return [
      `${problems.length === 0 ? '✔' : '✘'} ${scene.wrong}: ${end?.status ?? 'not ended'}${took}`,
      ...(problems.length === 0 && end !== undefined ? wrapped(scene.tell(end), '  ') : []),
      ...problems.map((problem) => `  NOT AS EXPECTED: ${problem}`),
    ];
  });
  const others = audit.findings.filter(({ subject }) => subject === undefined);
  return [
    ...scenes,
    ...others.map(({ kind, text }) => `✘ ${kind}: ${text}`),
    ...wrapped(`The ledger: ${audit.ledger}.`),
  ];
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
