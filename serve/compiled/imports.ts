/** Files of a project that its files import, as far as that stands in them. */

import { resolve } from 'node:path';
import { build, stop } from 'esbuild';

/**
 * @param files absolute @param root the project's folder
 * @returns them and what they import, absolute, without packages; nothing where one cannot be read
 */
export async function filesImportedBy(
  files: readonly string[],
  root: string,
): Promise<readonly string[] | undefined> {
  const built = await build({
    absWorkingDir: root,
    entryPoints: [...files],
    outdir: root,
    write: false,
    metafile: true,
    bundle: true,
    packages: 'external',
    platform: 'node',
    logLevel: 'silent',
  }).catch(() => undefined);
  // It has a process of its own.
  await stop();
  if (built === undefined) return undefined;
  const inputs = Object.keys(built.metafile.inputs).filter((input) => !input.includes('node_modules/'));
  return inputs.map((input) => resolve(root, input));
}
