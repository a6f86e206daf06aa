/**
 * A Jest reporter: the last line of each suite names the tests that it left out, and the command that runs
 * them.
 */

const LEFT_OUT = {
  'logic.cjs':
    'Left out: local clouds, synthesis, bundles (npm run test:processes), the browser (npm run test:browser) and what takes too long for every commit (npm run test:nightly). Each commit: .ci/run.',
  'processes.cjs':
    'Left out: what npm test runs, the browser (npm run test:browser) and what takes too long for every commit (npm run test:nightly). Each commit: .ci/run.',
  'nightly.cjs': 'Left out: what each commit runs (.ci/run).',
};

export default class {
  #said;

  constructor({ filter = '', nonFlagArgs = [] }) {
    // With files named, the others are left out on purpose.
    this.#said = nonFlagArgs.length > 0 ? undefined : LEFT_OUT[filter.split(/[/\\]/).at(-1)];
  }

  onRunComplete() {
    const said = this.#said;
    // Jest's own summary is written after all reporters have run.
    if (said !== undefined) process.once('exit', () => process.stderr.write(`\n${said}\n`));
  }
}
