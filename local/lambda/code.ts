/**
 * Makes a folder with only a function's bundle. It is outside the project, where Node would find packages
 * that Lambda does not have.
 */
import { cpSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Assembly } from '../template/assembly.ts';
import { TemplateError } from '../template/json.ts';
import type { FunctionSpec } from '../template/stack-model.ts';

/**
 * The folder with the function's code, below `codeRoot`.
 * @throws TemplateError if the assembly does not contain it
 */
export function codeDirectory(spec: FunctionSpec, assembly: Assembly, codeRoot: string): string {
  const path = `${spec.logicalId}.Properties.Code`;
  const directory = join(codeRoot, spec.logicalId);
  if ('inline' in spec.code) {
    mkdirSync(directory, { recursive: true });
    const ending = /^\s*(import|export)\s/m.test(spec.code.inline) ? 'mjs' : 'cjs';
    writeFileSync(join(directory, `index.${ending}`), spec.code.inline);
    return directory;
  }
  const { objectKey } = spec.code;
  const hinted = spec.assetHint === undefined ? undefined : assembly.filePath(spec.assetHint);
  const asset = assembly.assetPath(objectKey) ?? hinted;
  if (asset === undefined || !existsSync(asset)) {
    throw new TemplateError(path, `the asset ${objectKey} is not in the assembly: run "cdk synth" again`);
  }
  if (!statSync(asset).isDirectory()) {
    throw new TemplateError(
      path,
      `${asset} is a file; supported are asset folders (asset.<hash>/) and inline code`,
    );
  }
  cpSync(asset, directory, { recursive: true });
  return directory;
}

/** Finds a folder of packages that code below `directory` would load, although Lambda does not have it. */
export function packagesAbove(directory: string): string | undefined {
  for (let at = dirname(directory); ; at = dirname(at)) {
    const packages = join(at, 'node_modules');
    if (existsSync(packages)) return packages;
    if (at === dirname(at)) return undefined;
  }
}
