/**
 * Compiles the code of other systems with their own types: `examples/beside/peers`, and the code blocks on
 * the pages for their users. Run by `npm run beside`, which installs the types first.
 *
 * Does not own: our own code there, which `npm test` runs and `npm run test:processes` compiles.
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const PEERS = join(ROOT, 'examples', 'beside', 'peers');
const PAGES = ['FROM-TEMPORAL', 'FROM-DURABLE-FUNCTIONS'];
/** Their blocks are named `typescript`, ours `ts`; the first line of each is its file. */
const THEIRS = /^```typescript\n\/\/ ([\w-]+\.ts)\n([\s\S]*?)^```$/gm;

const folder = join(PEERS, '.steadfast');
for (const page of PAGES) {
  const text = readFileSync(join(ROOT, 'docs', `${page}.md`), 'utf8');
  const blocks = [...text.matchAll(THEIRS)];
  if (blocks.length === 0) throw new Error(`docs/${page}.md shows no code of theirs`);
  mkdirSync(join(folder, page), { recursive: true });
  for (const [, name = '', code = ''] of blocks) writeFileSync(join(folder, page, name), code);
}
const config = { extends: '../tsconfig.json', include: ['..', '.'] };
writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
try {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', folder], { stdio: 'inherit' });
  console.log('what is shown of other systems compiles');
} catch {
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
