/** A run's report: the JSON summary, and `proof/results/mutants.txt`. Pure. */

import { JUDGES, type Judge, judgeOf, type Mutant } from './mutant.ts';

/** The ids of related bugs. */
export interface Concept {
  readonly concept: string;
  readonly ids: readonly string[];
}

/** 'broken': its killer could not run. */
export type Fate = 'killed' | 'survived' | 'broken';

export interface Result {
  readonly mutant: Mutant;
  readonly fate: Fate;
  readonly detail: string;
  readonly seconds: number;
}

export interface Summary {
  readonly planted: number;
  readonly killed: number;
  /** The ids of all mutants that were not killed. */
  readonly survivors: readonly string[];
  readonly seconds: number;
  readonly byJudge: Readonly<Record<Judge, number>>;
}

export function summaryOf(results: readonly Result[], seconds: number): Summary {
  const killed = results.filter(({ fate }) => fate === 'killed');
  const by = (judge: Judge): number => killed.filter(({ mutant }) => judgeOf(mutant.killer) === judge).length;
  return {
    planted: results.length,
    killed: killed.length,
    survivors: results.filter(({ fate }) => fate !== 'killed').map(({ mutant }) => mutant.id),
    seconds: Math.round(seconds),
    byJudge: Object.fromEntries(JUDGES.map((judge) => [judge, by(judge)])) as Record<Judge, number>,
  };
}

const cell = (text: string): string => text.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ');

const HEAD = 'Planted bugs, and who noticed each. Written by `npm run mutants -- --write-results`.\n';

/** A table for each concept with bugs in the run. */
function tablesOf(results: readonly Result[], concepts: readonly Concept[]): string[] {
  return concepts.flatMap(({ concept, ids }) => {
    const own = results.filter(({ mutant }) => ids.includes(mutant.id));
    if (own.length === 0) return [];
    const rows = own.map(({ mutant, fate }) => {
      const judge = fate === 'killed' ? judgeOf(mutant.killer) : `**${fate}**`;
      return `| \`${mutant.id}\` | ${cell(mutant.bug)} | ${judge} |`;
    });
    const title = concept.charAt(0).toUpperCase() + concept.slice(1);
    return [
      `## ${title}`,
      '',
      '| bug | what the code does wrong | noticed by |',
      '| --- | --- | --- |',
      ...rows,
      '',
    ];
  });
}

export function documentOf(
  results: readonly Result[],
  summary: Summary,
  concepts: readonly Concept[],
): string {
  const { planted, killed, survivors, seconds, byJudge } = summary;
  const judges = JUDGES.map((judge) => `${judge} ${byJudge[judge]}`).join(', ');
  const verdict = `${planted} planted, ${killed} noticed (${judges}), ${survivors.length} survived; ${seconds} s.`;
  return [
    HEAD,
    `**${verdict}**${survivors.length === 0 ? '' : ` Survivors: ${survivors.join(', ')}.`}`,
    '',
    ...tablesOf(results, concepts),
  ].join('\n');
}
