/** Properties of every example, and limits of all of them together. */

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { exampleNames, loadExample } from '../examples/gallery/play.ts';

const EXAMPLES = join(import.meta.dirname, '..', 'examples');
const MAX_AGENTS = 32;

const folders = readdirSync(EXAMPLES).filter((name) => existsSync(join(EXAMPLES, name, 'workflow.ts')));
const agentsOf = (name: string): string[] =>
  readdirSync(join(EXAMPLES, name, 'agents')).filter((file) => /^[a-z-]+\.ts$/.test(file));

test('all of them together have at most 32 agents', () => {
  const agents = folders.flatMap(agentsOf);
  expect(agents.length).toBeGreaterThan(20);
  expect(agents.length).toBeLessThanOrEqual(MAX_AGENTS);
});

test('all but the page about Python are in the gallery', () => {
  expect(folders.filter((name) => !exampleNames().includes(name))).toEqual(['parcel-labels']);
});

test.each(folders)('%s has a page, a test, and what npm start needs', (name) => {
  for (const file of ['README.md', 'dev.ts'])
    expect([file, existsSync(join(EXAMPLES, name, file))]).toEqual([file, true]);
  expect(readdirSync(join(EXAMPLES, name))).toContainEqual(
    expect.stringMatching(/^workflow(\.processes)?\.test\.ts$/),
  );
});

test.each(exampleNames())('%s goes wrong in ways that are told apart', async (name) => {
  const { title, world, scenes } = await loadExample(name);
  expect([title, world]).toEqual([expect.stringMatching(/\.$/), expect.stringMatching(/^[A-Z_]+$/)]);
  const names = scenes.map((scene) => scene.name);
  expect([...new Set(names)]).toEqual(names);
  expect(names.filter((each) => !/^[a-z-]+$/.test(each))).toEqual([]);
  expect(scenes.filter(({ ends }) => ends.length === 0)).toEqual([]);
});
