/** The configuration of the browser tests (`npm run test:browser`); `npm test` does not run them. */

import everything from '../../jest.config.js';

/** @type {import('jest').Config} */
export default {
  ...everything,
  rootDir: '../..',
  roots: ['<rootDir>/test/browser'],
  testMatch: ['**/*.browser.ts'],
  maxWorkers: 2,
  testTimeout: 120_000,
};
