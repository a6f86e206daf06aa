/** What `test/outside.mjs` loads once for all test files of a worker. */
const OUTSIDE = 'aws-cdk-lib/([^/]+/)?index\\.js$|(constructs|cdk-nag)/lib/index\\.js$';

/** @type {import('jest').Config} */
export default {
  globalSetup: '<rootDir>/test/interpreter.mjs',
  testEnvironment: '<rootDir>/test/environment.mjs',
  testSequencer: '<rootDir>/test/sequencer.mjs',
  reporters: ['default', '<rootDir>/test/suites/left-out.mjs'],
  roots: ['<rootDir>/test', '<rootDir>/examples'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    [`/node_modules/(${OUTSIDE})`]: '<rootDir>/test/outside.mjs',
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  transformIgnorePatterns: [`/node_modules/(?!${OUTSIDE})`],
  moduleNameMapper: {
    '^steadfast$': '<rootDir>/lib/index.ts',
    '^steadfast/(cdk|client)$': '<rootDir>/lib/$1.ts',
    '^steadfast/testing$': '<rootDir>/lib/testing/kit/test-workflow.ts',
  },
  // One more than the two cores that there are at least: a third of the time of test/e2e and test/local is waiting. A worker
  // starts anew before what the ESM loader never frees fills its heap.
  maxWorkers: 3,
  workerIdleMemoryLimit: '1.5GB',
  // For tests that hang, and not for slow ones: a machine that is busy with other things must fail none.
  testTimeout: 600_000,
};
