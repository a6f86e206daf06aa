/** What a run says: the JSON summary, and `docs/MUTATION.md`. Pure. */

import type { Note } from './notes.ts';

export type Status = 'Killed' | 'Survived' | 'Timeout' | 'NoCoverage';

export interface Mutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: Status;
  /** Of a time-out: which test had no end. Without it Stryker's own clock ran out, which a busy machine does as well. */
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

/** Runs as one: of a file that several have judged, by different tests, a mutant is noticed that any of them has noticed. */
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

function rowOf(name: string, counts: Counts, mutants: readonly Mutant[]): string {
  const { killed, survived, timeout, noCoverage, score } = counts;
  const texts = mutants.filter(
    ({ status, mutatorName }) => status === 'Survived' && mutatorName === 'StringLiteral',
  );
  return cells(name, counts.mutants, killed, timeout, survived, texts.length, noCoverage, score.toFixed(1));
}

/** Where it is now: a line that moves takes its note along. */
function noted(report: Report, { file, at, said }: Note): string {
  const lines = report.files[file]?.source.split('\n') ?? [];
  const line = lines.findIndex((text) => text.includes(at)) + 1;
  return `- \`${file}${line === 0 ? '' : `:${line}`}\` \`${at}\`: ${said}`;
}

const BEFORE = `Before them (at b55124c) the same tests noticed 61.8 % in \`decide.ts\`, 71.3 % in \`watch.ts\` and 80.8 % in
\`attempts.ts\`. What was missing were figures: properties say what must never happen, and leave what exactly is written to
the roles' tests. The \`test/core/*-exact.test.ts\` say it field by field.`;

const HEAD = `# Mutation score of the core

<!-- Written by npm run mutation -- --write-docs -->

\`npm run mutation\` has Stryker change \`lib/core\` in every small way it knows (a condition that is always true, \`<\` for
\`<=\`, a body left out, an empty text), one at a time, and asks the tests of the core and of the roles in memory whether they
notice. Bugs chosen by hand, judged by all kinds of checks, are in [MUTANTS.md](MUTANTS.md).
`;

const HOW = (report: Report): string => `## How it is counted

- The score is killed and timed out, of all. A mutant that takes twenty times the steps of its test has timed out.
- Judges are \`test/core\`, \`test/roles\` and three files of \`test/mutants\`: ${report.run.tests} tests, of which
  ${report.run.leftOut} cost too much to be run for every mutant and are left out. A property gets ${report.run.runs} runs at most where
  \`npm test\` gives it up to 6,000. Simulation, model, chaos and the local cloud, which see more, do not judge here: the score
  is a lower bound.
- A test that only counts how often its property met a case kills by a counterexample alone.
- Code that runs while modules load is judged by all tests, loaded anew with the mutant.
- "texts" are survivors that only change a text: a word in a message, or a name.
- One script holds all tests and is loaded once, so that a mutant costs milliseconds; Stryker is fetched when the command runs
  and is no dependency.
`;

export function documentOf(report: Report, notes: readonly Note[], of: number): string {
  const summary = summaryOf(report);
  const all = Object.values(report.files).flatMap(({ mutants }) => mutants);
  const { score, mutants, killed, timeout, survived, noCoverage, seconds } = summary;
  const names = Object.keys(report.files).sort();
  const extent =
    names.length < of
      ? `${names.length} of ${of} files (the others hold types alone, or are not measured)`
      : `all ${of} files`;
  const open = notes.filter(({ answer }) => answer === 'open');
  const list = (answer: Note['answer']): string[] =>
    notes.filter((note) => note.answer === answer).map((note) => noted(report, note));
  return [
    HEAD,
    `**Score ${score} %: ${mutants} mutants of ${extent}, ${killed} killed, ${timeout} timed out, ${survived} survived, ${noCoverage} reached by no test; ${seconds} s, ${report.run.at}, at ${report.run.commit}.**`,
    '',
    'All of it: `npm run mutation -- --write-docs`. Some files: `npm run mutation -- --files lib/core/decide.ts,lib/core/look.ts`.',
    '',
    '| file | mutants | killed | timed out | survived | of these texts | not reached | score |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...names.map((name) =>
      rowOf(name, countsOf(report.files[name]?.mutants ?? []), report.files[name]?.mutants ?? []),
    ),
    rowOf('all', summary, all),
    '',
    HOW(report),
    '## Survivors that were answered by a test',
    '',
    BEFORE,
    '',
    ...list('test'),
    '',
    '## Survivors that change nothing',
    '',
    ...list('equivalent'),
    '',
    ...(open.length === 0 ? [] : ['## Survivors that stay', '', ...list('open'), '']),
  ].join('\n');
}
