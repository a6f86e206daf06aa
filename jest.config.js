/** @type {import('jest').Config} */
export default {
  globalSetup: '<rootDir>/test/global-setup.mjs',
  testEnvironment: '<rootDir>/test/environment.mjs',
  testSequencer: '<rootDir>/test/sequencer.mjs',
  reporters: ['default', '<rootDir>/test/suites/left-out.mjs'],
  roots: ['<rootDir>/test', '<rootDir>/examples'],
  testMatch: ['**/*.test.ts'],
  // Modules are Node's own, by tsx; nothing is left for Jest to transform.
  runtime: '<rootDir>/test/runtime.cjs',
  transform: {},
  // One more than the two cores that there are at least: a third of the time of test/e2e and test/local is
  // waiting. A worker starts anew before what its files leave behind fills its heap. `npm run test:processes`
  // has four workers, because it waits most of its time.
  maxWorkers: 3,
  workerIdleMemoryLimit: '1.5GB',
  // For tests that hang, and not for slow ones: a machine that is busy with other things must fail none.
  testTimeout: 600_000,
};
