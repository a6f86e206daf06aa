/** On an old Node, the first file prints one sentence; its syntax must be old enough for that Node. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { transform } from 'esbuild';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const { NEEDED, problemWith } = createRequire(import.meta.url)('../../bin/node-version.cjs') as {
  readonly NEEDED: string;
  readonly problemWith: (version: string) => string | undefined;
};
const manifest = JSON.parse(read('package.json')) as {
  readonly engines: { readonly node: string };
  readonly bin: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
};

it.each(['0.10.48', '8.17.0', '18.20.8', '20.0.0', '20.18.3'])('Node %s is too old', (version) => {
  expect(problemWith(version)).toMatch(
    new RegExp(`^Steadfast needs Node ${NEEDED} or newer, and this is Node ${version}: install a newer one`),
  );
});

it.each(['20.19.0', '20.20.2', '22.0.0', '24.1.0', process.versions.node])('Node %s is good', (version) => {
  expect(problemWith(version)).toBeUndefined();
});

it('is the version that the package asks for', () => {
  expect(`>=${NEEDED}`).toBe(`${manifest.engines.node}.0`);
});

it.each(['bin/node-version.cjs', 'bin/steadfast.cjs'])('%s is in the language of 2009', async (file) => {
  const es5 = { target: 'es5' } as const;
  await expect(transform(read(file), es5)).resolves.toMatchObject({ warnings: [] });
  await expect(transform(`const a = () => 1;\n${read(file)}`, es5)).rejects.toThrow('not supported');
});

it('comes before everything else', () => {
  for (const name of ['start', 'demo', 'steadfast', 'test']) {
    expect(manifest.scripts[name]).toMatch(/^node bin\/node-version\.cjs && /);
  }
  expect(manifest.bin).toEqual({ steadfast: 'bin/steadfast.cjs' });
  const [first] = read('bin/steadfast.cjs').match(/require\(.*\)/) ?? [];
  expect(first).toBe("require('./node-version.cjs')");
});
