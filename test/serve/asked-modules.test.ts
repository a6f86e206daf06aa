/** `serve` finds the exports of agents by loading their modules, not by reading the files' text. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadWorkflows } from '../../serve/workflows.ts';
import { eachFolder } from '../fresh-folder.ts';

const LIBRARY = join(import.meta.dirname, '../../lib/index.ts');
const ZOD = import.meta.resolve('zod/mini');

const WORKFLOW = `import { agent, workflow } from '${LIBRARY}';
import * as z from '${ZOD}';
const text = z.object({ text: z.string() });
export const pay = agent('pay', { input: text, output: text, effect: 'idempotent', undo: 'required' });
export const ship = agent('ship', { input: text, output: text, effect: 'none' });
export const order = workflow('order', { input: text, within: '1h' }, (w) => {
  const paid = w.step('pay', pay, w.input);
  return w.step('ship', ship, { text: paid.output.text }).output;
});
`;
const SHIP = `import { ship } from '../workflow.ts';
export const handler = ship.handler({ execute: async (_, input) => input });
`;
const payWith = (parts: string): string => `import { pay } from '../workflow.ts';
export const handler = pay.handler({ execute: async (_, input) => input${parts} });
`;

let root: string;
eachFolder('asked', (path) => (root = path));

function load(pay: string) {
  const agents = join(root, 'order', 'agents');
  mkdirSync(agents, { recursive: true });
  for (const [path, text] of Object.entries({ '../workflow': WORKFLOW, pay, ship: SHIP }))
    writeFileSync(join(agents, `${path}.ts`), text);
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }');
  return loadWorkflows(root, ['.']);
}

it('takes an agent that has all parts', async () => {
  const { agents } = await load(payWith(', undo: async () => {}'));
  expect([...agents.keys()]).toEqual(['pay', 'ship']);
});

it.each([
  ['a part that is missing', payWith(''), /^order\/agents\/pay\.ts has no undo, with which the agent 'pay'/],
  ['a handler of another agent', SHIP, /^order\/agents\/pay\.ts exports the handler of the agent 'ship'/],
  ['no handler', 'export const it = 1;\n', /^order\/agents\/pay\.ts does not export 'handler'/],
  ['what fails', "throw new Error('no such table');\n", /^order\/agents\/pay\.ts cannot be loaded: no such/],
])('refuses %s', async (_, pay, said) => {
  await expect(load(pay)).rejects.toThrow(said);
});
