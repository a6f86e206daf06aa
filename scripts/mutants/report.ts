/** What a run says: the JSON summary, and `docs/MUTANTS.md`. Pure. */

import { describeKiller, type Mutant } from './mutant.ts';

/** 'not-equivalent': said to be, and was noticed. 'broken': its killer could not run. */
export type Fate = 'killed' | 'survived' | 'equivalent' | 'not-equivalent' | 'broken';

export interface Result {
  readonly mutant: Mutant;
  readonly fate: Fate;
  readonly detail: string;
  readonly seconds: number;
}

export interface Summary {
  readonly planted: number;
  readonly killed: number;
  readonly equivalent: number;
  /** Ids of all that did not end as they should. */
  readonly survivors: readonly string[];
  readonly seconds: number;
  readonly byKiller: Readonly<Record<string, number>>;
}

export function summaryOf(results: readonly Result[], seconds: number): Summary {
  const of = (fate: Fate): Result[] => results.filter((result) => result.fate === fate);
  const byKiller: Record<string, number> = {};
  for (const { mutant } of of('killed')) {
    byKiller[mutant.killer.kind] = (byKiller[mutant.killer.kind] ?? 0) + 1;
  }
  return {
    planted: results.length,
    killed: of('killed').length,
    equivalent: of('equivalent').length,
    survivors: results
      .filter(({ fate }) => fate !== 'killed' && fate !== 'equivalent')
      .map(({ mutant }) => mutant.id),
    seconds: Math.round(seconds),
    byKiller,
  };
}

const cell = (text: string): string => text.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ');

function rowOf({ mutant, seconds }: Result): string {
  const cells = [
    mutant.id,
    String(mutant.from),
    mutant.bug,
    mutant.file,
    describeKiller(mutant.killer),
    `${seconds.toFixed(1)} s`,
  ];
  return `| ${cells.map(cell).join(' | ')} |`;
}

const HEAD = `# Planted bugs

<!-- Written by npm run mutants -- --write-docs -->

A test suite is believed when it notices bugs. \`npm run mutants\` plants each bug below, one at a time, in a copy of the tree,
and runs the one check that is named to notice it. Each check first passes without any bug. A bug whose place in the code
has changed makes the run fail until it is adapted (\`test/mutants/\` says so with every commit).

The simulation runs the seeds of \`npm test\`, or for what no unit test is asked for 310 worlds (some 20,000 executions), and stops at
the first violation. "from" is the bug's number in the list that
the suite was designed against (or *own*). Times are of one run with two lanes, start of the process included.
`;

export function documentOf(results: readonly Result[], summary: Summary): string {
  const { planted, killed, equivalent, survivors, seconds, byKiller } = summary;
  const by = Object.entries(byKiller).map(([kind, count]) => `${kind} ${count}`);
  const rows = results.filter(({ mutant }) => mutant.equivalent === undefined).map(rowOf);
  const argued = results
    .filter(({ mutant }) => mutant.equivalent !== undefined)
    .map(({ mutant }) => `- \`${mutant.id}\` (${mutant.file}): ${mutant.bug} ${mutant.equivalent ?? ''}`);
  const verdict = `${planted} planted, ${killed} killed (${by.join(', ')}), ${equivalent} equivalent, ${survivors.length} survived; ${seconds} s.`;
  return [
    HEAD,
    `**${verdict}**${survivors.length === 0 ? '' : ` Survivors: ${survivors.join(', ')}.`}`,
    '',
    '| id | from | bug | file | noticed by | time |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
    '## Equivalent',
    '',
    'These change nothing that anybody could see; they are run all the same, and must not be noticed.',
    '',
    ...argued,
    '',
  ].join('\n');
}
