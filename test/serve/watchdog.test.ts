/** The watchdog ends a server whose attempt continues past its process deadline; pauses do not count. */

import { Script } from 'node:vm';
import { WATCH } from '../../serve/watchdog.ts';

const EVERY_MS = 250;

/** Runs the thread's code with a simulated clock. @param forMs the time that the attempt may take */
function watched(forMs: number): { readonly pass: (ms: number) => void; readonly killed: () => number } {
  const shared = new SharedArrayBuffer(3 * Float64Array.BYTES_PER_ELEMENT);
  const lines: string[] = [];
  const modules: Record<string, object> = {
    'node:worker_threads': { workerData: { shared, names: ['pay'] } },
    'node:fs': { writeSync: (_: number, line: string) => lines.push(line) },
  };
  let now = 0;
  let turn: () => void = () => undefined;
  new Script(WATCH).runInNewContext({
    require: (name: string) => modules[name],
    performance: { now: () => now },
    setInterval: (each: () => void) => void (turn = each),
    process: { pid: 1, kill: () => undefined },
    Float64Array,
  });
  new Float64Array(shared)[1] = forMs;
  const pass = (ms: number): void => {
    now += ms;
    turn();
  };
  return { pass, killed: () => lines.filter((line) => line.includes('process-deadline-passed')).length };
}

it('lets no time pass in which the process, or the machine, stood still', () => {
  const { pass, killed } = watched(10_000);
  pass(EVERY_MS);
  pass(75_000);
  for (let at = 0; at < 8_500 / EVERY_MS; at += 1) pass(EVERY_MS);
  expect(killed()).toBe(0);
  for (let at = 0; at < 2_000 / EVERY_MS; at += 1) pass(EVERY_MS);
  expect(killed()).toBeGreaterThan(0);
});
