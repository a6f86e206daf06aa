/** A function can load only the contents of its asset, not packages of the project around the assembly. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startCloud } from '../../local/cloud.ts';
import { writeAssembly } from './fixture.ts';

const HANDLER = `
  import { createRequire } from 'node:module';
  const code = ({ code }) => code;
  export const handler = async () => ({
    imported: await import(['of', 'the', 'project'].join('-')).then(() => 'found', code),
    required: (() => { try { return createRequire(import.meta.url)('of-the-project'); } catch (error) { return error.code; } })(),
    carried: await import('carried').then((module) => module.default, code),
  });`;

test('a function has no packages of the project, and those that its asset holds', async () => {
  const { root, assembly, dataDir } = writeAssembly();
  const asset = join(assembly, 'asset.web');
  for (const [folder, name] of [
    [root, 'of-the-project'],
    [asset, 'carried'],
  ] as const) {
    mkdirSync(join(folder, 'node_modules', name), { recursive: true });
    writeFileSync(join(folder, 'node_modules', name, 'index.js'), "module.exports = 'found';");
  }
  writeFileSync(join(asset, 'index.mjs'), HANDLER);
  const cloud = await startCloud({ assembly, dataDir, port: 0, schedules: false });
  expect(await (await fetch(cloud.apiUrl)).json()).toEqual({
    imported: 'ERR_MODULE_NOT_FOUND',
    required: 'MODULE_NOT_FOUND',
    carried: 'found',
  });
  await cloud.stop();
  expect(existsSync(cloud.codeFolder)).toBe(false);
  rmSync(root, { recursive: true });
});
