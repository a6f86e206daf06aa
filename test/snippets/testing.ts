/** The code of docs/TESTING.md: tests of the first project. */

import { type Files, namedBlocks, read } from './blocks.ts';
import { firstFiles } from './readme.ts';

/** The test files on the page. */
export const shownTests: Files = new Map(namedBlocks(read('docs/TESTING.md')));
export const testingFiles: Files = new Map([...firstFiles, ...shownTests]);
