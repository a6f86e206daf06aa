/**
 * Writes the documents that are printed from the code.
 *
 *   npm run docs             writes them
 *   npm run docs -- --check  exits with 1 if one does not match the code
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { printNotVerified } from '../cli/verify/page.ts';
import { printCookbook } from './print-cookbook.ts';
import { printFailures } from './print-failures.ts';
import { printHttp } from './print-http.ts';
import { printReference } from './print-reference.ts';
import { printOpenapi } from './print-openapi.ts';
import { printStateMachine } from './print-state-machine.ts';

/** By path relative to the project's root. */
export const PRINTED: Readonly<Record<string, () => string>> = {
  'docs/STATE-MACHINE.md': printStateMachine,
  'docs/HTTP.md': printHttp,
  'docs/COOKBOOK.md': printCookbook,
  'docs/FAILURES.md': printFailures,
  'docs/REFERENCE.md': printReference,
  'docs/openapi.json': printOpenapi,
  'docs/not-verified.md': printNotVerified,
};

/** @returns nothing if the document is missing, which counts as stale */
export function writtenDocument(path: string): string | undefined {
  try {
    return readFileSync(fileOf(path), 'utf8');
  } catch {
    return undefined;
  }
}

const fileOf = (path: string): string => join(import.meta.dirname, '..', path);

function main(): void {
  for (const [path, print] of Object.entries(PRINTED)) {
    const wanted = print();
    if (!process.argv.includes('--check')) {
      writeFileSync(fileOf(path), wanted);
      console.log(`${path} is written`);
    } else if (writtenDocument(path) !== wanted) {
      console.error(`${path} is not what the code says: run npm run docs`);
      process.exitCode = 1;
    }
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
