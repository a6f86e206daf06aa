/**
 * A loader before tsx: our own modules without their types, and without what tsx puts around every function
 * to keep its name through a bundler. There is none, and it is an eighth of a test's processor time.
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
