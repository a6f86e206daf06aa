/** What `npm run mutation` says, and that the accepted survivors are still there. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NOTES } from '../../proof/mutation/notes.ts';
import { documentOf, merged, type Mutant, type Report, summaryOf } from '../../proof/mutation/report.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const mutant = (status: Mutant['status'], mutatorName = 'BooleanLiteral'): Mutant => ({
  status,
  mutatorName,
  ...(status === 'Timeout' ? { statusReason: 'no end of a test' } : {}),
  location: { start: { line: 2, column: 1 } },
});
const run = { at: '2026-01-02', commit: 'abc', seconds: 10, runs: '100', tests: 9, leftOut: 1 };
const reportOf = (file: string, ...mutants: Mutant[]): Report => ({
  files: { [file]: { mutants, source: 'one\ntwo two\nthree' } },
  run,
});

describe('the mutation score', () => {
  const both = merged([
    reportOf('src/a.ts', mutant('Killed'), mutant('Timeout'), mutant('Survived', 'StringLiteral')),
    reportOf('src/b.ts', mutant('NoCoverage')),
  ]);
  it('counts what was noticed of all, by file and together', () => {
    const { files, ...all } = summaryOf(both);
    const one = { killed: 1, survived: 1, timeout: 1, noCoverage: 0, mutants: 3, score: 66.7 };
    expect(files['src/a.ts']).toEqual(one);
    expect(files['src/b.ts']).toMatchObject({ mutants: 1, noCoverage: 1, score: 0 });
    expect(all).toEqual({ ...one, mutants: 4, noCoverage: 1, score: 50, seconds: 20 });
  });

  it('of a file that two runs have judged counts what either has noticed', () => {
    const other = { ...mutant('Survived'), replacement: 'x' };
    const first = reportOf('a.ts', mutant('Survived'), other);
    const { killed, survived } = summaryOf(merged([first, reportOf('a.ts', mutant('Killed'), other)]));
    expect({ killed, survived }).toEqual({ killed: 1, survived: 1 });
  });

  it('does not count what nobody saw to have no end: on a busy machine that is the clock’s', () => {
    const { statusReason: _, ...unexplained } = mutant('Timeout');
    const alone = merged([reportOf('a.ts', unexplained), reportOf('a.ts', mutant('Survived'))]);
    expect(summaryOf(alone)).toMatchObject({ timeout: 0, survived: 1, score: 0 });
  });

  it('is written down with the lines of what was looked at', () => {
    const note = { file: 'src/a.ts', at: 'two two', answer: 'open', said: 'why' } as const;
    const text = documentOf(both, [note], 3);
    expect(text).toContain('| src/a.ts | 3 | 1 | 1 | 1 | 0 | 66.7 |');
    expect(text).toContain('| src | 4 | 1 | 1 | 1 | 1 | 50.0 |');
    expect(text).toContain('Somebody has looked at 1 of them: 0 got a test');
    expect(text).toContain('2 of 3 files (the others hold types alone, or are not measured)');
    expect(text).toContain('- `src/a.ts:2` `two two`: why');
  });
});

it('every survivor that was looked at is still in its file, once', () => {
  const places = NOTES.map(({ file, at }) => [
    file,
    at,
    readFileSync(join(ROOT, file), 'utf8').split(at).length - 1,
  ]);
  expect(places.filter(([, , times]) => times !== 1)).toEqual([]);
});
