/** The tests in a browser, which `npm test` neither needs nor searches: `npm run test:browser`. */

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
