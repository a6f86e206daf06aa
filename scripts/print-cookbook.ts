/** Prints docs/COOKBOOK.md: the files of `examples/cookbook`, each with the text of its first line. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', 'examples', 'cookbook');
/** In reading order: each name is a file. */
const RECIPES = [
  'poll',
  'rest',
  'webhook',
  'saga',
  'approval',
  'one-at-a-time',
  'fan-out',
  'pages',
  'status-machine',
  'person',
  'rate',
  'nightly',
  'file',
  'apology',
] as const;

const HEAD = `# Cookbook

Fourteen small workflows, each whole. They lie in \`examples/cookbook\`, and \`test/cookbook.test.ts\` runs them.
\`npm run docs\` prints this page.
`;

function recipe(name: string): string {
  const text = readFileSync(join(FOLDER, `${name}.ts`), 'utf8');
  const [, title = '', what = '', code = ''] = /^\/\*\* ([^:]+): (.*) \*\/\n\n([^]*)$/.exec(text) ?? [];
  if (code === '')
    throw new Error(`examples/cookbook/${name}.ts does not begin with "/** Title: what it does. */"`);
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1)}`;
  return `\n## ${title}\n\n${sentence}\n\n\`\`\`ts\n${code}\`\`\`\n`;
}

export const printCookbook = (): string => `${HEAD}${RECIPES.map(recipe).join('')}`;
