/** Which process a test's kill of the local cloud means, and which kills are refused. */

import type { System } from '../../../cli/dev/system.ts';
import { controlOf } from '../../../kit/cloud/control.ts';
import { startCloud, startServer } from '../../../kit/test-workflow.ts';
import type { FaultMoment } from '../../../local/control/fault.ts';

const hit = Promise.resolve({ outcome: 'hit', at: 0, pids: [1] } as const);

function system(): { readonly killed: unknown[]; readonly control: ReturnType<typeof controlOf> } {
  const killed: unknown[] = [];
  const control = {
    kill: (name: string, when: FaultMoment) => {
      killed.push([name, when]);
      return { id: name, hit };
    },
    functions: () => [],
    clearFaults: () => undefined,
  };
  const killWorker = async (agent: string): Promise<readonly number[]> => {
    killed.push(agent);
    return [7];
  };
  const cloud = { control, resources: new Map() };
  const whole = { workers: ['print-label'], killWorker, cloud } as unknown as System;
  return { killed, control: controlOf(whole) };
}

it('kills the worker of an agent in a container now, and refuses any other moment', async () => {
  const { killed, control } = system();
  await expect(control.kill('print-label').hit).resolves.toMatchObject({ outcome: 'hit', pids: [7] });
  control.kill('print-label', 'now');
  for (const when of [{ afterCall: 1 }, { nextEvent: true }, { holding: 'o-1' }] as const)
    expect(() => control.kill('print-label', when)).toThrow(
      /agent 'print-label' runs in a container, .*: write kill\('print-label'\), which kills it at once/,
    );
  control.kill('charge-card', { afterCall: 1 });
  expect(killed).toEqual(['print-label', 'print-label', ['charge-card', { afterCall: 1 }]]);
});

it('kills a worker at once where random kills have drawn a moment', async () => {
  const { killed, control } = system();
  const kills = control.killAtRandom({ seed: 1, everyMs: 1, functions: ['print-label'] });
  await until(() => kills.count() > 3);
  kills.stop();
  expect(new Set(killed)).toEqual(new Set(['print-label']));
});

/** Turns of the event loop, in which the kills' timers fire. */
async function until(isOver: () => boolean): Promise<void> {
  while (!isOver()) await new Promise((turn) => setImmediate(turn));
}

it.each([
  [
    { assembly: 'cdk.out', context: { a: 1 }, workflows: 'w' },
    /context, workflows: an assembly is not synth/,
  ],
  [{ workflows: 'w', app: 'node app.js' }, /app: with workflows the app is made/],
])('refuses options of a cloud that another one makes void: %j', async (options, message) => {
  await expect(startCloud(options)).rejects.toThrow(message);
});

it('refuses agents of a server for a folder, which has its own', async () => {
  const agent = { worker: undefined } as never;
  await expect(startServer({ workflows: 'examples', agents: [agent] })).rejects.toMatchObject({
    code: 'bad-agents',
  });
});
