/**
 * Finds the files from which `steadfast dev` runs a project: the sources of the functions' bundles, the
 * workflow folders, and the imports of the CDK app.
 *
 * Owns: deciding whether a changed file is one of them. Does not own: which files are observed
 * (`changes.ts`).
 *
 * JSON files, and all files in the same folder as a source, count too, because they may be loaded by path. If
 * the app's command names no file that esbuild can read, every file counts.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { BUNDLES } from '../../lib/aws/names.ts';
import { writtenFile } from '../../lib/project/project-files.ts';
import type { Project } from './project.ts';

/** @param file an absolute path */
export type IsSource = (file: string) => boolean;

const WORKFLOW_FILE = /^workflow\.m?[jt]s$/;

/** @param assembly of the running system */
export async function sourcesOf(
  { root, app }: Pick<Project, 'root' | 'app'>,
  assembly: string,
): Promise<IsSource> {
  const bundled = metafilesIn(join(assembly, BUNDLES)).flatMap((file) =>
    inputsOf(readFileSync(file, 'utf8'), root),
  );
  const workflows = bundled.filter((file) => WORKFLOW_FILE.test(basename(file))).map((file) => dirname(file));
  const triggers = workflows.flatMap((folder) => writtenFile(join(folder, 'triggers')) ?? []);
  const imported = await importedBy(root, app, triggers);
  if (imported === undefined) return () => true;
  const folders = new Set([...imported, ...bundled].map((file) => dirname(file)));
  const parents = new Set(workflows.map((folder) => dirname(folder)));
  return (file) =>
    file.endsWith('.json') ||
    folders.has(dirname(file)) ||
    workflows.some((folder) => file.startsWith(folder + sep)) ||
    // The file of a new workflow.
    (WORKFLOW_FILE.test(basename(file)) && parents.has(dirname(dirname(file))));
}

/** The files that the app imports; undefined if that cannot be determined. */
async function importedBy(
  root: string,
  app: string,
  triggers: readonly string[],
): Promise<readonly string[] | undefined> {
  const words = app
    .split(/[\s'"]+/)
    .filter((word) => /\.[cm]?[jt]s$/.test(word) && existsSync(resolve(root, word)));
  if (words.length === 0) return undefined;
  // Imported only here, because other commands do not need esbuild.
  const { filesImportedBy } = await import('../../serve/compiled/imports.ts');
  return await filesImportedBy([...words.map((word) => resolve(root, word)), ...triggers], root);
}

/** The files in esbuild's metafile. */
const inputsOf = (metafile: string, root: string): string[] =>
  Object.keys((JSON.parse(metafile) as { readonly inputs: object }).inputs)
    .filter((input) => !input.includes('node_modules/'))
    .map((input) => resolve(root, input));

function metafilesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.meta.json'))
    .map((name) => join(folder, name));
}
