/**
 * Builds the console as static files with relative addresses, so that any path can serve them.
 *
 * They satisfy a strict content security policy: no inline script or style, no `data:` address.
 */

import { join } from 'node:path';
import type { UserConfig } from 'vite';

const config: UserConfig = {
  root: import.meta.dirname,
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: join(import.meta.dirname, '..', 'dist', 'console'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 600,
  },
  logLevel: 'warn',
};

export default config;
