/**
 * `npm run mutants`: plants known bugs in copies of the tree, one at a time, and checks that the named test
 * finds each.
 *
 * Owns: the options, the order (first every killer on the sound tree, then every mutant), two lanes, the
 * verdict. Does not own: the bugs (`proof/mutants/catalogue`), the checks (`mutants/killers.ts`).
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { soundTreeProblems } from './mutants/baseline.ts';
import { CONCEPTS, MUTANTS } from './mutants/catalogue.ts';
import { runKiller } from './mutants/killers.ts';
import { catalogueProblems, describeKiller, type Mutant, simulated } from './mutants/mutant.ts';
import { documentOf, type Result, summaryOf } from './mutants/report.ts';
import { ROOT, scratchCopy, type Scratch } from './mutants/scratch.ts';

const LANES = 2;
const DOCUMENT = join(ROOT, 'proof/results/mutants.txt');
const CONCEPT_IDS = Object.entries(CONCEPTS).map(([concept, mutants]) => ({
  concept,
  ids: mutants.map(({ id }) => id),
}));

interface Options {
  readonly only?: string[];
  readonly simulated?: boolean;
  readonly bySimulation?: boolean;
  readonly list?: boolean;
  readonly json?: boolean;
  readonly writeResults?: boolean;
}

const program = new Command('mutants')
  .description('Plants known bugs in copies of the tree and checks that each is noticed (docs/PROOF.md).')
  .option('--only <id...>', 'only these mutants')
  .option('--simulated', 'only those that simulated worlds must notice')
  .option('--by-simulation', 'random worlds judge each, some 20,000 executions, whatever its own judge is')
  .option('--list', 'list them and run nothing')
  .option('--json', 'one JSON line at the end')
  .option('--write-results', 'write proof/results/mutants.txt from this run');

const isTty = process.stderr.isTTY;
const progress = (text: string): void => {
  if (isTty) process.stderr.write(`\r\u001b[2K${text.slice(0, 100)}`);
};

async function tryMutant(scratch: Scratch, mutant: Mutant): Promise<Result> {
  const startedAt = Date.now();
  const restore = scratch.apply(mutant);
  try {
    const { kind, detail } = await runKiller(scratch.root, mutant.killer);
    const fate = kind === 'clean' ? 'survived' : kind;
    return { mutant, fate, detail, seconds: (Date.now() - startedAt) / 1_000 };
  } finally {
    restore();
  }
}

async function tryAll(scratches: readonly Scratch[], chosen: readonly Mutant[]): Promise<Result[]> {
  const results = new Map<Mutant, Result>();
  const queue = [...chosen];
  const lane = async (scratch: Scratch): Promise<void> => {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      progress(`${results.size}/${chosen.length} ${mutant.id}`);
      const result = await tryMutant(scratch, mutant);
      results.set(mutant, result);
      show(result);
    }
  };
  await Promise.all(scratches.map(lane));
  return chosen.map((mutant) => results.get(mutant) as Result);
}

function show({ mutant, fate, detail, seconds }: Result): void {
  if (fate === 'killed' && program.opts<Options>().json === true) return;
  progress('');
  const word = fate === 'killed' ? fate : fate.toUpperCase();
  console.error(`${word.padEnd(10)} ${mutant.id} (${seconds.toFixed(1)} s): ${detail}`);
}

const judgedByWorlds = (mutant: Mutant): Mutant =>
  mutant.killer.kind === 'simulation' ? mutant : { ...mutant, killer: simulated() };

async function main(options: Options): Promise<void> {
  const startedAt = Date.now();
  const problems = catalogueProblems(MUTANTS, (file) => readFileSync(join(ROOT, file), 'utf8'));
  const unknown = (options.only ?? []).filter((id) => !MUTANTS.some((mutant) => mutant.id === id));
  problems.push(...unknown.map((id) => `there is no mutant '${id}'; see --list`));
  if (problems.length > 0) program.error(problems.join('\n'));
  const own = MUTANTS.filter(
    ({ id, killer }) =>
      (options.only?.includes(id) ?? true) && (options.simulated !== true || killer.kind === 'simulation'),
  );
  const chosen = options.bySimulation === true ? own.map(judgedByWorlds) : own;
  if (options.list === true) {
    for (const { id, bug, killer } of chosen) console.log(`${id}: ${bug} [${describeKiller(killer)}]`);
    return;
  }
  const scratches = Array.from({ length: LANES }, scratchCopy);
  try {
    progress('the checks on the sound tree');
    const unsound = await soundTreeProblems(scratches, chosen);
    if (unsound.length > 0) program.error(`checks fail without any bug planted:\n${unsound.join('\n')}`);
    const results = await tryAll(scratches, chosen);
    progress('');
    const mutants = summaryOf(results, (Date.now() - startedAt) / 1_000);
    if (options.writeResults === true) writeFileSync(DOCUMENT, documentOf(results, mutants, CONCEPT_IDS));
    console.log(options.json === true ? JSON.stringify({ mutants }) : mutants);
    if (mutants.survivors.length > 0) process.exitCode = 1;
  } finally {
    for (const scratch of scratches) scratch.remove();
  }
}

program.parse();
await main(program.opts<Options>());
