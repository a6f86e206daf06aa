/** What a run says: the JSON summary, and `docs/MUTANTS.md`. Pure. */

import type { Mutant } from './mutant.ts';

/** Bugs that belong together, by id. */
export interface Concept {
  readonly concept: string;
  readonly ids: readonly string[];
}

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

const HEAD = `# Planted bugs

<!-- Written by npm run mutants -- --write-docs -->

A test suite is believed when it notices bugs. \`npm run mutants\` plants each known bug, one at a time, in a copy of the tree,
and runs the one check that is named to notice it. Each check first passes without any bug. A bug whose place in the code
has changed makes the run fail until it is adapted (\`test/proof/mutants/\` says so with every commit).

\`npm run mutants -- --list\` prints every bug and its check; \`--only <id>\` plants one. The simulation runs the seeds of
\`npm test\`, or for what no unit test is asked for 310 worlds (some 20,000 executions), and stops at the first violation.
`;

/** One row for each concept of which the run had bugs. */
function rowsOf(results: readonly Result[], concepts: readonly Concept[]): string[] {
  return concepts.flatMap(({ concept, ids }) => {
    const own = results.filter(({ mutant }) => ids.includes(mutant.id));
    if (own.length === 0) return [];
    const killed = own.filter(({ fate }) => fate === 'killed');
    const by = (kind: string): number => killed.filter(({ mutant }) => mutant.killer.kind === kind).length;
    const counts = [own.length, killed.length, by('jest'), by('simulation'), by('model')];
    return [`| ${[cell(concept), ...counts].join(' | ')} |`];
  });
}

export function documentOf(
  results: readonly Result[],
  summary: Summary,
  concepts: readonly Concept[],
): string {
  const { planted, killed, equivalent, survivors, seconds } = summary;
  const argued = results
    .filter(({ mutant }) => mutant.equivalent !== undefined)
    .map(({ mutant }) => `- \`${mutant.id}\` (${mutant.file}): ${mutant.bug} ${mutant.equivalent ?? ''}`);
  const verdict = `${planted} planted, ${killed} noticed, ${equivalent} equivalent, ${survivors.length} survived; ${seconds} s.`;
  return [
    HEAD,
    `**${verdict}**${survivors.length === 0 ? '' : ` Survivors: ${survivors.join(', ')}.`}`,
    '',
    '| bugs of | planted | noticed | by tests | by simulation | by the model |',
    '| --- | ---: | ---: | ---: | ---: | ---: |',
    ...rowsOf(results, concepts),
    '',
    '## Equivalent',
    '',
    'These change nothing that anybody could see; they are run all the same, and must not be noticed.',
    '',
    ...argued,
    '',
  ].join('\n');
}
