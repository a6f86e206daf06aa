/** @type {import('jest').Config} */
export default {
  testEnvironment: '<rootDir>/test/environment.mjs',
  testSequencer: '<rootDir>/test/sequencer.mjs',
  roots: ['<rootDir>/test', '<rootDir>/examples'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  moduleNameMapper: {
    '^steadfast$': '<rootDir>/lib/index.ts',
    '^steadfast/(cdk|client)$': '<rootDir>/lib/$1.ts',
    '^steadfast/testing$': '<rootDir>/lib/testing/kit/test-workflow.ts',
  },
  // One more than the two cores that there are at least: a third of the time of test/e2e and test/local is waiting. A worker
  // starts anew before what the ESM loader never frees (all of aws-cdk-lib, once for each file of test/infra) fills its heap.
  maxWorkers: 3,
  workerIdleMemoryLimit: '1GB',
  // For tests that hang, and not for slow ones: a machine that is busy with other things must fail none.
  testTimeout: 600_000,
};
