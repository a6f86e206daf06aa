/** Owns: from a function's `Code` to a folder on disk that holds its bundle. */
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Assembly } from '../template/assembly.ts';
import { TemplateError } from '../template/json.ts';
import type { FunctionSpec } from '../template/stack-model.ts';

/** The folder with the function's code. @throws TemplateError when the assembly does not have it */
export function codeDirectory(spec: FunctionSpec, assembly: Assembly, codeRoot: string): string {
  const path = `${spec.logicalId}.Properties.Code`;
  if ('inline' in spec.code) {
    const directory = join(codeRoot, spec.logicalId);
    mkdirSync(directory, { recursive: true });
    const ending = /^\s*(import|export)\s/m.test(spec.code.inline) ? 'mjs' : 'cjs';
    writeFileSync(join(directory, `index.${ending}`), spec.code.inline);
    return directory;
  }
  const { objectKey } = spec.code;
  const hinted = spec.assetHint === undefined ? undefined : assembly.filePath(spec.assetHint);
  const directory = assembly.assetPath(objectKey) ?? hinted;
  if (directory === undefined || !existsSync(directory)) {
    throw new TemplateError(path, `the asset ${objectKey} is not in the assembly: run "cdk synth" again`);
  }
  if (!statSync(directory).isDirectory()) {
    throw new TemplateError(
      path,
      `${directory} is a file; supported are asset folders (asset.<hash>/) and inline code`,
    );
  }
  return directory;
}
