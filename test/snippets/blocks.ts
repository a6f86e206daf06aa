/** Extracts the code in documents, and writes it into a folder in which it can be compiled and loaded. */

import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '..', '..');
/** Path → content. */
export type Files = ReadonlyMap<string, string>;

export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

export const blocksOf = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, block = '']) => block,
  );

/** The only code block that contains a text. */
export function blockWith(text: string, part: string): string {
  const found = blocksOf(text, 'ts').filter((block) => block.includes(part));
  if (found.length !== 1) throw new Error(`${found.length} blocks have ${part}`);
  return found[0] ?? '';
}

/** The code blocks after a paragraph that begins with a file's path, by that path. */
export const namedBlocks = (text: string): [string, string][] =>
  [...text.matchAll(/^`(workflows\/[^`]+\.ts)`[^`]*(?:`[^`\n]+`[^`]*)*?\n```ts\n([\s\S]*?)^```$/gm)].map(
    ([, path = '', content = '']) => [path, content],
  );

/**
 * Writes the files into a new folder inside the project, where `steadfast` and its packages are found; git
 * ignores it.
 */
export function written(name: string, files: Files): string {
  mkdirSync(join(ROOT, '.steadfast'), { recursive: true });
  const root = mkdtempSync(join(ROOT, '.steadfast', `${name}-`));
  const config = { extends: '../../tsconfig.json', include: ['.'] };
  for (const [path, content] of [['tsconfig.json', JSON.stringify(config)] as const, ...files]) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}
