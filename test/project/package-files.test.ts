/** Reading the exports of an author's file, as an ES module or CommonJS. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportsOf } from '../../lib/project/package-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'steadfast-exports-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const written = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};

it.each([
  ['all that a loader found', 'a.mjs', 'export const flow = 1; export default { flow: 2 };', 1],
  [
    'what is the default alone, where that is a whole CommonJS module',
    'b.mjs',
    "export default Object.defineProperty({ flow: 1 }, '__esModule', { value: true });",
    1,
  ],
  ['nothing of a default of another kind', 'c.mjs', 'export default { flow: 1 };', undefined],
])('are %s', async (_, name, text, flow) => {
  expect((await exportsOf(written(name, text)))['flow']).toBe(flow);
});

it('are refused where the file never ends to load, with the reason', async () => {
  const file = written('d.mjs', 'await new Promise(() => undefined);');
  await expect(exportsOf(file, 1)).rejects.toThrow(
    /still loading after .+ an 'await' outside of its functions/,
  );
});
