/** `serve` imports neither the CDK nor esbuild, directly or indirectly. */

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** The files that a text imports, statically or dynamically, without imports of types. */
const importsOf = (text: string): string[] =>
  [
    ...text.matchAll(
      /(?:^|\n)\s*(?:import|export)(?!\s+type\b)[^'"`;]*?\bfrom\s*'([^']+)'|\bimport\('([^']+)'\)/g,
    ),
  ].map((match) => match[1] ?? match[2] ?? '');

function reached(start: readonly string[]): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const queue = [...start];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (files.has(file) || !existsSync(join(ROOT, file))) continue;
    files.add(file);
    for (const name of importsOf(readFileSync(join(ROOT, file), 'utf8')))
      if (name.startsWith('.')) queue.push(normalize(join(dirname(file), name)));
      else packages.add(name);
  }
  return { files, packages };
}

it('imports nothing of the CDK', () => {
  const { files, packages } = reached(['serve/server.ts', 'serve/workflows.ts', 'lib/index.ts']);
  expect([...files]).toEqual(expect.arrayContaining(['lib/infra/discover.ts', 'lib/core/decide.ts']));
  expect([...packages].filter((name) => /^(aws-cdk|constructs)/.test(name))).toEqual([]);
});

it('loads esbuild only to compile: no text of an agent’s file is read', () => {
  const { files, packages } = reached(['serve/server.ts', 'serve/workflows.ts']);
  expect([...files].filter((file) => file.includes('compiled/compile'))).toEqual([]);
  expect([...packages]).not.toContain('esbuild');
});

it('would see it', () => {
  expect([...reached(['lib/cdk.ts']).packages]).toContain('aws-cdk-lib/core');
});
