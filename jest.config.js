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
  // A test that needs more than this is wrong or is the end-to-end suite, which sets its own.
  testTimeout: 10_000,
};
