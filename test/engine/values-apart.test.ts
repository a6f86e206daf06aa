/** Storing values outside the table, before the record that names them, and their keys (V1–V3). */

import type { LargeValues } from '../../lib/core/ports.ts';
import { valueKeysIn } from '../../lib/core/records/large-values.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import { executionApart } from '../../lib/engine/values-apart.ts';
import { textHash } from '../../lib/memory/text-hash.ts';
import { anExecution } from '../contract/records.ts';

function place() {
  const objects = new Map<string, string>();
  const fails = new Set<string>();
  const values: LargeValues = {
    hash: textHash,
    above: 10,
    put: async (key, json) => {
      if (fails.delete('once')) throw new Error('no answer');
      objects.set(key, json);
    },
    get: async (key) => objects.get(key),
  };
  return { values, objects, fails };
}

const withInput = (text: string, changes: Partial<Execution> = {}): Execution =>
  anExecution({ input: { text: text.repeat(20) }, ...changes });
const namedBy = (execution: Execution): readonly string[] => valueKeysIn({ execution, steps: {} });

it('a value of the next life of an execution is put again, under its own key', async () => {
  const { values, objects } = place();
  const first = await executionApart(values, withInput('x', { life: 'one' }));
  const second = await executionApart(values, withInput('x', { life: 'two' }));
  expect([...objects.keys()]).toEqual([...namedBy(first), ...namedBy(second)]);
});

it('a put that failed is made again by the next write', async () => {
  const { values, objects, fails } = place();
  fails.add('once');
  await expect(executionApart(values, withInput('x'))).rejects.toThrow('no answer');
  const written = await executionApart(values, withInput('x', { writeId: 'w-2' }));
  expect([...objects.keys()]).toEqual(namedBy(written));
});

it('the next write of a record names what was put, and puts what it has instead', async () => {
  const { values, objects } = place();
  const first = await executionApart(values, withInput('x'));
  const again = await executionApart(values, withInput('x', { writeId: 'w-2' }));
  expect(again.inputAt).toEqual(first.inputAt);
  expect(objects.size).toBe(1);
  const { inputAt } = first;
  const other = await executionApart(values, {
    ...withInput('y', { writeId: 'w-3' }),
    ...(inputAt === undefined ? {} : { inputAt }),
  });
  expect(objects.get(namedBy(other)[0] ?? '')).toBe(JSON.stringify({ text: 'y'.repeat(20) }));
});
