/** The planted bugs still fit the code. `npm run mutants` plants them; here only their places are checked. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MUTANTS } from '../../../proof/mutants/catalogue.ts';
import { catalogueProblems, mutated } from '../../../proof/mutants/mutant.ts';
import { documentOf, type Result, summaryOf } from '../../../proof/mutants/report.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

describe('the planted bugs', () => {
  it('are sixty and more, each with a place of its own in the code', () => {
    expect(MUTANTS.length).toBeGreaterThanOrEqual(60);
    expect(catalogueProblems(MUTANTS, read)).toEqual([]);
  });

  it('name tests that exist', () => {
    const paths = MUTANTS.flatMap(({ killer }) => (killer.kind === 'jest' ? [killer.path] : []));
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    const nameless = MUTANTS.filter(({ killer }) => killer.kind === 'jest' && killer.test === '');
    expect(nameless.map(({ id }) => id)).toEqual([]);
  });
});

describe('a planted bug', () => {
  const edit = { file: 'x.ts', find: 'a + b', replace: 'a - b' };

  it('is put in the place of its text', () => {
    expect(mutated('m', 'f(a + b)', edit)).toBe('f(a - b)');
  });

  it.each([
    ['no longer occurs', 'f(a * b)'],
    ['occurs more than once', 'a + b, a + b'],
  ])('whose text %s is named', (why, text) => {
    expect(() => mutated('m', text, edit)).toThrow(`mutant 'm': its text ${why} in x.ts`);
  });

  it('that is there twice or changes nothing is named', () => {
    const one = { ...edit, id: 'm', from: 'own', bug: 'b', killer: { kind: 'model', run: 'r' } } as const;
    const idle = { ...one, id: 'n', replace: edit.find };
    expect(catalogueProblems([one, one, idle], () => 'a + b')).toEqual([
      "mutant 'm' is there twice",
      "mutant 'n' changes nothing",
    ]);
  });
});

describe('a run', () => {
  const mutant = {
    id: 'm',
    from: 3,
    bug: 'A | b.',
    file: 'x.ts',
    find: 'a',
    replace: 'b',
    killer: { kind: 'simulation', mode: 'all', seed: 0, worlds: 8 },
  } as const;
  const results: Result[] = [
    { mutant, fate: 'killed', detail: 'seed 1', seconds: 1 },
    {
      mutant: { ...mutant, id: 'n', equivalent: 'Nobody asks.' },
      fate: 'equivalent',
      detail: '',
      seconds: 1,
    },
    { mutant: { ...mutant, id: 'o' }, fate: 'survived', detail: '', seconds: 1 },
    { mutant: { ...mutant, id: 'p', equivalent: 'No.' }, fate: 'not-equivalent', detail: '', seconds: 1 },
  ];

  it('counts what was noticed, and names what was not', () => {
    expect(summaryOf(results, 3.6)).toEqual({
      planted: 4,
      killed: 1,
      equivalent: 1,
      survivors: ['o', 'p'],
      seconds: 4,
      byKiller: { simulation: 1 },
    });
  });

  it('is written down by concept, equivalents named', () => {
    const concepts = [{ concept: 'A | b', ids: ['m', 'n', 'o', 'p'] }];
    const text = documentOf(results, summaryOf(results, 3.6), concepts);
    expect(text).toContain(String.raw`| A \| b | 4 | 1 | 0 | 1 | 0 |`);
    expect(text).toContain('- `n` (x.ts): A | b. Nobody asks.');
    expect(text).toContain('Survivors: o, p.');
  });
});
