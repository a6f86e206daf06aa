/** Printed documents say what the code says. */

import { readFileSync } from 'node:fs';
import { printStateMachine, STATE_MACHINE_FILE } from '../scripts/print-state-machine.ts';

describe('docs/STATE-MACHINE.md', () => {
  it('is what the tables say; else run npm run docs', () => {
    expect(readFileSync(STATE_MACHINE_FILE, 'utf8')).toBe(printStateMachine());
  });

  it('is printed the same every time, with every diagram closed', () => {
    expect(printStateMachine()).toBe(printStateMachine());
    expect(printStateMachine().match(/```/g)).toHaveLength(4);
  });
});
