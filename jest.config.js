/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
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
    '^steadfast/testing$': '<rootDir>/lib/testing/kit/test-workflow.ts',
  },
  // Both cores, also where jest would leave one idle and run all files in its own process; and a worker starts anew before
  // what the ESM loader never frees (all of aws-cdk-lib, once for each file of test/infra) fills its heap.
  maxWorkers: 2,
  workerIdleMemoryLimit: '1GB',
  // A test that needs more than this is wrong or is the end-to-end suite, which sets its own.
  testTimeout: 10_000,
};
