/** Runs bin/steadfast.ts with tsx in this process, as `node --import tsx` does. */
'use strict';

import('tsx')
  .then(() => import('./steadfast.ts'))
  .catch((error) => {
    console.error(error);
    process.exitCode = 1;
  });
