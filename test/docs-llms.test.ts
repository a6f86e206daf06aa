/** llms.txt lists every page that is published, once, with a sentence; and only those. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const text = readFileSync(join(ROOT, 'llms.txt'), 'utf8');
const entries = [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\)(.*)$/gm)].map(([, path = '', rest = '']) => ({
  path,
  rest,
}));
const pages = readdirSync(join(ROOT, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);

it('lists README and every page of docs/: add a new one with a sentence', () => {
  expect(entries.map(({ path }) => path).sort()).toEqual(['README.md', ...pages].sort());
});

it('says of each in a sentence what it answers', () => {
  expect(entries.filter(({ rest }) => !/^: .{15,140}$/.test(rest)).map(({ path }) => path)).toEqual([]);
});

it('is published with the pages', () => {
  const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly files: string[];
  };
  expect(files).toEqual(expect.arrayContaining(['docs/*.md', 'llms.txt']));
});
