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

/** Where a reader of a recipe finds its rules. */
const RULES: Readonly<Record<string, string>> = {
  poll: 'After the first time it is asked every 30 s, and from five minutes on every tenth of its age, at most every hour, unless `running({ askAfter })` says when: [accepted work](WRITING-AGENTS.md#accepted-work).',
  rate: 'What else bounds an agent: [calls per second](CONCURRENCY.md#calls-per-second).',
};

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
  const rules = name in RULES ? ` ${RULES[name]}` : '';
  return `\n## ${title}\n\n${sentence}${rules}\n\n\`\`\`ts\n${code}\`\`\`\n`;
}

export const printCookbook = (): string => `${HEAD}${RECIPES.map(recipe).join('')}`;
