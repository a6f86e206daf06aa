/**
 * All code in documents and in `@example`s compiles, in one compiler run. The state machines pass their own
 * validator.
 */

import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT, written } from './snippets/blocks.ts';
import { deployFiles } from './snippets/deploy.ts';
import { exampleFiles } from './snippets/examples.ts';
import { durableFiles, temporalFiles } from './snippets/from-others.ts';
import { machines, stepFunctionsFiles } from './snippets/from-step-functions.ts';
import { readmeFiles } from './snippets/readme.ts';
import { testingFiles } from './snippets/testing.ts';

const PAGES = {
  readme: readmeFiles,
  testing: testingFiles,
  deploy: deployFiles,
  'step-functions': stepFunctionsFiles,
  temporal: temporalFiles,
  'durable-functions': durableFiles,
  examples: exampleFiles,
} as const;

const made: string[] = [];
const writtenHere: typeof written = (name, files) => {
  const folder = written(name, files);
  made.push(folder);
  return folder;
};
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** @returns the compiler's output */
function compiled(folders: readonly string[]): string {
  const include = folders.map((folder) => `../${basename(folder)}`);
  const config = { extends: '../../tsconfig.json', include };
  const root = writtenHere('types', new Map([['tsconfig.json', JSON.stringify(config)]]));
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  try {
    return execFileSync(process.execPath, [tsc, '-p', root], { encoding: 'utf8' });
  } catch (error) {
    return (error as { readonly stdout: string }).stdout;
  }
}

test('the types of all pages are right, and a wrong one would be found', () => {
  const folders = Object.entries(PAGES).map(([name, files]) => writtenHere(name, files));
  const planted = writtenHere('planted', new Map([['wrong.ts', "export const one: number = '1';\n"]]));
  const said = compiled([...folders, planted]);
  expect(said.trim().split('\n')).toEqual([expect.stringMatching(/planted-\w+\/wrong\.ts.*TS2322/)]);
});

test('the most used exports have an example each', () => {
  expect(exampleFiles.size).toBeGreaterThanOrEqual(40);
});

test('the state machines of docs/FROM-STEP-FUNCTIONS.md are valid, as a validator of theirs says', () => {
  const root = writtenHere('machines', new Map(machines.map((text, at) => [`${at}.asl.json`, text])));
  const validator = join(ROOT, 'node_modules', '.bin', 'asl-validator');
  const files = machines.flatMap((_, at) => ['--json-path', join(root, `${at}.asl.json`)]);
  const validate = (args: readonly string[]) => () => execFileSync(validator, args, { stdio: 'pipe' });
  expect(validate(files)).not.toThrow();
  const wrong = (machines[0] ?? '').replace('"End": true', '"Next": "Nowhere"');
  expect(validate(['--json-definition', wrong])).toThrow();
});
