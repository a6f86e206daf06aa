/** Each planted bug still has its place in the code. `npm run mutants` plants and tests them. */

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MUTANTS } from '../../../proof/mutants/catalogue.ts';
import {
  catalogueProblems,
  jest,
  JUDGES,
  judgeOf,
  MAX_PLANTED,
  mutated,
} from '../../../proof/mutants/mutant.ts';
import { documentOf, type Result, summaryOf } from '../../../proof/mutants/report.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

describe('the planted bugs', () => {
  it('are few, each with a place of its own in the code', () => {
    expect(catalogueProblems(MUTANTS, read)).toEqual([]);
    expect(MUTANTS.filter(({ rule }) => rule === undefined).length).toBeLessThanOrEqual(MAX_PLANTED);
  });

  it('are several for every judge', () => {
    const judges = MUTANTS.map(({ killer }) => judgeOf(killer));
    expect(JUDGES.filter((judge) => judges.filter((one) => one === judge).length < 2)).toEqual([]);
  });

  it('name tests that exist, by words of their titles', () => {
    const missing = MUTANTS.flatMap(({ id, killer }) => {
      if (killer.kind !== 'jest') return [];
      if (!existsSync(join(ROOT, killer.path))) return [`${id}: there is no ${killer.path}`];
      // A contract's tests are in a file that this one imports.
      const own = read(killer.path);
      const imported = [...own.matchAll(/from '(\.[^']+\.contract\.ts)'/g)].map(([, path = '']) =>
        read(join(dirname(killer.path), path)),
      );
      const isThere = killer.test !== '' && [own, ...imported].some((text) => text.includes(killer.test));
      return isThere ? [] : [`${id}: '${killer.test}' is no title of ${killer.path}`];
    });
    expect(missing).toEqual([]);
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

  const one = { ...edit, id: 'm', bug: 'b', killer: { kind: 'model', run: 'r' } } as const;

  it('that is there twice or changes nothing is named', () => {
    const idle = { ...one, id: 'n', replace: edit.find };
    expect(catalogueProblems([one, one, idle], () => 'a + b')).toEqual([
      "mutant 'm' is there twice",
      "mutant 'n' changes nothing",
    ]);
  });

  it('is searched for first in worlds that it has', () => {
    const killer = { kind: 'simulation', mode: 'all', worlds: 8, first: [7] } as const;
    const beyond = { ...one, id: 'n', killer: { ...killer, first: [7, 8] } };
    expect(catalogueProblems([{ ...one, killer }, beyond], () => 'a + b')).toEqual([
      "mutant 'n' names a seed that its 8 worlds do not have",
    ]);
  });

  it('beyond the limit is one too many', () => {
    const many = Array.from({ length: MAX_PLANTED + 1 }, (_, at) => ({ ...one, id: `m${at}` }));
    expect(catalogueProblems(many, () => 'a + b')).toEqual([
      `there are ${MAX_PLANTED + 1} mutants, and ${MAX_PLANTED} are allowed: let one go for each new one`,
    ]);
    expect(catalogueProblems(many.slice(1), () => 'a + b')).toEqual([]);
  });
});

describe('a run', () => {
  const mutant = {
    id: 'm',
    bug: 'A | b.',
    file: 'x.ts',
    find: 'a',
    replace: 'b',
    killer: { kind: 'simulation', mode: 'all', worlds: 8 },
  } as const;
  const results: Result[] = [
    { mutant, fate: 'killed', detail: 'seed 1', seconds: 1 },
    { mutant: { ...mutant, id: 'n', killer: jest('e2e/x', 'y') }, fate: 'killed', detail: '', seconds: 1 },
    { mutant: { ...mutant, id: 'o' }, fate: 'survived', detail: '', seconds: 1 },
    { mutant: { ...mutant, id: 'p' }, fate: 'broken', detail: '', seconds: 1 },
  ];

  it('counts what was noticed by whom, and names what was not', () => {
    expect(summaryOf(results, 3.6)).toEqual({
      planted: 4,
      killed: 2,
      survivors: ['o', 'p'],
      seconds: 4,
      byJudge: { 'unit tests': 0, 'end to end': 1, simulation: 1, model: 0 },
    });
  });

  it('is written down by concept, each bug with who noticed it', () => {
    const concepts = [
      { concept: 'ends', ids: ['m', 'n', 'o', 'p'] },
      { concept: 'others', ids: ['q'] },
    ];
    const text = documentOf(results, summaryOf(results, 3.6), concepts);
    expect(text).toContain(
      '4 planted, 2 noticed (unit tests 0, end to end 1, simulation 1, model 0), 2 survived; 4 s.',
    );
    expect(text).toContain('Survivors: o, p.');
    expect(text).toContain('## Ends\n');
    expect(text).toContain('| `m` | A \\| b. | simulation |');
    expect(text).toContain('| `o` | A \\| b. | **survived** |');
    expect(text).not.toContain('Others');
  });
});
