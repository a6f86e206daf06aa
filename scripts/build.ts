/**
 * Builds the published package into `dist/`: ES modules and declarations by tsc; for CommonJS one file per
 * entry, and files that they share, by esbuild; the command line the same way (`program.ts`); the console by
 * Vite.
 *
 *     npm run build
 *
 * Keeps only files that an entry, a function or the command line imports, and only declarations that an
 * entry's types need (`declarations.ts`). Comments remain only in the declarations, where editors show them;
 * comments about whole files are removed there too.
 */

import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { build, transformSync } from 'esbuild';
import { build as buildPage } from 'vite';
import { neededDeclarations } from './declarations.ts';
import { bundleProgram } from './program.ts';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');

/** The module below `dist`, by name of the entry. */
const ENTRIES = {
  index: 'lib/index',
  cdk: 'lib/cdk',
  testing: 'kit/test-workflow',
  client: 'lib/client',
};

/** The workflows of `steadfast verify`: a folder that is discovered, so all its agents must be in it. */
const VERIFIED = 'cli/verify/stack/workflows/proof';
const verifiedAgents = readdirSync(join(ROOT, VERIFIED, 'agents')).map(
  (file) => `${VERIFIED}/agents/${file.replace(/\.ts$/, '')}`,
);

const lambdas = readdirSync(join(ROOT, 'lambdas'))
  .filter((file) => !file.endsWith('.d.ts'))
  .map((file) => `lambdas/${file.replace(/\.ts$/, '')}`);

/**
 * Files that are started by path, bundled into functions and images, or loaded unchanged by the command line.
 */
const PROGRAMS = [
  'cli/verify/stack/app',
  `${VERIFIED}/workflow`,
  `${VERIFIED}/triggers`,
  ...verifiedAgents,
  ...lambdas,
  'lib/infra/discover-process',
  'lib/infra/folder-app',
  'lib/infra/handlers-process',
  'lib/infra/lambda-credentials',
  'lib/aws/endpoint-cache',
  'lib/aws/no-event-streams',
  'lib/without-handlers',
  'lib/scheduler/canary-workflow',
  'kit/cloud/external-process',
  'lib/worker/attempt',
  'lib/worker/main',
  'lib/worker/run',
  'local/cloud',
  'local/http/servers',
  'local/template/assembly',
  'serve/isolated-process',
];

/** The module that `startCloud` of both kinds of modules loads when it is called. */
const CLOUD = 'kit/cloud/start-cloud';

/** Not TypeScript, and started by path from a module beside them. */
const SCRIPTS = ['local/lambda/bootstrap.mjs', 'local/processes/guardian.mjs'];

function fail(text: string): never {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

rmSync(DIST, { recursive: true, force: true });
const tsc = spawnSync(join(ROOT, 'node_modules', '.bin', 'tsc'), ['-p', 'tsconfig.build.json'], {
  cwd: ROOT,
  encoding: 'utf8',
});
if (tsc.status !== 0) fail(tsc.stdout || tsc.stderr);
for (const script of SCRIPTS) copyFileSync(join(ROOT, script), join(DIST, script));

/**
 * The header of a file, followed by a blank line. The package leaves it out, because it is only for
 * contributors.
 */
function headerOf(path: string): string {
  const source = join(ROOT, path.replace(/\.d\.ts$/, '.ts'));
  return /^\/\*\*[^]*?\*\/(?=\n\n)/.exec(existsSync(source) ? readFileSync(source, 'utf8') : '')?.[0] ?? '';
}

/** Declarations by path. They keep the extensions of the sources. */
const declarations = new Map<string, string>();
for (const path of readdirSync(DIST, { recursive: true, encoding: 'utf8' })) {
  if (!path.endsWith('.d.ts')) continue;
  const emitted = readFileSync(join(DIST, path), 'utf8');
  const header = headerOf(path);
  const text = emitted.startsWith(header) ? emitted.slice(header.length).trimStart() : emitted;
  declarations.set(
    path.replaceAll('\\', '/'),
    text.replaceAll(/(\bfrom|\bimport)(\s*\(?\s*)(['"])(\.[^'"\n]+)\.ts\3/g, '$1$2$3$4.js$3'),
  );
}

/** The relative files that a module imports. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(DIST, file), 'utf8');
  const pattern = /(?:\bfrom|\bimport)\s*\(?\s*(['"])(\.[^'"\n]+)\1/g;
  return [...text.matchAll(pattern)].map((match) =>
    normalize(join(dirname(file), match[2] ?? '')).replaceAll('\\', '/'),
  );
}

function reached(starts: readonly string[]): Set<string> {
  const seen = new Set<string>();
  const queue = [...starts];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (seen.has(next) || !existsSync(join(DIST, next))) continue;
    seen.add(next);
    queue.push(...importsOf(next));
  }
  return seen;
}

const program = await bundleProgram(ROOT, DIST);

/**
 * Makes one file from modules of one folder, and from those that only they reach.
 * @param module the module whose place it takes, without an extension
 * @param isOwn which of the paths that its modules import become part of it
 */
const joined = (
  module: string,
  parts: readonly string[],
  isOwn: (path: string) => boolean,
): Promise<unknown> =>
  build({
    absWorkingDir: ROOT,
    stdin: {
      contents: parts.map((part) => `export * from './${part}.js';\n`).join(''),
      resolveDir: join(DIST, dirname(module)),
    },
    outfile: `dist/${module}.js`,
    allowOverwrite: true,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
    packages: 'external',
    plugins: [
      {
        name: 'own-parts',
        setup: (bundling) => {
          bundling.onResolve({ filter: /^\.\.?\// }, ({ path }) =>
            isOwn(path) ? undefined : { path, external: true, sideEffects: false },
          );
        },
      },
    ],
  });

/** The modules that perform declared and remote agents; the result replaces the first of its parts. */
const OF_AGENTS = {
  'lib/ready/work': ['work'],
  'lib/ready/http-agent': ['http-agent', 'aws-agents'],
  'lib/remote/relay': ['relay', 'target'],
};
// The rest of both folders is removed with everything that is not reached.
for (const [module, parts] of Object.entries(OF_AGENTS))
  await joined(module, parts, (path) => /^(?:\.|\.\.\/remote)\/[a-z-]+\.js$/.test(path));
for (const entry of ['lib/index.js', 'lib/without-handlers.js']) {
  const code = readFileSync(join(DIST, entry), 'utf8');
  const moved = code.replaceAll('ready/aws-agents.js', 'ready/http-agent.js');
  writeFileSync(join(DIST, entry), moved.replaceAll('remote/target.js', 'remote/relay.js'));
}

// Replaces the modules that it was made of.
writeFileSync(
  join(DIST, 'kit/server/start-server.js'),
  "export { start } from '../../bin/test-server.js';\n",
);

const modules = reached([...Object.values(ENTRIES), ...PROGRAMS].map((each) => `${each}.js`));
const modulesOfEntries = reached(Object.values(ENTRIES).map((each) => `${each}.js`));
const types = neededDeclarations(
  Object.values(ENTRIES).map((each) => `${each}.d.ts`),
  declarations,
);
for (const path of readdirSync(DIST, { recursive: true, encoding: 'utf8' })) {
  const file = path.replaceAll('\\', '/');
  if (program.includes(join(DIST, path))) continue;
  if (!/\.(js|d\.ts)$/.test(file)) continue;
  const text = types.get(file);
  if (text !== undefined) writeFileSync(join(DIST, file), text);
  else if (!modules.has(file)) rmSync(join(DIST, file));
  else {
    const code = readFileSync(join(DIST, file), 'utf8');
    // Files that an entry of the package reaches remain readable, except those made of several.
    const isMade = Object.hasOwn(OF_AGENTS, file.replace(/\.js$/, ''));
    const minify = isMade || !/^(?:kit|lib)\//.test(file);
    // What only functions load keeps the names that a stack shows.
    const isOfFunctions = !modulesOfEntries.has(file);
    const how = { minifyIdentifiers: minify, minifyWhitespace: minify || isOfFunctions };
    const minifySyntax = how.minifyWhitespace;
    writeFileSync(join(DIST, file), transformSync(code, { ...how, minifySyntax }).code);
  }
}

// The client for applications: one file without other packages.
await build({
  absWorkingDir: ROOT,
  entryPoints: ['lib/client.ts'],
  outfile: 'dist/lib/client.js',
  allowOverwrite: true,
  bundle: true,
  platform: 'neutral',
  target: 'es2022',
  logLevel: 'warning',
});

// Keeps one class of errors for `instanceof`, shared by the client that `startCloud` returns.
writeFileSync(join(DIST, 'lib/api/typed-client.js'), "export { createClient } from '../client.js';\n");

// The cloud becomes a single file, because no other module needs its parts.
await joined(CLOUD, [basename(CLOUD)], (path) => path.startsWith('./'));
for (const name of ['control', 'kill-plan', 'random', 'random-kills'])
  rmSync(join(DIST, dirname(CLOUD), `${name}.js`));

mkdirSync(join(DIST, 'cjs'), { recursive: true });
const commonJs = { platform: 'node', target: 'node20', logLevel: 'warning' } as const;
// Only ES modules can be split: shared code exists once, and each file becomes CommonJS afterwards.
const { outputFiles } = await build({
  ...commonJs,
  absWorkingDir: ROOT,
  entryPoints: Object.fromEntries(
    Object.entries(ENTRIES).map(([name, module]) => [name, `dist/${module}.js`]),
  ),
  outdir: join(DIST, 'cjs'),
  outExtension: { '.js': '.cjs' },
  bundle: true,
  splitting: true,
  format: 'esm',
  write: false,
  packages: 'external',
  // An ES module only: `require` of it would fail if Node cannot do that yet.
  alias: { uuid: join(ROOT, 'node_modules', 'uuid', 'dist-node', 'index.js') },
  define: { 'import.meta.dirname': '__dirname' },
  plugins: [
    {
      // The local cloud starts programs beside its own file, so that file exists once, as an ES module that
      // `import()` loads.
      name: 'one-cloud',
      setup: (bundling) => {
        bundling.onResolve({ filter: /\/server\/start-server\.js$/ }, () => ({
          path: '../bin/test-server.js',
          external: true,
        }));
        // This module is rarely loaded, and by `import()`, so one file serves both kinds of modules.
        bundling.onResolve({ filter: /\/ready\/work\.js$/ }, () => ({
          path: '../lib/ready/work.js',
          external: true,
        }));
        bundling.onResolve({ filter: /\/cloud\/start-cloud\.js$/ }, () => ({
          path: `../${CLOUD}.js`,
          external: true,
        }));
      },
    },
  ],
});
// The ES modules remain readable; these files keep nothing that only a reader needs.
for (const { path, text } of outputFiles)
  writeFileSync(path, transformSync(text, { ...commonJs, format: 'cjs', minify: true }).code);
// One set of declarations; for `require`, a thin file of its own kind.
for (const [name, module] of Object.entries(ENTRIES))
  writeFileSync(join(DIST, 'cjs', `${name}.d.cts`), `export * from '../${module}.js';\n`);

// The page for operators, as static files.
await buildPage({ configFile: join(ROOT, 'console', 'vite.config.ts') });

console.log(
  `dist: ${modules.size} modules, ${types.size} declarations, ${Object.keys(ENTRIES).length} CommonJS entries`,
);
