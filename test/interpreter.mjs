/**
 * Finds the Python that tests start, once: where `python3` is a script that chooses among several versions,
 * as with pyenv, every start takes many times as long as Python's own.
 */

import { execFileSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';

export default function findPython() {
  const program = 'import sys; print(sys.executable)';
  try {
    const folder = dirname(execFileSync('python3', ['-c', program], { encoding: 'utf8' }).trim());
    const { PATH = '' } = process.env;
    if (!PATH.split(delimiter).includes(folder)) process.env.PATH = `${folder}${delimiter}${PATH}`;
  } catch {
    // The tests that need it say so themselves.
  }
}
