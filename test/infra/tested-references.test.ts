/** References that a workflow's file tests as if they were values. */

import { discoverWorkflows } from '../../lib/infra/discover.ts';
import { testedReferences } from '../../lib/infra/tested-references.ts';
import { AGENT_MODULE, project, workflowModule } from './fixture.ts';

const around = (line: string): string =>
  `export const a = workflow('a', { within: '1 hour' }, (w) => {\n  const paid = w.step('pay', pay, {});\n  ${line}\n});\n`;

test.each([
  ['if (w.input.gift) wrap();', 'w.input.gift'],
  ['if (!paid.output.id) wrap();', 'paid.output.id'],
  ['const x = w.input.gift ? 1 : 2;', 'w.input.gift'],
  ['return w.input.gift && wrap();', 'w.input.gift'],
  ['f({ a: !w.input.gift || 1 });', 'w.input.gift'],
])('%s is told, with its line and what to write', (line, reference) => {
  const told = testedReferences(around(line), 'workflow.ts');
  expect(told).toHaveLength(1);
  expect(told[0]).toContain(`workflow.ts:3 tests the reference ${reference}, which is always true`);
  expect(told[0]).toContain(`exists(${reference})`);
});

test.each([
  'f({ when: exists(w.input.gift) });',
  '// if (w.input.gift) wrap();',
  "f('if (w.input.gift)');",
  'if (gifts.has(w.input.gift)) wrap();',
  'if (options.gift) wrap();',
])('%s is not', (line) => {
  expect(testedReferences(around(line), 'workflow.ts')).toEqual([]);
});

test('discovery warns of it', async () => {
  const tests = 'export const later = (workflow) => workflow((w) => (w.input.gift ? 1 : 2));';
  const root = project({
    'examples/order/workflow.ts': `${workflowModule('order', ['pay'])}\n${tests}\n`,
    'examples/order/agents/pay.ts': AGENT_MODULE,
  });
  const { warnings } = await discoverWorkflows({ root, folders: ['examples'] });
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(/^examples\/order\/workflow\.ts:\d+ tests the reference w\.input\.gift, /);
});
