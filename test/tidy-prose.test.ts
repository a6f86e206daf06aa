/**
 * Rules for comments and messages that no formatter checks. Each is a function of a comment or message, and
 * is tested on planted violations.
 *
 * Only comments on lines of their own are read: comments behind code are a few words. A message is a text of
 * three words or more in a room that users meet.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const FOLDERS = [
  'bin',
  'kit',
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
  /** Its lines, unchanged. */
  readonly lines: readonly string[];
  /** The text without slashes, stars and indentation. */
  readonly text: string;
  /** The code that follows it. */
  readonly code: string;
}

/** Returns the problems of a comment. */
type Rule = (comment: Comment) => string[];

const bare = (line: string): string =>
  line.replace(/^\s*(?:\/\/|\/\*\*?(?!\/)|\*(?!\/))? ?/, '').replace(/\s*\*\/.*$/, '');

/** The index of the last line of the comment that begins at this line; undefined if none does. */
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

/** Refuses a comment whose first word does not name the thing below it. */
const noRiddle: Rule = ({ text }) =>
  /^(?:whose|those|as|that|so many|what (?:is|was|has|of|it|no|cannot|can|must|a|an|may))\b(?! (?:is|are) )/i.test(
    text,
  )
    ? ['begins with a riddle; name the thing below, then say what it does']
    : [];

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

/** Refuses a doc comment above another one: editors show only the lower one. A file's header is exempt. */
const single: Rule = ({ line, lines, code }) =>
  line > 1 && lines[0]?.trim().startsWith('/**') === true && /^\s*\/\*\*/.test(code)
    ? ['stands above another comment; write one']
    : [];

/** Refuses words that are written twice in a row, as a failed replacement leaves them. */
const once: Rule = ({ text }) => {
  const twice = /\b((?:[\w']+ ){2,5})\1/.exec(text.replaceAll('\n', ' '))?.[1];
  return twice === undefined ? [] : [`has '${twice.trim()}' twice in a row`];
};

const MAX_COLUMNS = 110;
/** Lines that a tool reads, and single words such as an address, cannot be broken up. */
const UNBREAKABLE = /^\s*(?:\/\/|\/?\*+)?\s*(?:\S*|(?:biome|oxlint|eslint|@ts)-.*)$/;
const narrow: Rule = ({ lines }) =>
  lines
    .filter((line) => line.length > MAX_COLUMNS && !UNBREAKABLE.test(line))
    .map((line) => `has a line of ${line.length} columns; ${MAX_COLUMNS} are allowed`);

/** Replaced words, each with its replacement; the author's option is `lateEffectWithin`. */
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
  [/(?<!… )\bheld\b/i, 'leased, deferred, or paused'],
];
const words: Rule = ({ text }) => {
  const prose = text.replace(/`[^`]*`|@param \w+|--\w+/g, '').replaceAll('\n', ' ');
  return REPLACED.flatMap(([word, instead]) => {
    const found = word.exec(prose)?.[0];
    return found === undefined ? [] : [`has '${found}'; write ${instead}`];
  });
};

/** Unidiomatic phrases, each with its replacement. */
const CLUMSY: readonly (readonly [RegExp, string])[] = [
  [/(?<!there )\b(?:is|are|was|were) no (?!longer\b|more\b)[a-z]/i, "'is not a …'"],
  [/\b(?:is|are) wanted\b/, "what it must be, or 'give …'"],
  [/\b(?:is|are) (?:open|closed|paused|down) since\b/, "'has been … since'"],
  [/(?<!there )\bis none\b/, "'is not valid'"],
];
const fluent: Rule = ({ text }) =>
  CLUMSY.flatMap(([turn, instead]) => {
    const found = turn.exec(text)?.[0];
    return found === undefined ? [] : [`has '${found}'; write ${instead}`];
  });

/** The rooms whose texts users read. */
const SPOKEN = /^(?:lib|cli|console|serve|create|scripts\/contract)\//;

/** The messages in a file, as comments, so that the rules apply. */
const messagesOf = (file: string): Comment[] =>
  file.split('\n').flatMap((line, at) => {
    if (/^\s*(?:\/\/|\/?\*)/.test(line)) return [];
    return [...line.matchAll(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g)]
      .map(([, ...texts]) => (texts.find((one) => one !== undefined) ?? '').replace(/\$\{[^}]*\}/g, '…'))
      .filter((text) => /\S \S+ \S/.test(text))
      .map((text) => ({ line: at + 1, lines: [], text, code: '' }));
  });

const MESSAGE_RULES: Readonly<Record<string, Rule>> = {
  'has a word that the glossary has replaced': words,
  'has a clumsy turn of phrase': fluent,
};

const RULES: Readonly<Record<string, Rule>> = {
  "begins with 'Of'": noOf,
  'begins with a riddle': noRiddle,
  [`has a line of more than ${MAX_COLUMNS} columns`]: narrow,
  'stands above another comment': single,
  'repeats its words': once,
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

const inMessages = (rule: Rule, file: string): string[] =>
  messagesOf(file).flatMap((one) => rule(one).map((problem) => `line ${one.line} ${problem}`));

describe('no message', () => {
  const spoken = files.filter(({ path }) => SPOKEN.test(path));
  it('is left out', () => {
    expect(spoken.flatMap(({ text }) => messagesOf(text)).length).toBeGreaterThan(2_500);
  });
  it.each(Object.entries(MESSAGE_RULES))('%s', (_, rule) => {
    expect(
      spoken.flatMap(({ path, text }) => inMessages(rule, text).map((problem) => `${path} ${problem}`)),
    ).toEqual([]);
  });
  it.each<[string, Rule, string]>([
    ['a replaced word', words, 'const a = `the parent ${id} was told of it`;'],
    ['no noun', fluent, "throw bad('the url is no address');"],
    ['a wish', fluent, '  ? "the name of a step is wanted"'],
    ['a time with the wrong tense', fluent, "`the breaker of agent '${agent}' is open since ${at}`"],
  ])('is passed with %s', (_, rule, file) => {
    expect(inMessages(rule, file)).toHaveLength(1);
  });
  it.each([
    "refuse('unknown-agent', `there is no agent '${name}' here`)",
    "'this callback is no longer open'",
    '// the url is no address',
    "import { told } from './told.ts'",
  ])('is refused that is well: %s', (file) => {
    expect([...inMessages(fluent, file), ...inMessages(words, file)]).toEqual([]);
  });
});

describe('a rule finds what is planted', () => {
  it.each<[string, Rule, string]>([
    ['on one line', noOf, '/** Of a cancel. */\nconst a = 1;'],
    ['on several lines', noOf, '  /**\n   * Of a cancel:\n   * false.\n   */'],
    ['in code', noOf, 'f();\n  // Of a list the first.\n  // Another line.\n  g();'],
    ['whose', noRiddle, '/** Whose code was called. */'],
    ['what is', noRiddle, '/** What is asked for most. */'],
    ['a long line', narrow, `// ${'long '.repeat(22)}`],
    ['a long line among others', narrow, `/**\n * Short.\n * ${'long '.repeat(22)}\n */`],
    ['two comments', single, 'a();\n/** Waits. */\n/** Waits until it is quiet. */\nconst f = 1;'],
    ['words twice', once, '/** Reads rows of Reads rows of a table. */'],
    ['words twice on two lines', once, '/**\n * Reads rows of\n * Reads rows of a table.\n */'],
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
    ['a word of a sentence', noRiddle, '/** Asks what is there. That is enough. */'],
    ['a header', single, '/** Owns: nothing. */\n/** Waits. */\nconst f = 1;'],
    ['a comment for a tool', single, 'a();\n/** Waits. */\n// oxlint-disable-next-line no-x\nconst f = 1;'],
    ['a word twice', once, '/** It had had another. */'],
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
