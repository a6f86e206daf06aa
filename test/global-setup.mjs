/**
 * Sets, before all test files, which Python they start, how their workers compile, and esbuild's memory
 * limit. If `python3` is a script that selects a version, as with pyenv, it starts many times more slowly
 * than Python itself.
 */

import { execFileSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';

/**
 * The compiler flags, the same as for simulated worlds (`proof/simulation/processes.ts`), because they run
 * the same code.
 */
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
