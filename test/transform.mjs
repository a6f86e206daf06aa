/**
 * A loader before tsx: only strips the types of our own modules. tsx would also wrap every function to
 * preserve its name through a bundler; without one, this would waste an eighth of a test's processor time.
 */

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';

const ROOT = new URL('..', import.meta.url).href;
const OURS =
  /^(?:bench|bin|cli|console|examples|lambdas|lib|local|proof|scripts|serve|test)\/(?!peers\/).*\.ts$/;

export async function load(url, context, next) {
  const [address] = url.split('?');
  if (!address.startsWith(ROOT) || !OURS.test(address.slice(ROOT.length))) return next(url, context);
  const file = fileURLToPath(address);
  const { code } = await transform(await readFile(file, 'utf8'), {
    loader: 'ts',
    format: 'esm',
    target: `node${process.versions.node}`,
    minifyWhitespace: true,
    sourcefile: file,
    sourcemap: 'inline',
    sourcesContent: false,
    tsconfigRaw: { compilerOptions: { target: 'ES2023', verbatimModuleSyntax: true } },
  });
  return { format: 'module', source: code, shortCircuit: true };
}
