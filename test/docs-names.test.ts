/**
 * All files, scripts, headings and guarantee ids named in documents and code exist. Each rule is tested on a
 * planted mistake.
 */

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import type { AttemptContext } from '../lib/core/plan/agent.ts';
import { PRINTED } from '../scripts/docs.ts';

const ROOT = join(import.meta.dirname, '..');
/** This file invents ids and names. */
const SELF = 'test/docs-names.test.ts';
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const tracked = String(execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT }))
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(ROOT, path)));
const documents = tracked.filter((path) => path.endsWith('.md') || path.startsWith('proof/results/'));
const code = tracked.filter((path) => /\.(?:ts|mjs|cjs|js)$/.test(path));
const basenames = new Set(tracked.map((path) => basename(path)));
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => name);
const withoutBlocks = (text: string): string => text.replace(/^```[\s\S]*?^```$/gm, '');

/** A heading as a link spells it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
const anchorsOf = (text: string): string[] => matches(withoutBlocks(text), /^#+ (.*)$/gm).map(anchorOf);

function missingScripts(text: string): string[] {
  return matches(text, /\bnpm run (?:-s )?([a-z][a-z:-]*)/g).filter((name) => scripts[name] === undefined);
}

function missingLinks(document: string, text: string): string[] {
  return matches(withoutBlocks(text), /\]\(([^)\s]+)\)/g).filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? document : normalize(join(dirname(document), path));
    if (target !== document && !existsSync(join(ROOT, target))) return true;
    return anchor !== undefined && !anchorsOf(target === document ? text : read(target)).includes(anchor);
  });
}

/** Paths from the project's root, and files by their names alone. */
function missingFiles(text: string): string[] {
  const prose = withoutBlocks(text);
  const top = /`((?:bin|lib|lambdas|local|proof|test|scripts|docs|bench|examples|containers)\/[\w./-]+)`/g;
  const paths = matches(prose, top).filter((path) => !existsSync(join(ROOT, path)));
  const names = matches(prose, /`([a-z][a-z0-9-]*(?:\.test)?\.ts)`/g).filter((name) => !basenames.has(name));
  return [...paths, ...names];
}

describe('a document', () => {
  it.each(documents)('%s names only scripts, links and files that exist', (document) => {
    const text = read(document);
    expect(missingScripts(text)).toEqual([]);
    expect(missingLinks(document, text)).toEqual([]);
    expect(missingFiles(text)).toEqual([]);
  });

  it.each([
    ['a script', missingScripts('run `npm run nothing`')],
    ['a file', missingFiles('see `lib/core/nothing.ts`')],
    ['a file by its name', missingFiles('see `nothing.ts`')],
    ['a link', missingLinks('docs/X.md', '[it](nothing.md)')],
    ['a heading', missingLinks('docs/X.md', '[it](TESTING.md#nothing)')],
    ['a heading of its own', missingLinks('docs/X.md', '# Something\n[it](#nothing)')],
  ])('would be caught naming %s that is not there', (_, found) => {
    expect(found).toHaveLength(1);
  });
});

/** The most words of a decision: enough for its situation, choice and price. */
const MOST_WORDS = 150;
const longDecisions = (texts: Readonly<Record<string, string>>): string[] =>
  Object.entries(texts)
    .filter(([path]) => path.startsWith('docs/decisions/'))
    .filter(
      ([, text]) =>
        text
          .replace(/^# .*$/m, '')
          .trim()
          .split(/\s+/).length > MOST_WORDS,
    )
    .map(([path]) => path);

describe('a decision', () => {
  it(`has ${MOST_WORDS} words at most`, () => {
    const texts = Object.fromEntries(documents.map((path) => [path, read(path)]));
    expect(longDecisions(texts)).toEqual([]);
  });
  it('would be caught with one more', () => {
    const text = `# A title\n\n${'word '.repeat(MOST_WORDS)}`;
    expect(longDecisions({ 'docs/decisions/1.md': text, 'docs/decisions/2.md': `${text}more` })).toEqual([
      'docs/decisions/2.md',
    ]);
  });
});

const wordsOf = (path: string): number => read(path).trim().split(/\s+/).length;
const pages = documents.filter((path) => /^docs\/[\w-]+\.md$/.test(path));

/**
 * The most words of a page: readers find nothing in longer ones. Generated pages are exempt, because nobody
 * reads them through.
 */
const MOST_WORDS_OF_A_PAGE = 3_000;
const LONGER = new Set([...Object.keys(PRINTED), 'docs/ARCHITECTURE.md']);

it(`no page but the glossary's has more than ${MOST_WORDS_OF_A_PAGE} words`, () => {
  expect(pages.filter((path) => !LONGER.has(path) && wordsOf(path) > MOST_WORDS_OF_A_PAGE)).toEqual([]);
});

/** The pages that an author of workflows reads from the first line to the last. */
const TO_WRITE = [
  'WORKFLOWS',
  'WRITING-AGENTS',
  'HTTP-AGENTS',
  'WAITING',
  'LISTS',
  'WHEN-IT-FAILS',
  'PARTS-THAT-FAIL',
  'AFTER-A-FAILURE',
  'CONCURRENCY',
];
const MOST_WORDS_TO_WRITE = 1_200;

it.each(TO_WRITE)(`%s has ${MOST_WORDS_TO_WRITE} words at most`, (name) => {
  expect(wordsOf(`docs/${name}.md`)).toBeLessThanOrEqual(MOST_WORDS_TO_WRITE);
});

/** The most words of all pages. Words are separated by blanks, so the bar of a table counts as one. */
const MOST_WORDS_OF_ALL = 47_500;

/** The pages that are written by hand; `npm run bench:report` generates the benchmarks. */
const written = pages.filter((path) => !(path in PRINTED) && path !== 'docs/BENCHMARKS.md');

it(`all pages that people wrote have ${MOST_WORDS_OF_ALL} words at most`, () => {
  expect(written.length).toBeGreaterThan(30);
  expect(written.map(wordsOf).reduce((sum, words) => sum + words, 0)).toBeLessThanOrEqual(MOST_WORDS_OF_ALL);
});

const commentsOf = (text: string): string =>
  (text.match(/\/\*[\s\S]*?\*\/|(?<=\s)\/\/[^\n]*/g) ?? []).join('\n').replace(/\n\s*\*\s/g, ' ');

/** Files that comments cite, by the whole path or its end. */
function missingCitations(text: string): string[] {
  return matches(commentsOf(text), /(?<![\w./*-])((?:[\w-]+\/)*[\w-][\w.-]*\.(?:ts|md))(?!\w)/g).filter(
    (name) => !tracked.some((path) => path === name || path.endsWith(`/${name}`)),
  );
}

describe('a comment', () => {
  it('cites only files that exist', () => {
    const missing = code.flatMap((path) => missingCitations(read(path)).map((name) => `${path}: ${name}`));
    expect(missing).toEqual([]);
  });
  it('nor does CI run others', () => {
    const run = matches(
      `${read('.ci/nightly')}${read('.ci/run')}`,
      /\s((?:test|proof|scripts|bench)\/[\w./-]+)/g,
    );
    expect(run.length).toBeGreaterThan(2);
    expect(run.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
  it('would be caught citing one that does not', () => {
    expect(missingCitations('/** See `core/decide.ts`\n * and `core/\n */\n// nothing.ts')).toEqual([
      'nothing.ts',
    ]);
  });
});

/** Removed commands, options, files, codes and routes, which no text may name. */
const GONE = new RegExp(
  [
    String.raw`\b(?:un)?quiesc\w*`,
    String.raw`\bsteadfast (?:cost|upgrade|export|import|outages|completion)\b`,
    String.raw`\bverify\b[^\n|]* --(?:game-day|slow|load|budget|undo|yes-in)\b`,
    String.raw`\bgame[- ]day\b`,
    String.raw`\bnpm run mutation\b`,
    String.raw`\bproof/mutation\b`,
    String.raw`\bstryker\b`,
    String.raw`\bnewer-item\b`,
    String.raw`\bagents/\S+/outages\b`,
    String.raw`\boutage-book\b`,
    String.raw`\btested-references\b`,
    String.raw`\blist-size\b`,
    String.raw`\bagent-files\b`,
    String.raw`\bannounced-?lists?\b`,
    String.raw`\bannounced_list\b`,
    String.raw`\blists-asked\b`,
    String.raw`\bdispatch[- ]?budget\b`,
    String.raw`\bwhy: 'budget'`,
    String.raw`\bdispatched: \d`,
    String.raw`\bold-api\b`,
    String.raw`\b(?:earlier|older) (?:version|release) (?:wrote|opened|deployed)\b`,
  ].join('|'),
  'i',
);

describe('what has gone', () => {
  it('is named nowhere', () => {
    const texts = tracked.filter((path) => /\.(?:md|tsx?|mjs|cjs|json|ya?ml)$|^\.ci\//.test(path));
    const named = texts.filter(
      (path) => path !== SELF && !path.startsWith('.changeset/') && GONE.test(read(path)),
    );
    expect(named).toEqual([]);
  });
  it.each([
    'steadfast quiesce',
    'Unquiesces it',
    '`steadfast export`',
    '503 `newer-item`',
    '`npx steadfast verify --stack x --game-day`',
    'ANNOUNCED_LIST',
    'a mutant of Stryker',
    '`npm run mutation`',
  ])('would be caught: %s', (text) => expect(GONE.test(text)).toBe(true));
});

/** Ids are cited in comments, and in titles of tests in brackets or after a colon. */
function idsIn(text: string): string[] {
  const brackets = text.match(/\((?:[SLCPF]\d{1,2}(?:, |–)?)+\)/g) ?? [];
  const judged = text.match(/[`'][SLCPF]\d{1,2} /g) ?? [];
  const cited = [commentsOf(text), ...brackets, ...judged].join('\n');
  return [...new Set(cited.match(/\b[SLCPF]\d{1,2}\b/g))];
}
const defined = new Set(matches(read('docs/ARCHITECTURE.md'), /^\| ([SLCPF]\d{1,2}) \|/gm));

describe('an id that is cited', () => {
  it('is defined in docs/ARCHITECTURE.md, by code', () => {
    const unknown = code.flatMap((path) =>
      idsIn(read(path))
        .filter((id) => !defined.has(id) && path !== SELF)
        .map((id) => `${path} cites ${id}`),
    );
    expect(unknown).toEqual([]);
  });

  it('is defined there, by documents', () => {
    const unknown = documents.flatMap((path) =>
      matches(withoutBlocks(read(path)), /\b([SLCPF]\d{1,2})\b/g)
        .filter((id) => !defined.has(id))
        .map((id) => `${path} cites ${id}`),
    );
    expect(unknown).toEqual([]);
  });

  it('is found where code cites it', () => {
    const text =
      "/** P0 so. */\n// by F99\nit('does (S98, L97)', () => problems.push(`C96 was`));\nconst a = 'S59';";
    expect(idsIn(text)).toEqual(['P0', 'F99', 'S98', 'L97', 'C96']);
  });
});

it('what an attempt is given is in the author’s reference, each member once', () => {
  const given: Record<keyof AttemptContext, true> = {
    executionId: true,
    step: true,
    attempt: true,
    idempotencyKey: true,
    timeLeftMs: true,
    signal: true,
    progress: true,
    log: true,
    accepted: true,
  };
  const table = read('docs/WRITING-AGENTS.md').split('| `ctx` | what it is |')[1]?.split('\n\n')[0] ?? '';
  const names = matches(table, /^\| ([^|]*) \|/gm).flatMap((cell) => matches(cell, /`(\w+)/g));
  expect(names.sort()).toEqual(Object.keys(given).sort());
});
