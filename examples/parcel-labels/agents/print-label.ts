/** Prints a label: done by `print-label/main.py`, which its image holds beside this code. */

import { remoteAgent } from 'steadfast';
import { printLabel } from '../contracts.ts';

export const handler = remoteAgent(printLabel, {
  command: ['python3', 'print-label/main.py'],
  folder: import.meta.dirname,
});
