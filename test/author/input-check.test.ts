/** Inputs that a schema refuses, fields that it drops, and invalid names are found before a workflow runs. */

import * as z from 'zod/mini';
import { agent, retry, withInput, workflow } from 'steadfast';
import { isLikeSecret, oddNames } from '../../lib/author/schemas/odd-names.ts';
import { referenceProblems } from '../../lib/author/schemas/reference-check.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { jsonSchemaOf, noJsonIn } from '../../lib/infra/json-schema.ts';

const Input = z.object({ id: z.string(), apiKey: z.optional(z.string()) });
const Place = z.object({ city: z.string() });
const book = agent('book', {
  input: z.object({ id: z.string(), size: z.optional(z.enum(['s', 'm'])), to: z.optional(Place) }),
  output: z.object({ ok: z.boolean() }),
  effect: 'idempotent',
  undo: 'required',
});
const problemsOf = (input: (id: string) => object, options: object = {}): string[] => {
  const made = workflow(
    'trip',
    { input: Input, within: '1h' },
    (w) => void w.step('go', book, input(w.input.id as never) as never, options),
  );
  return referenceProblems(made as Workflow, jsonSchemaOf);
};

it.each<[string, (id: string) => object, string[]]>([
  ['what fits', (id) => ({ id, size: 's', to: { city: 'Ghent' } }), []],
  [
    'a field that is left out',
    () => ({}),
    ["workflow 'trip', step 'go': agent 'book' refuses its input: id is missing"],
  ],
  [
    'a constant of another type',
    () => ({ id: 5 }),
    [expect.stringContaining("agent 'book' refuses its input: id: ") as never],
  ],
  [
    'a constant beside a reference',
    (id) => ({ id, size: 'xl' }),
    [expect.stringContaining('refuses its input: size: ') as never],
  ],
  ['a field of a field', (id) => ({ id, to: {} }), [expect.stringContaining('to.city is missing') as never]],
  [
    'a field that is dropped',
    (id) => ({ id, retries: 3 }),
    [
      "workflow 'trip', step 'go': it gives agent 'book' the field retries, which its input does not have: there are id, size, to",
    ],
  ],
  [
    'a misspelled one',
    (id) => ({ id, sizee: 's' }),
    [expect.stringContaining('did you mean size?') as never],
  ],
  [
    'an object in the place of one of its fields',
    (id) => ({ id, to: id }),
    ["workflow 'trip', step 'go': agent 'book' takes an object as to, and input.id is a text"],
  ],
])('of an input: %s', (_, input, problems) => {
  expect(problemsOf(input)).toEqual(problems);
});

it('an output in the place of one of its fields is refused, and a schema that makes text of it is believed', () => {
  const print = agent('print', {
    input: z.object({ text: z.string(), any: z.coerce.string() }),
    output: z.object({}),
    effect: 'none',
  });
  const made = workflow('trip', { input: Input, within: '1h' }, (w) => {
    const { output } = w.step('go', book, { id: w.input.id });
    w.step('print', print, { text: output as never, any: output as never });
  });
  expect(referenceProblems(made as Workflow, jsonSchemaOf)).toEqual([
    "workflow 'trip', step 'print': agent 'print' takes a text as text, and go.output is an object: give one of its fields (go.output.…)",
  ]);
});

it('also of an input that the recovery tries', () => {
  const recovery = [retry(1), withInput({ id: 'x', size: 'xl' })];
  expect(problemsOf((id) => ({ id }), { recovery })).toEqual([expect.stringContaining('size: ')]);
});

it('a search that no input has, and what is named like a password, is named', () => {
  const made = workflow('pay', { input: Input, within: '1h', tags: ['idd'] }, (w) => {
    w.approval('ok', { within: '1m', show: { password: w.input.id, amount: 1 } });
  });
  expect(oddNames(made as Workflow, jsonSchemaOf).map(({ kind, message }) => [kind, message])).toEqual([
    ['unknownSearch', expect.stringContaining("tags has 'idd', which its input does not have")],
    ['secret', expect.stringContaining("its input has 'apiKey'")],
    ['secret', expect.stringContaining("step 'ok': it shows 'password'")],
  ]);
  const names = [
    'password',
    'newPassword',
    'card_number',
    'accessToken',
    'tokens',
    'author',
    'pageTokenCount',
  ];
  expect(names.map(isLikeSecret)).toEqual([true, true, true, true, false, false, false]);
});

it('a schema that no JSON fits is known by its place', () => {
  const at = z.object({ at: z.date() });
  expect([noJsonIn(at, 'input'), noJsonIn(at, 'output')]).toEqual(
    Array(2).fill(expect.stringContaining('at is a Date')),
  );
  expect(noJsonIn(z.object({ at: z.optional(z.date()) }), 'input')).toBeUndefined();
  expect(noJsonIn(z.object({ at: z.coerce.date() }), 'input')).toBeUndefined();
  expect(noJsonIn(z.object({ at: z.coerce.date() }), 'output')).toContain('z.iso.datetime()');
  expect(noJsonIn(z.union([z.bigint(), z.string()]), 'input')).toBeUndefined();
});
