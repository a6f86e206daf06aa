/** What a run says: the JSON summary, and `proof/results/mutation.txt`. Pure. */

import type { Note } from './notes.ts';

export type Status = 'Killed' | 'Survived' | 'Timeout' | 'NoCoverage';

export interface Mutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: Status;
  /**
   * Only for a time-out: which test had no end. Without it Stryker's own clock ran out, which happens on a
   * busy machine as well.
   */
  readonly statusReason?: string;
  readonly location: {
    readonly start: { readonly line: number; readonly column: number };
    readonly end?: { readonly line: number; readonly column: number };
  };
}

export interface Report {
  readonly files: Readonly<Record<string, { readonly mutants: readonly Mutant[]; readonly source: string }>>;
  readonly run: {
    readonly at: string;
    readonly commit: string;
    readonly seconds: number;
    readonly runs: string;
    readonly tests: number;
    readonly leftOut: number;
  };
}

export interface Counts {
  readonly mutants: number;
  readonly killed: number;
  readonly survived: number;
  readonly timeout: number;
  readonly noCoverage: number;
  /** Killed and timeout, of all: percent. */
  readonly score: number;
}
export interface Summary extends Counts {
  readonly files: Readonly<Record<string, Counts>>;
  readonly seconds: number;
}

/** What nobody saw to have no end is not noticed. */
const verdictOf = ({ status, statusReason = '' }: Mutant): Status =>
  status === 'Timeout' && statusReason === '' ? 'Survived' : status;

export function countsOf(mutants: readonly Mutant[]): Counts {
  const of = (status: Status): number => mutants.filter((mutant) => verdictOf(mutant) === status).length;
  const [killed, survived, timeout, noCoverage] = [
    of('Killed'),
    of('Survived'),
    of('Timeout'),
    of('NoCoverage'),
  ];
  const all = killed + survived + timeout + noCoverage;
  const score = all === 0 ? 100 : Math.round((1_000 * (killed + timeout)) / all) / 10;
  return { mutants: all, killed, survived, timeout, noCoverage, score };
}

const placeOf = ({ location, mutatorName, replacement }: Mutant): string =>
  JSON.stringify([location, mutatorName, replacement]);
const isNoticed = (mutant: Mutant): boolean => ['Killed', 'Timeout'].includes(verdictOf(mutant));

/**
 * Runs as one: of a file that several have judged, by different tests, a mutant is
 * noticed that any of them has noticed.
 */
export function merged(reports: readonly Report[]): Report {
  const [first] = reports;
  if (first === undefined) throw new Error('there is no report');
  const files: Record<string, Report['files'][string]> = {};
  for (const report of reports) {
    for (const [name, file] of Object.entries(report.files)) {
      const known = files[name];
      const noticed = new Map(file.mutants.filter(isNoticed).map((mutant) => [placeOf(mutant), mutant]));
      const mutants = known?.mutants.map((one) =>
        isNoticed(one) ? one : (noticed.get(placeOf(one)) ?? one),
      );
      files[name] = known === undefined || mutants === undefined ? file : { ...known, mutants };
    }
  }
  const commit = [...new Set(reports.map(({ run }) => run.commit))].join(', ');
  const seconds = reports.reduce((sum, { run }) => sum + run.seconds, 0);
  return { files, run: { ...first.run, commit, seconds } };
}

export function summaryOf({ files, run }: Report): Summary {
  return {
    ...countsOf(Object.values(files).flatMap(({ mutants }) => mutants)),
    files: Object.fromEntries(Object.entries(files).map(([file, { mutants }]) => [file, countsOf(mutants)])),
    seconds: run.seconds,
  };
}

const cells = (...values: readonly (string | number)[]): string => `| ${values.join(' | ')} |`;

function rowOf(name: string, mutants: readonly Mutant[]): string {
  const { mutants: all, killed, survived, timeout, noCoverage, score } = countsOf(mutants);
  return cells(name, all, killed, timeout, survived, noCoverage, score.toFixed(1));
}

/** How many files are shown, those with the lowest score. */
const WORST = 8;
const TABLE = [
  '| | mutants | killed | timed out | survived | not reached | score |',
  '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
];

/** One row for each folder, and one for all. */
function byFolder({ files }: Report): string[] {
  const folders = new Map<string, Mutant[]>();
  for (const [name, { mutants }] of Object.entries(files)) {
    const folder = name.slice(0, name.lastIndexOf('/'));
    folders.set(folder, [...(folders.get(folder) ?? []), ...mutants]);
  }
  const rows = [...folders].sort(([one], [other]) => one.localeCompare(other));
  return [...rows, ['all', [...folders.values()].flat()] as const].map(([name, own]) => rowOf(name, own));
}

const lowest = ({ files }: Report): string[] =>
  Object.entries(files)
    .sort(([, one], [, other]) => countsOf(one.mutants).score - countsOf(other.mutants).score)
    .slice(0, WORST)
    .map(([name, { mutants }]) => rowOf(name, mutants));

/** Where it is now: a line that moves takes its note along. */
function noted(report: Report, { file, at, said }: Note): string {
  const lines = report.files[file]?.source.split('\n') ?? [];
  const line = lines.findIndex((text) => text.includes(at)) + 1;
  return `- \`${file}${line === 0 ? '' : `:${line}`}\` \`${at}\`: ${said}`;
}

const HEAD =
  "Stryker's mutants of `lib/core`, and what became of them. Written by `npm run mutation -- --write-results`.\n";

const judges = ({ run }: Report): string =>
  `Judges: ${run.tests} tests, of which ${run.leftOut} cost too much to be run for every mutant; a property gets ${run.runs} runs at most.\n`;

export function documentOf(report: Report, notes: readonly Note[], of: number): string {
  const { score, mutants, killed, timeout, survived, noCoverage, seconds } = summaryOf(report);
  const names = Object.keys(report.files);
  const extent =
    names.length < of
      ? `${names.length} of ${of} files (the others hold types alone, or are not measured)`
      : `all ${of} files`;
  const count = (answer: Note['answer']): number => notes.filter((note) => note.answer === answer).length;
  const open = notes.filter(({ answer }) => answer === 'open');
  return [
    HEAD,
    `**Score ${score} %: ${mutants} mutants of ${extent}, ${killed} killed, ${timeout} timed out, ${survived} survived, ${noCoverage} reached by no test; ${seconds} s, ${report.run.at}, at ${report.run.commit}.**`,
    '',
    ...TABLE,
    ...byFolder(report),
    '',
    'The files with the lowest score:',
    '',
    ...TABLE,
    ...lowest(report),
    '',
    judges(report),
    '## Survivors',
    '',
    `Somebody has looked at ${notes.length} of them: ${count('test')} got a test, ${count('equivalent')} change nothing that anybody could see, ${count('open')} stay open. \`proof/mutation/notes.ts\` has the reasons.`,
    '',
    ...open.map((note) => noted(report, note)),
    ...(open.length === 0 ? [] : ['']),
  ].join('\n');
}
