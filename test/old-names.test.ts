/**
 * No old name of an option, a method or a code is left in code that users write or read. Comments of programs
 * and prose of documents are not checked.
 */

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const tracked = String(execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT })).split(
  '\n',
);

/**
 * Unchecked pages: the page that maps old words, generated documents, and decisions, because they describe
 * the state at their time.
 */
const EXCEPTED = /^docs\/(?:WHAT-WAS-IT-CALLED\.md|decisions\/|benchmarks\/|openapi\.json)/;
const DOCUMENTS = /^(?:README\.md|llms\.txt|docs\/[A-Z-]+\.md|examples\/.*\.md|create\/.*\.md)$/;
const PROGRAMS =
  /^(?:lib\/(?:index|client|cdk)\.ts|lib\/api\/(?:call-options|typed-client)\.ts|kit\/.*\.ts|examples\/.*\.ts|create\/.*\.(?:ts|mjs)|scripts\/adopt\/.*\.ts)$/;
const OPTIONS = /^lib\/(?:author\/builder\/.*|core\/plan\/agent)\.ts$/;
const TERMINAL = /^(?:cli|console)\/.*\.tsx?$/;

/** Patterns of old names, each with a sample that it finds. */
const EVERYWHERE: readonly (readonly [RegExp, string])[] = [
  [/\bhuman\(/, 'recovery: [human()]'],
  [/\bpresent\(/, 'x: present(later.output)'],
  [/\beffectKey\b/, 'ctx.effectKey'],
  [/\bmaxNoProgress\b/, "maxNoProgress: '5m'"],
  [/\bwaitAtMost\b/, "waitAtMost: '1h'"],
  [/\b(?:pickup|settle|accepts)\??: ['\d]/, "settle: '5s'"],
  [/\b(?:first|max): '\d/, "retry(3, { first: '1s' })"],
  [/\bundo: retry\(/, 'undo: retry(3)'],
  [/\bredriveOf\b|--redrive-of\b/, '--redrive-of x'],
  [/\buntil(?:End|Incident|Asked)\b/, 'await run.untilEnd()'],
  [/\bloseAnswers\b/, "cloud.loseAnswers('x')"],
  [/\b(?:trial|test)\.(?:die|slow)\(/, 'trial.die(pay)'],
  [/\brun\.answer\(/, "run.answer({ choice: 'retry' })"],
  [/\bclient\.(?:\w+(?:Callback|Bulk)|(?:pause|resume)(?:Agent|Workflow)|incidents)\(/, 'client.makeBulk()'],
  [/['`](?:no-place|at-most|accepts-nothing)['`]/, '`no-place`'],
  [/\b(?:Human|Input)Stage\b/, 'HumanStage'],
];
/** Old names that plans, records and messages between programs still have. */
const ELSEWHERE_TOO: readonly (readonly [RegExp, string])[] = [
  [/\btolerate\??: /, 'tolerate: true'],
  [/\bsearch: \[/, "search: ['orderId']"],
  [/\blane: \{/, 'lane: { by, atMost: 1 }'],
  [/\batMost: /, 'atMost: 10'],
  [/\bwaitMs\b/, 'waitMs: 20_000'],
  [/new TransientError\([^)]*retryAfterMs/, "new TransientError('busy', { retryAfterMs: 5 })"],
  [/\bchoice: 'fail'|--choice fail\b/, "resolve({ choice: 'fail' })"],
];

const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1');
/** Code blocks, and texts between backticks. */
const codeOf = (text: string): string =>
  [...text.matchAll(/^```[\s\S]*?^```$|`[^`\n]+`/gm)].map(([code]) => code).join('\n');

const found = (path: string, code: string, names: readonly (readonly [RegExp, string])[]): string[] =>
  names.flatMap(([name]) => {
    const [hit] = name.exec(code) ?? [];
    return hit === undefined ? [] : [`${path}: ${hit}`];
  });

it.each([...EVERYWHERE, ...ELSEWHERE_TOO])('%p is found where it stands', (name, sample) => {
  expect(sample).toMatch(name);
});

it('no document, example or entry of the package has an old name', () => {
  const hits = tracked
    .filter((path) => !EXCEPTED.test(path))
    .flatMap((path) => {
      const read = (): string => readFileSync(join(ROOT, path), 'utf8');
      if (DOCUMENTS.test(path)) return found(path, codeOf(read()), [...EVERYWHERE, ...ELSEWHERE_TOO]);
      if (PROGRAMS.test(path)) return found(path, withoutComments(read()), [...EVERYWHERE, ...ELSEWHERE_TOO]);
      const isLimited = OPTIONS.test(path) || TERMINAL.test(path);
      return isLimited ? found(path, withoutComments(read()), EVERYWHERE) : [];
    });
  expect(hits).toEqual([]);
});
