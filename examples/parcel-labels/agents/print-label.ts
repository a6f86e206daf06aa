/** Prints a label: `print-label/main.py`, which is in the agent's image beside this code, does the work. */

import { remoteAgent } from 'steadfast';
import { printLabel } from '../contracts.ts';

export const handler = remoteAgent(printLabel, {
  command: ['python3', 'print-label/main.py'],
  folder: import.meta.dirname,
});
