/** Our code on docs/FROM-TEMPORAL.md and docs/FROM-DURABLE-FUNCTIONS.md. A block's first line is its file. */

import { blocksOf, type Files, read } from './blocks.ts';

const ours = (page: string): [string, string][] =>
  blocksOf(read(page), 'ts').map((block) => {
    const [, path = ''] = /^\/\/ ([\w-]+\.ts)\n/.exec(block) ?? [];
    if (path === '') throw new Error(`a block of ${page} does not begin with its file: ${block}`);
    return [path, block];
  });

export const temporalFiles: Files = new Map(ours('docs/FROM-TEMPORAL.md'));

/** The block with the services, from the other page. */
const [services = ''] = blocksOf(read('docs/FROM-DURABLE-FUNCTIONS.md'), 'typescript').filter((block) =>
  block.startsWith('// services.ts\n'),
);
/** The services, with code that acts and reports. */
const ACTING = services.replaceAll(
  /export declare function (\w+)\((.*)\): Promise<null>;/g,
  'export async function $1(...given: [$2]): Promise<null> {\n  acts.push(`$1 ${given[0]}`);\n  return null;\n}',
);
export const durableFiles: Files = new Map([
  ...ours('docs/FROM-DURABLE-FUNCTIONS.md'),
  ['services.ts', `export const acts: string[] = [];\n${ACTING}`],
]);
