/** The kit works in a process whose timers were faked before it was loaded, as by a Jest set-up. */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const SCRIPT = `
const never = () => 0;
const names = ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate'];
for (const name of names) globalThis[name] = never;
globalThis.Date = class extends Date { static now() { return 0; } };
const { bookTrip, goodAgents } = await import('./test/kit/trip.ts');
const { testWorkflow } = await import('steadfast/testing');
const { agents } = goodAgents();
const { status } = await (await testWorkflow(bookTrip, { agents }).start({ trip: 'to Ghent' })).waitForEnd();
console.log('ended:', status);
`;

test('an execution ends', () => {
  const line = ['--import', 'tsx', '--input-type=module', '-e', SCRIPT];
  const cwd = join(import.meta.dirname, '..', '..');
  const { stdout, stderr } = spawnSync(process.execPath, line, { cwd, encoding: 'utf8' });
  expect([stdout, stderr]).toEqual(['ended: succeeded\n', '']);
});
