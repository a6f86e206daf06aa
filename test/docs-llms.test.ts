/**
 * llms.txt lists every published page once, with a sentence. No published page links to an unpublished one.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const text = read('llms.txt');
const entries = [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\)(.*)$/gm)].map(([, path = '', rest = '']) => ({
  path,
  rest,
}));
const pages = readdirSync(join(ROOT, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);
const { files } = JSON.parse(read('package.json')) as { readonly files: string[] };
const leftOut = files.filter((path) => path.startsWith('!')).map((path) => path.slice(1));
const published = ['README.md', ...pages.filter((page) => !leftOut.includes(page))];

it('lists README and every page of docs/ that is published: add a new one with a sentence', () => {
  expect(entries.map(({ path }) => path).sort()).toEqual(published.sort());
});

it('says of each in a sentence what it answers', () => {
  expect(entries.filter(({ rest }) => !/^: .{15,140}$/.test(rest)).map(({ path }) => path)).toEqual([]);
});

it('is published with the pages, but for those that prove and measure: it names them, as the index does', () => {
  expect(files).toEqual(expect.arrayContaining(['docs/*.md', 'docs/openapi.json', 'llms.txt']));
  const index = read('docs/README.md');
  for (const page of leftOut) {
    expect(pages).toContain(page);
    expect(text).toContain(`\`${page}\``);
    expect(index).toContain(page.slice('docs/'.length, -'.md'.length));
  }
});

it('has no link from a published page to a file that is in neither the package nor what the index says is left out', () => {
  const inPackage = [...published, ...files, 'LICENSE', 'package.json'];
  const inRepository = [...leftOut, 'AGENTS.md', 'CONTRIBUTING.md'];
  const folders = (page: string): RegExp =>
    ['README.md', 'docs/README.md', 'docs/PATTERN.md'].includes(page)
      ? /^(?:docs\/decisions|docs\/images|examples)(?:\/|$)/
      : /^(?:containers|docs\/decisions|docs\/images)(?:\/|$)/;
  const lost = [...published, 'llms.txt'].flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
      .map(([, link = '']) => join(dirname(page), link))
      .filter((to) => !inPackage.includes(to) && !inRepository.includes(to) && !folders(page).test(to))
      .map((to) => `${page}: ${to}`),
  );
  expect(lost).toEqual([]);
});
