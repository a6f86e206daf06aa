/**
 * How comments are written: rules that no formatter checks. Each is a function of one comment, and is
 * itself tested on planted violations.
 *
 * Only comments on lines of their own are read: what stands behind code is a few words.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const FOLDERS = [
  'bin',
  'lib',
  'cli',
  'lambdas',
  'local',
  'serve',
  'console',
  'proof',
  'test',
  'examples',
  'bench',
  'scripts',
  'create',
];

interface Comment {
  /** The number of its first line, from 1. */
  readonly line: number;
  /** As they stand in the file. */
  readonly lines: readonly string[];
  /** Without slashes, stars and indentation. */
  readonly text: string;
  /** The code that follows it. */
  readonly code: string;
}

/** What is wrong with a comment. */
type Rule = (comment: Comment) => string[];

const bare = (line: string): string =>
  line.replace(/^\s*(?:\/\/|\/\*\*?(?!\/)|\*(?!\/))? ?/, '').replace(/\s*\*\/.*$/, '');

/** The index of the last line of a comment that begins at this one; nothing where none does. */
function endOf(lines: readonly string[], at: number): number | undefined {
  const line = lines[at] as string;
  if (/^\s*\/\*/.test(line)) {
    const length = lines.slice(at).findIndex((one) => one.includes('*/'));
    return length === -1 ? undefined : at + length;
  }
  if (!/^\s*\/\//.test(line)) return undefined;
  const after = lines.slice(at).findIndex((one) => !/^\s*\/\//.test(one));
  return after === -1 ? lines.length - 1 : at + after - 1;
}

/** @param file as the formatter has written it */
function commentsOf(file: string): Comment[] {
  const lines = file.split('\n');
  const found: Comment[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const end = endOf(lines, at);
    if (end === undefined) continue;
    const own = lines.slice(at, end + 1);
    const code = lines.slice(end + 1, end + 60).join('\n');
    found.push({ line: at + 1, lines: own, text: own.map(bare).join('\n').trim(), code });
    at = end;
  }
  return found;
}

const noOf: Rule = ({ text }) =>
  /^(?:… )?of /i.test(text) ? ["begins with 'Of'; begin with what the thing is or does"] : [];

/** The text between the first parenthesis and the one that closes it. */
function parametersOf(code: string): string {
  const start = code.indexOf('(');
  let depth = 0;
  for (let at = start; at < code.length; at += 1) {
    if (code[at] === '(') depth += 1;
    if (code[at] === ')' && --depth === 0) return code.slice(start, at + 1);
  }
  return code;
}

const params: Rule = ({ text, code }) =>
  [...text.matchAll(/^@param (\w+)/gm)].flatMap(([, name = '']) =>
    new RegExp(`\\b${name}\\b`).test(parametersOf(code))
      ? []
      : [`@param ${name}: there is no such parameter`],
  );

const MAX_COLUMNS = 110;
/** What a tool reads, and a single word, as an address is, cannot be broken up. */
const UNBREAKABLE = /^\s*(?:\/\/|\/?\*+)?\s*(?:\S*|(?:biome|oxlint|eslint|@ts)-.*)$/;
const narrow: Rule = ({ lines }) =>
  lines
    .filter((line) => line.length > MAX_COLUMNS && !UNBREAKABLE.test(line))
    .map((line) => `has a line of ${line.length} columns; ${MAX_COLUMNS} are allowed`);

/** Old word → the one that took its place; the author's option is `settle`. */
const REPLACED: readonly (readonly [RegExp, string])[] = [
  [/\bfamil(?:y|ies)\b/i, "a step's executions, or a parent and its children"],
  [/\bheard\b/i, 'known, read, arrived'],
  [/\boutrun\b/i, 'late'],
  [/\bpassOver\b/i, 'skip'],
  [/\bdeeds?\b/i, 'act, or effect'],
  [/\bstanding\b/i, 'in effect'],
  [/\bgates?\b/i, 'admission'],
  [/\bsettled\b/i, 'known, resolved, or answered'],
  [/\btold\b/i, 'announced, reported, or given'],
  [/\b(?:beats?|beaten)\b/i, 'heartbeat'],
  [/\brungs?\b/i, 'stage'],
  [/\bladders?\b/i, 'recovery'],
  [
    /\b(?:a|the|each|every|next|first|last|one|its|two|few|'s) looks?\b|\blook(?:s|ed|ing)? at\b/i,
    'evaluation, or read',
  ],
  [/\bwatch(?:es|ed)?\b/i, 'wake time, or observe'],
  [/\bheld\b/i, 'leased, suspended, deferred, or paused'],
];
const words: Rule = ({ text }) => {
  const prose = text.replace(/`[^`]*`|@param \w+/g, '').replaceAll('\n', ' ');
  return REPLACED.flatMap(([word, instead]) => {
    const found = word.exec(prose)?.[0];
    return found === undefined ? [] : [`has '${found}'; write ${instead}`];
  });
};

const RULES: Readonly<Record<string, Rule>> = {
  "begins with 'Of'": noOf,
  [`has a line of more than ${MAX_COLUMNS} columns`]: narrow,
  'has a word that the glossary has replaced': words,
  'names a parameter that does not exist': params,
};

const problems = (rule: Rule, file: string): string[] =>
  commentsOf(file).flatMap((comment) => rule(comment).map((problem) => `line ${comment.line} ${problem}`));

const paths = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
    .filter((path) => /\.(?:ts|tsx|mts|js|mjs)$/.test(path) && !path.includes('node_modules')),
);
const files = paths.map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

describe('no comment', () => {
  it('is left out', () => {
    expect(files.flatMap(({ text }) => commentsOf(text)).length).toBeGreaterThan(5_000);
  });
  it.each(Object.entries(RULES))('%s', (_, rule) => {
    expect(
      files.flatMap(({ path, text }) => problems(rule, text).map((problem) => `${path} ${problem}`)),
    ).toEqual([]);
  });
});

describe('a rule finds what is planted', () => {
  it.each<[string, Rule, string]>([
    ['on one line', noOf, '/** Of a cancel. */\nconst a = 1;'],
    ['on several lines', noOf, '  /**\n   * Of a cancel:\n   * false.\n   */'],
    ['in code', noOf, 'f();\n  // Of a list the first.\n  // Another line.\n  g();'],
    ['a long line', narrow, `// ${'long '.repeat(22)}`],
    ['a long line among others', narrow, `/**\n * Short.\n * ${'long '.repeat(22)}\n */`],
    ['a replaced word', words, '/** What listeners are told of it. */'],
    ['two words together', words, '// Before its wake time the next look\n// finds nothing.'],
    ['two words on two lines', words, '/**\n * A supervisor looks\n * at all of them.\n */'],
    [
      'a parameter that was renamed',
      params,
      '/** @param old as it was */\nexport function f(now: number): void {}',
    ],
    [
      'another one',
      params,
      '/**\n * Text.\n * @param a one\n * @param b two\n */\nconst f = (a: number) => b;',
    ],
  ])('%s', (_, rule, file) => {
    expect(problems(rule, file)).toHaveLength(1);
  });

  it.each<[string, Rule, string]>([
    ['a sentence that has it further on', noOf, '/** One\n * Of many. */'],
    ['an address', narrow, `/** See\n * https://example.com/${'a'.repeat(110)}\n */`],
    ['a long line of code', narrow, `const a = '${'a'.repeat(110)}';`],
    ['a name', words, '/** As `settled` says, and as `--watch` does; what looks like one. */'],
    ['a text', noOf, "const a = '/** Of a cancel. */';"],
    ['a destructured parameter', params, '/** @param a one */\nexport const f = ({ a }: A): void => {};'],
    ['a method', params, '/** @param a one */\n  readonly f: (a: number) => void;'],
  ])('and is content with %s', (_, rule, file) => {
    expect(problems(rule, file)).toEqual([]);
  });
});
