/**
 * Loads bin/steadfast: as published, or in the repository its source, with tsx in this
 * process as `node --import tsx` does.
 */
'use strict';

const { existsSync } = require('node:fs');

// Keeps compiled code, if Node can, so that the next start is faster.
require('node:module').enableCompileCache?.();

const isRepository = existsSync(`${__dirname}/steadfast.ts`);

(isRepository
  ? import('tsx').then(() => import('./steadfast.ts'))
  : import('../dist/bin/steadfast.js')
).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
