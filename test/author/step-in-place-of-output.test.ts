/** Passing a step instead of its output is refused, with the position and the correction. */

import { agent, type WorkflowBuilder, workflow } from 'steadfast';
import * as z from 'zod/mini';
import { DeclaredStep } from '../../lib/author/references.ts';

const act = agent('act', {
  input: z.object({ id: z.any() }),
  output: z.object({ id: z.string() }),
  effect: 'none',
  undo: 'none',
});

type Builder = WorkflowBuilder<{ id: string }>;
const built = (build: (w: Builder, first: never) => unknown) => () =>
  workflow('shop', { input: z.object({ id: z.string() }), within: '1h' }, (w) => {
    const first = w.step('first', act, { id: w.input.id });
    return build(w as Builder, first as never) as never;
  });

const wrong = (where: string): string =>
  `${where} is not plain JSON but of class DeclaredStep: give its \`.output\``;

it.each<[string, Parameters<typeof built>[0], string]>([
  ['the output', (_, first) => ({ paid: first }), wrong('/paid')],
  ['the whole output', (_, first) => first, wrong('the value')],
  ['an input', (w, first) => void w.step('second', act, { id: first }), wrong('/id')],
  ['a whole input', (w, first) => void w.step('second', act, first), wrong('the value')],
  [
    'what an input nests',
    (w, first) => void w.step('second', act, { id: { all: [1, first] } }),
    wrong('/id/all/1'),
  ],
  ['a condition', (w, first) => void w.step('second', act, { id: 'x' }, { when: first }), wrong('the value')],
])('as %s', (_where, build, message) => {
  expect(built(build)).toThrow(message);
});

it('names a step to wait for by itself', () => {
  expect(built((w, first) => void w.step('second', act, { id: 'x' }, { after: [first] }))).not.toThrow();
});

it('is said by a name that no minifier changes', () => {
  // A class's own name is not enumerable, and is minified to a letter.
  expect(Object.getOwnPropertyDescriptor(DeclaredStep, 'name')).toMatchObject({
    value: 'DeclaredStep',
    enumerable: true,
  });
});
