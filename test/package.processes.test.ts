/** In the repository, `steadfast/*` resolves to the sources, for every tool, even without `dist/`. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { PACKAGE_ROOT, packageVersion, programFile } from '../lib/project/package-files.ts';
import { projectRoot, writtenFile } from '../lib/project/project-files.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const { exports, files, name } = JSON.parse(read('package.json')) as {
  readonly name: string;
  readonly files: readonly string[];
  readonly exports: Readonly<Record<string, string | Record<'import' | 'require', Record<string, string>>>>;
};
const { paths } = (
  JSON.parse(read('tsconfig.json')) as {
    readonly compilerOptions: { readonly paths: Readonly<Record<string, readonly string[]>> };
  }
).compilerOptions;

/** The built file and the source of each import. */
const entries = Object.entries(exports).flatMap(([path, target]) =>
  typeof target === 'string'
    ? []
    : [
        {
          entry: path.replace('.', name),
          target,
          source: target.import['default']?.replace('/dist/', '/').replace(/js$/, 'ts'),
        },
      ],
);

it('has a source behind every entry, under the same name for tsc, tsx and esbuild', () => {
  expect(entries.map(({ entry }) => entry)).toEqual([
    'steadfast',
    'steadfast/cdk',
    'steadfast/testing',
    'steadfast/client',
  ]);
  expect(Object.fromEntries(entries.map(({ entry, source }) => [entry, [source]]))).toEqual(paths);
  for (const { source } of entries) expect(existsSync(join(ROOT, source ?? ''))).toBe(true);
});

it('publishes no source beside what is built', () => {
  expect(files.filter((path) => !path.includes('docs/'))).toEqual([
    'bin/*.cjs',
    'CHANGELOG.md',
    'containers',
    'dist',
    'llms.txt',
  ]);
});

it('can be published, with the package that npm create loads, in one version', () => {
  const [own, create] = ['package.json', 'create/package.json'].map(
    (file) => JSON.parse(read(file)) as { readonly version: string; readonly private?: boolean },
  );
  expect([own?.private, create?.private]).toEqual([undefined, undefined]);
  expect(create?.version).toBe(own?.version);
});

it('resolves to the source in jest', async () => {
  const [entry, source] = await Promise.all([import('steadfast/client'), import('../lib/client.ts')]);
  expect(entry.createClient).toBe(source.createClient);
});

it('resolves to the source in a process with tsx', () => {
  const script = `import('steadfast/client').then(({ createClient }) => createClient({ url: '-' })).catch((error) => console.log(error.stack))`;
  const { stdout } = spawnSync(process.execPath, ['--import', 'tsx', '-e', script], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  expect(stdout).toMatch(/at createClient \(.*\/lib\/api\/client\.ts:/);
});

it('resolves to the source in esbuild', async () => {
  const stdin = { contents: "export { createClient } from 'steadfast/client';", resolveDir: ROOT };
  const { metafile } = await build({
    stdin,
    bundle: true,
    write: false,
    metafile: true,
    absWorkingDir: ROOT,
    outdir: 'out',
  });
  expect(Object.keys(metafile.inputs)).toContain('lib/client.ts');
});

describe('files', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'steadfast-package-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('of the package are sources here', () => {
    expect(PACKAGE_ROOT).toBe(ROOT);
    expect(programFile('lambdas/agent')).toBe(join(ROOT, 'lambdas/agent.ts'));
    expect(packageVersion()).toMatch(/^\d+\.\d+\.\d+/);
  });

  it('of a project are TypeScript first, then JavaScript', () => {
    writeFileSync(join(folder, 'workflow.mjs'), '');
    expect(writtenFile(join(folder, 'workflow'))).toBe(join(folder, 'workflow.mjs'));
    writeFileSync(join(folder, 'workflow.ts'), '');
    expect(writtenFile(join(folder, 'workflow'))).toBe(join(folder, 'workflow.ts'));
    expect(writtenFile(join(folder, 'agent'))).toBeUndefined();
    expect(projectRoot(folder)).toBeUndefined();
  });
});
