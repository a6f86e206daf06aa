/**
 * Once, before all test files: the Python that they start, how their workers compile, and how much memory
 * esbuild may take.
 *
 * Where `python3` is a script that chooses among several versions, as with pyenv, every start of it takes
 * many times as long as Python's own.
 */

import { execFileSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';

/** The same as for simulated worlds, whose code is the same (`proof/simulation/processes.ts`). */
const FLAGS = [
  '--min-semi-space-size=16',
  '--max-semi-space-size=16',
  ...(process.versions.node.startsWith('20.') ? ['--interrupt-budget=540672'] : []),
  '--maglev',
];

export default function setUp() {
  findPython();
  // Jest starts its workers as it was started itself.
  process.execArgv.push(...FLAGS);
  // esbuild bundles and ends: a third of its time would go into finding memory to give back.
  process.env.GOGC ??= '400';
}

function findPython() {
  const program = 'import sys; print(sys.executable)';
  try {
    const folder = dirname(execFileSync('python3', ['-c', program], { encoding: 'utf8' }).trim());
    const { PATH = '' } = process.env;
    if (!PATH.split(delimiter).includes(folder)) process.env.PATH = `${folder}${delimiter}${PATH}`;
  } catch {
    // The tests that need it say so themselves.
  }
}
