/** An interrupted run starts no further work while it removes its resources. */

import { EventEmitter } from 'node:events';
import { onInterrupt } from '../../../cli/verify/interrupt.ts';
import { run } from '../../../cli/verify/run.ts';
import { FakeDeployment, fakePorts } from './fake-deployment.ts';

const said: string[] = [];
const io = { err: (text: string) => said.push(text) };

function signals() {
  const exits: unknown[] = [];
  let exited = (): void => {};
  const over = new Promise<void>((resolve) => {
    exited = resolve;
  });
  const exit = (code: unknown): never => {
    exits.push(code);
    exited();
    return undefined as never;
  };
  return { on: Object.assign(new EventEmitter(), { exit }) as unknown as NodeJS.Process, exits, over };
}

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'after %s no check begins, and all is removed',
  async (signal) => {
    const { on, exits, over } = signals();
    const stopped: string[] = [];
    const interrupt = onInterrupt(io, async () => void stopped.push('removed'), on);
    const fake = new FakeDeployment();
    const ports = fakePorts(fake);
    const begun: string[] = [];
    const check = (id: string) => ({
      id,
      row: id,
      area: 'Executions' as const,
      phase: 'executions' as const,
      needs: [],
      expected: '',
      run: async () => {
        begun.push(id);
        if (begun.length === 1) on.emit(signal);
        return { ok: true, evidence: id };
      },
    });
    const { passed } = interrupt;
    const entries = Array.from({ length: 20 }, (_, at) => check(`check-${at}`));
    const lines: string[] = [];
    const say = (line: string): unknown => lines.push(line);
    void run(entries, ports, { say, passed });
    await over;
    // Only those that had begun together with the first.
    expect(begun.length).toBeLessThanOrEqual(4);
    expect(lines).toEqual(['executions: 20 checks']);
    expect([stopped, exits]).toEqual([['removed'], [1]]);
  },
);

it('says what could not be removed', async () => {
  const { on, over } = signals();
  onInterrupt(io, () => Promise.reject(new Error("'Shop' is not removed")), on);
  on.emit('SIGINT');
  await over;
  expect(said.join('')).toContain("'Shop' is not removed");
});
