/** Finds the project's files that given files import, from their text. */

import { resolve } from 'node:path';
import { build, stop } from 'esbuild';

/**
 * @param files absolute paths @param root the project's folder
 * @returns these files and the files that they import, absolute, without packages; undefined if one cannot be
 * read
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
  // Ends esbuild's separate process.
  await stop();
  if (built === undefined) return undefined;
  const inputs = Object.keys(built.metafile.inputs).filter((input) => !input.includes('node_modules/'));
  return inputs.map((input) => resolve(root, input));
}
