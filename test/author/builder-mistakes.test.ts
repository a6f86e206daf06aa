/**
 * Authors without types: reading a field that the builder or a reference does not have throws an error with
 * the remedy.
 */

import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Input = z.object({ id: z.string(), ids: z.array(z.string()) });
const one = agent('one', { input: Input, output: Input, effect: 'idempotent', undo: 'none' });
// oxlint-disable-next-line typescript/no-explicit-any
type Untyped = any;

const built = (build: (w: Untyped) => unknown) => () =>
  workflow('flow', { input: Input, within: '1h' }, (w) => {
    w.step('first', one, w.input);
    build(w);
  });

test.each<[string, (w: Untyped) => unknown, string]>([
  ['a field', (w) => w.step('s', one, { id: w.inputs.id }), 'w.inputs does not exist; did you mean w.input?'],
  ['a method', (w) => w.stepp('s', one, w.input), 'w.stepp does not exist; did you mean w.step?'],
  ['a word of other engines', (w) => w.sleep('s', '1h'), 'w.sleep does not exist; did you mean w.wait?'],
  ['an activity', (w) => w.activity('s', one), 'w.activity does not exist; did you mean w.step?'],
  [
    'a method of another system',
    (w) => w.runActivity('s'),
    'w.runActivity does not exist; there are input, step',
  ],
  [
    'a loop',
    (w) => {
      for (const id of w.input.ids) w.step(`s-${id}`, one, { id });
    },
    "input.ids has no value while the workflow is built: a list of the execution goes to a step, write w.map('…', input.ids, agent, (item) => ({ … })), and one item is read by its place, input.ids[0]",
  ],
  ['a copy of a list', (w) => [...w.input.ids], "write w.map('…', input.ids, agent"],
  ['what Array.from makes', (w) => Array.from(w.input.ids), "write w.map('…', input.ids, agent"],
  [
    'a variable that is declared later',
    () => {
      const read = (): unknown => late.output;
      read();
      const late = { output: 1 };
    },
    "Cannot access 'late' before initialization: late is used before it is declared; declare it first",
  ],
])('%s is refused with what to write', (_, build, message) => {
  expect(built(build)).toThrow(expect.objectContaining({ message: expect.stringContaining(message) }));
});

test('an error of the author’s own that reads a name gets no remedy', () => {
  const config: Untyped = {};
  expect(built(() => config.shop.name)).toThrow(
    expect.objectContaining({
      message: "workflow 'flow', after step 'first': Cannot read properties of undefined (reading 'name')",
    }),
  );
});

test('the builder may be inspected, awaited and made text', async () => {
  let seen: Untyped;
  built((w) => void (seen = w))();
  expect(String(seen)).toBe('[object Object]');
  expect(await Promise.resolve(seen)).toBe(seen);
  expect(JSON.stringify(Object.keys(seen))).toContain('step');
});
