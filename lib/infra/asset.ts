/**
 * Turns a bundle into the folder of an asset.
 *
 * Owns: the files beside the code, and the hash. Does not own: the code (`bundle.ts`), which files and
 * packages are added (`brought-along.ts`).
 */

import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { type Beside, foldersBelow, type Owner } from './brought-along.ts';
import { type Bundle, EXTENSION, hashOf } from './bundle.ts';

/**
 * The bundle with files and packages beside it. If one is above the agent's file, the code moves down into
 * folders with the same names as those of that file.
 */
export function withBeside(bundle: Bundle, owner: Owner, beside: Beside): Bundle {
  if (beside.size === 0) return bundle;
  const down = foldersBelow(owner, beside);
  const moved = [...bundle.files].map(([name, content]) => [join(down, name), content] as const);
  const index = `index${EXTENSION}`;
  const files = new Map(moved);
  if (down !== '') files.set(index, Buffer.from(`export * from './${down}/${index}';\n`));
  const hash = createHash('sha256').update(hashOf(files));
  const placed = new Map(
    [...beside].map(([place, file]) => [isPackage(place) ? place : join(down, place), file]),
  );
  for (const [place, file] of placed) hash.update(`${place}\n`).update(readFileSync(file));
  return { ...bundle, files, hash: hash.digest('hex'), beside: placed };
}

const isPackage = (place: string): boolean => place.startsWith('node_modules/');

/**
 * A bundle as the code of a function. esbuild's metafile is written to `folder` (in the cloud assembly) as
 * `<folder>/<name>.meta.json`, beside the code and not in it, for size budgets.
 */
export function codeOf(name: string, bundle: Bundle, folder: string): Code {
  const path = join(folder, name);
  writeBundle(bundle, path);
  writeFileSync(`${path}.meta.json`, JSON.stringify(bundle.metafile));
  return Code.fromAsset(path, { assetHash: bundle.hash });
}

/** Writes the code and the files beside it into a folder. */
export function writeBundle({ files, beside = new Map() }: Bundle, folder: string): void {
  for (const name of [...files.keys(), ...beside.keys()])
    mkdirSync(dirname(join(folder, name)), { recursive: true });
  for (const [name, content] of files) writeFileSync(join(folder, name), content);
  for (const [place, file] of beside) copyFileSync(file, join(folder, place));
}
