/**
 * How the console is built: static files with relative addresses, so that they are served under any path.
 *
 * Owns: what a strict content security policy asks for: no script or style in the page
 * itself, nothing as a `data:` address.
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
