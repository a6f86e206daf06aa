/** Makes copies of the tree for planting bugs; the work tree itself is never changed. */

import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Mutant, mutatedFiles } from './mutant.ts';

export const ROOT: string = join(import.meta.dirname, '../..');
const COPIED = [
  'bench/parts',
  'bin',
  'console',
  'kit',
  'lib',
  'local',
  'proof',
  'serve',
  'lambdas',
  'test',
  'scripts',
  'examples',
  'docs',
  'package.json',
  'tsconfig.json',
  'jest.config.js',
  'cdk.json',
];

export interface Scratch {
  readonly root: string;
  /** Plants a bug. @returns the function that restores the tree */
  readonly apply: (mutant: Mutant) => () => void;
  readonly remove: () => void;
}

export function scratchCopy(): Scratch {
  const root = mkdtempSync(join(tmpdir(), 'steadfast-mutant-'));
  for (const name of COPIED) cpSync(join(ROOT, name), join(root, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const read = (file: string): string => readFileSync(join(root, file), 'utf8');
  return {
    root,
    apply: (mutant) => {
      const texts = mutatedFiles(mutant, read);
      const before = [...texts.keys()].map((file): [string, string] => [file, read(file)]);
      for (const [file, text] of texts) writeFileSync(join(root, file), text);
      return () => {
        for (const [file, text] of before) writeFileSync(join(root, file), text);
      };
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
