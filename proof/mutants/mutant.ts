/**
 * A planted bug: its place, its text, and the check that must find it. Owns: the type, the replacement of
 * exactly one occurrence, the rules of a catalogue. Pure.
 */

export type FaultMode = 'all' | 'none' | 'masked' | 'crowded';

/** The cheapest check that must find the bug. */
export type Killer =
  | {
      readonly kind: 'simulation';
      readonly mode: FaultMode;
      readonly worlds: number;
      /** Seeds that have found the bug before; they run first, to take only seconds. */
      readonly first?: readonly number[];
    }
  | { readonly kind: 'jest'; readonly path: string; readonly test: string }
  | { readonly kind: 'model'; readonly run: string };

export interface Edit {
  readonly file: string;
  /** A text that occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

export interface Mutant extends Edit {
  readonly id: string;
  /** One sentence: what the code does wrong. */
  readonly bug: string;
  /** The violated sentence, if the mechanism has a bug for each sentence of its rules. */
  readonly rule?: string;
  /** Further edits, if a second guard would hide a single change. */
  readonly also?: readonly Edit[];
  readonly killer: Killer;
}

/** The most planted bugs, not counting those for sentences of rules. */
export const MAX_PLANTED = 73;

/** The number of seeds of `npm test`, by mode. */
export const COMMIT_WORLDS: Readonly<Record<FaultMode, number>> = {
  all: 80,
  none: 25,
  masked: 20,
  crowded: 20,
};

export const simulation = (mode: FaultMode = 'all', worlds: number = COMMIT_WORLDS[mode]): Killer => ({
  kind: 'simulation',
  mode,
  worlds,
});

/** Worlds with some 20,000 executions, which must show even mistakes that are rare in random worlds. */
export const SIMULATED_WORLDS = 140;
export const simulated = (...first: readonly number[]): Killer => ({
  ...simulation('all', SIMULATED_WORLDS),
  ...(first.length === 0 ? {} : { first }),
});

/** @param path below `test/`, without `.test.ts`. @param test a part of the test's full name */
export const jest = (path: string, test: string): Killer => ({
  kind: 'jest',
  path: `test/${path}.test.ts`,
  test,
});

export const model = (run: string): Killer => ({ kind: 'model', run });

export const JUDGES = ['unit tests', 'end to end', 'simulation', 'model'] as const;
export type Judge = (typeof JUDGES)[number];
export function judgeOf(killer: Killer): Judge {
  if (killer.kind !== 'jest') return killer.kind;
  return killer.path.startsWith('test/e2e/') ? 'end to end' : 'unit tests';
}

export function describeKiller(killer: Killer): string {
  if (killer.kind === 'simulation') return `simulation, mode ${killer.mode}, ${killer.worlds} worlds`;
  return killer.kind === 'jest' ? `${killer.path}: ${killer.test}` : `model run ${killer.run}`;
}

export const editsOf = (mutant: Mutant): Edit[] => [
  { file: mutant.file, find: mutant.find, replace: mutant.replace },
  ...(mutant.also ?? []),
];

/** @throws Error that names the mutant if its text does not occur exactly once */
export function mutated(id: string, text: string, edit: Edit): string {
  const at = text.indexOf(edit.find);
  const count = at < 0 ? 0 : text.indexOf(edit.find, at + 1) < 0 ? 1 : 2;
  if (count !== 1) {
    const often = count === 0 ? 'no longer occurs' : 'occurs more than once';
    throw new Error(`mutant '${id}': its text ${often} in ${edit.file}; adapt the mutant to the code`);
  }
  return text.slice(0, at) + edit.replace + text.slice(at + edit.find.length);
}

/** The changed files of a mutant. */
export function mutatedFiles(mutant: Mutant, read: (file: string) => string): Map<string, string> {
  const texts = new Map<string, string>();
  for (const edit of editsOf(mutant)) {
    texts.set(edit.file, mutated(mutant.id, texts.get(edit.file) ?? read(edit.file), edit));
  }
  return texts;
}

/** The problems of a catalogue. */
export function catalogueProblems(mutants: readonly Mutant[], read: (file: string) => string): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  const others = mutants.filter(({ rule }) => rule === undefined).length;
  if (others > MAX_PLANTED)
    problems.push(`there are ${others} mutants, and ${MAX_PLANTED} are allowed: let one go for each new one`);
  for (const mutant of mutants) {
    if (seen.has(mutant.id)) problems.push(`mutant '${mutant.id}' is there twice`);
    seen.add(mutant.id);
    const { killer } = mutant;
    if (killer.kind === 'simulation' && killer.first?.some((seed) => seed >= killer.worlds) === true)
      problems.push(`mutant '${mutant.id}' names a seed that its ${killer.worlds} worlds do not have`);
    if (editsOf(mutant).some(({ find, replace }) => find === replace))
      problems.push(`mutant '${mutant.id}' changes nothing`);
    try {
      mutatedFiles(mutant, read);
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  return problems;
}
