/**
 * `npm run gallery`: runs all examples in parallel under kills, as a user of the package would: copied out of
 * this repository, with the packed tarball installed.
 *
 *     npm run gallery -- [--from-source] [--seed 7] [--short] [--only a,b] [--json]
 *
 * Owns: the project that they are copied into. Does not own: what runs in it (`examples/gallery/gallery.ts`),
 * which `--from-source` runs here.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failed, folder, ROOT, run, say, work } from './adopt/steps.ts';

const PROGRAM = ['--import', 'tsx', 'examples/gallery/gallery.ts'];
/** The packages that the examples import besides ours, and the tools that run them. */
const DECLARED = ['@aws-sdk/client-s3', 'aws-cdk-lib', 'constructs', 'sql.js', 'tsx', 'zod'];

const given = process.argv.slice(2);
const isHere = given.includes('--from-source');
const options = given.filter((each) => each !== '--from-source');

/** Creates a user's project: the examples, the package, and an app that cdk.json names. */
async function project(): Promise<string> {
  const cwd = folder('gallery');
  const line = `npm pack . --json --foreground-scripts=false --pack-destination ${work}`;
  const [{ filename }] = JSON.parse(await run(ROOT, line)) as [{ readonly filename: string }];
  cpSync(join(ROOT, 'examples'), join(cwd, 'examples'), {
    recursive: true,
    filter: (path) => !/(?:\.test\.ts|\/demo|\/peers)$/.test(path),
  });
  const own = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
    'dependencies' | 'devDependencies',
    Readonly<Record<string, string>>
  >;
  const versions = { ...own.devDependencies, ...own.dependencies };
  const dependencies = Object.fromEntries(DECLARED.map((name) => [name, versions[name]]));
  const manifest = {
    name: 'gallery',
    private: true,
    type: 'module',
    dependencies: { ...dependencies, steadfast: `file:${join(work, filename)}` },
  };
  const files = {
    'package.json': manifest,
    'cdk.json': { app: 'node --import tsx examples/gallery/app.ts' },
    'tsconfig.json': {
      compilerOptions: {
        module: 'NodeNext',
        target: 'ES2023',
        allowImportingTsExtensions: true,
        noEmit: true,
      },
    },
  };
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(cwd, name), JSON.stringify(content, null, 2));
  await run(cwd, 'npm install --prefer-offline --no-audit --no-fund');
  return cwd;
}

async function played(cwd: string): Promise<number> {
  const child = spawn(process.execPath, [...PROGRAM, ...options], { cwd, stdio: 'inherit' });
  // A keyboard interrupt reaches both processes: the child ends what it has started.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

try {
  const cwd = isHere ? ROOT : await project();
  process.exitCode = await played(cwd);
} catch (error) {
  if (!(error instanceof Failed)) throw error;
  say(error.message);
  process.exitCode = 1;
}
if (process.exitCode === 0 || isHere) rmSync(work, { recursive: true, force: true });
else say(`The project is left in ${work}.`);
