/**
 * Bundles the published command line: a few files instead of some hundred modules, so that `npx steadfast
 * serve` answers within a second.
 *
 * Owns: which modules become one file, and how it loads other packages. Does not own: the rest of the
 * published package (`build.ts`).
 *
 * Beside the program are `author.js`, the entry `steadfast` over the same files, and `zod.js`, the program's
 * own `zod/mini`. `serve` makes workflows load those (`serve/author.ts`), so that nothing is loaded twice.
 */

import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';

/**
 * Its commands and errors are plain data here: the client of a file reads them (`serve/sqlite/client.ts`).
 */
const DYNAMODB = '@aws-sdk/client-dynamodb';
const DYNAMODB_ERROR = 'DynamoDBServiceException';

/** Packages that are loaded at the first call: a server on one machine calls none of them. */
const ON_DEMAND = [
  DYNAMODB,
  '@aws-sdk/client-eventbridge',
  '@aws-sdk/client-sqs',
  '@aws-sdk/credential-provider-node',
  '@smithy/core/endpoints',
  '@smithy/core/retry',
  'chokidar',
  'esbuild',
];
/** Packages loaded by `require`, which takes half the time of an `import`. */
const REQUIRED = [
  '@aws-lambda-powertools/logger',
  '@aws-lambda-powertools/metrics',
  'commander',
  'libsql',
  'zod/locales',
  'zod/mini',
];
/** Packages that are included, because they have many small files that take little room. */
const WITHIN = ['hono', 'uuid'];

const NAMESPACE = 'by-require';

/** The data that a server on one machine creates from it: input that `send` reads, and errors. */
function dataOf(name: string): string | undefined {
  if (name.endsWith('Command')) return `class ${name} { constructor(input) { this.input = input; } }`;
  if (name === DYNAMODB_ERROR)
    return `class ${name} extends Error { constructor({ message, ...rest }) { super(message); Object.assign(this, rest); } }`;
  if (name.endsWith('Exception'))
    return `class ${name} extends ${DYNAMODB_ERROR} { constructor(rest) { super({ ...rest, name: '${name}', $fault: 'client' }); } }`;
  return undefined;
}

/** The text of a module with the package's exports. */
function standIn(name: string, names: readonly string[]): string {
  const named = names.filter((one) => /^[A-Za-z_$][\w$]*$/.test(one) && one !== 'default');
  const from = 'createRequire(import.meta.url)';
  const head = "import { createRequire } from 'node:module';\n";
  const onDemand = (one: string): string =>
    `function ${one}(...given) { return new.target ? Reflect.construct(load('${one}'), given) : load('${one}')(...given); }`;
  if (ON_DEMAND.includes(name)) {
    const data = name === DYNAMODB ? dataOf : () => undefined;
    // Puts the base class first: a class can be extended only after its definition.
    const ordered = named.toSorted(
      (one, other) => Number(other === DYNAMODB_ERROR) - Number(one === DYNAMODB_ERROR),
    );
    const lines = ordered.map((one) => `export ${data(one) ?? onDemand(one)}`);
    return `${head}const load = (name) => ${from}(${JSON.stringify(name)})[name];\n${lines.join('\n')}\n`;
  }
  // The constants need other names: `null` and `enum` are exports, but cannot name constants.
  return `${head}const all = ${from}(${JSON.stringify(name)});
export default all;
${named.map((one, at) => `const own${at} = /* @__PURE__ */ (() => all.${one})(); export { own${at} as ${one} };`).join('\n')}\n`;
}

const byRequire = (root: string): Plugin => ({
  name: NAMESPACE,
  setup: (bundling) => {
    const required = createRequire(join(root, 'package.json'));
    bundling.onResolve({ filter: /^[^./]/ }, ({ path }) => {
      if (WITHIN.some((name) => path === name || path.startsWith(`${name}/`))) return undefined;
      if (ON_DEMAND.includes(path) || REQUIRED.includes(path)) return { path, namespace: NAMESPACE };
      return { path, external: true };
    });
    bundling.onLoad({ filter: /./, namespace: NAMESPACE }, ({ path }) => ({
      contents: standIn(path, Object.keys(required(path) as object)),
    }));
  },
});

/** A module that starts programs beside it stays in its place, and so does a rarely loaded one. */
const rooms = (dist: string): Plugin => ({
  name: 'rooms',
  setup: (bundling) => {
    bundling.onResolve({ filter: /^\.\.?\/.*\b(local|worker|ready)\// }, ({ path, kind, resolveDir }) => {
      const file = relative(dist, join(resolveDir, path)).replaceAll('\\', '/');
      if (kind !== 'dynamic-import' || !/^(local|lib\/(worker|ready))\//.test(file)) return undefined;
      return { path: `../${file}`, external: true };
    });
  },
});

/** @returns the written files */
export async function bundleProgram(root: string, dist: string): Promise<readonly string[]> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: {
      steadfast: 'dist/bin/steadfast.js',
      author: 'dist/lib/index.js',
      zod: 'zod/mini',
      'test-server': 'dist/kit/server/start-server.js',
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
