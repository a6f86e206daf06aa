/**
 * The command line as it is published: a few files in the place of some hundred modules, so that
 * `npx steadfast serve` answers within a second.
 *
 * Owns: what is one file, and how it loads other packages. Does not own: the rest of what is published
 * (`build.ts`).
 *
 * Beside the program lies `author.js`: the entry `steadfast` over the same files. `serve` has workflows load
 * that one (`serve/author.ts`), so that no part of ours is loaded twice.
 */

import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';

/** These are loaded when something of them is called: a server on one machine calls none of it. */
const ON_DEMAND = [
  '@aws-sdk/client-eventbridge',
  '@aws-sdk/client-sqs',
  '@aws-sdk/credential-provider-node',
  '@smithy/core/endpoints',
  '@smithy/core/retry',
];
/** By `require`, which takes half of the time of an `import`. */
const REQUIRED = [
  '@aws-lambda-powertools/logger',
  '@aws-lambda-powertools/metrics',
  '@aws-sdk/client-dynamodb',
  'commander',
  'esbuild',
  'hono',
  'hono/aws-lambda',
  'libsql',
];
/** It has many small files, and `dist/cjs` has it within its files as well. */
const WITHIN = ['uuid'];

const NAMESPACE = 'by-require';

/** The text of a module that has the exports of the package. */
function standIn(name: string, names: readonly string[]): string {
  const named = names.filter((one) => /^[A-Za-z_$][\w$]*$/.test(one) && one !== 'default');
  const from = 'createRequire(import.meta.url)';
  const head = "import { createRequire } from 'node:module';\n";
  if (ON_DEMAND.includes(name))
    return `${head}const load = (name) => ${from}(${JSON.stringify(name)})[name];
${named.map((one) => `export function ${one}(...given) { return new.target ? Reflect.construct(load('${one}'), given) : load('${one}')(...given); }`).join('\n')}\n`;
  return `${head}const all = ${from}(${JSON.stringify(name)});
export default all;
${named.map((one) => `export const ${one} = /* @__PURE__ */ (() => all.${one})();`).join('\n')}\n`;
}

const byRequire = (root: string): Plugin => ({
  name: NAMESPACE,
  setup: (bundling) => {
    const required = createRequire(join(root, 'package.json'));
    bundling.onResolve({ filter: /^[^./]/ }, ({ path }) => {
      if (WITHIN.includes(path)) return undefined;
      if (ON_DEMAND.includes(path) || REQUIRED.includes(path)) return { path, namespace: NAMESPACE };
      return { path, external: true };
    });
    bundling.onLoad({ filter: /./, namespace: NAMESPACE }, ({ path }) => ({
      contents: standIn(path, Object.keys(required(path) as object)),
    }));
  },
});

/** What starts programs that lie beside it stays where it is. */
const rooms = (dist: string): Plugin => ({
  name: 'rooms',
  setup: (bundling) => {
    bundling.onResolve({ filter: /^\.\.\/.*\b(local|worker)\// }, ({ path, kind, resolveDir }) => {
      const file = relative(dist, join(resolveDir, path)).replaceAll('\\', '/');
      if (kind !== 'dynamic-import' || !/^(local|lib\/worker)\//.test(file)) return undefined;
      return { path: `../${file}`, external: true };
    });
  },
});

/** @returns the files that were written */
export async function bundleProgram(root: string, dist: string): Promise<readonly string[]> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: {
      steadfast: 'dist/bin/steadfast.js',
      author: 'dist/lib/index.js',
      'test-server': 'dist/lib/testing/server/start.js',
    },
    outdir: join(dist, 'bin'),
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minify: true,
    logLevel: 'warning',
    plugins: [rooms(dist), byRequire(root)],
  });
  for (const { path, text } of outputFiles) writeFileSync(path, text);
  return outputFiles.map(({ path }) => path);
}
