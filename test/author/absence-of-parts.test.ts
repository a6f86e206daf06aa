/**
 * Values that may be absent inside others: in unions, tuples, outputs of list items, another workflow's
 * output, the output of another agent that takes over.
 */

import { agent, orElse, useAgent, workflow, type WorkflowBuilder } from 'steadfast';
import * as z from 'zod/mini';
import { referenceProblems } from '../../lib/author/schemas/reference-check.ts';
import { jsonSchemaOf } from '../../lib/infra/json-schema.ts';

const Order = z.object({
  vat: z.optional(z.string()),
  note: z.optional(z.string()),
  either: z.union([
    z.object({ in: z.object({ vat: z.string() }) }),
    z.object({ in: z.object({ vat: z.optional(z.string()) }) }),
  ]),
  pair: z.tuple([z.string(), z.optional(z.string())]),
  names: z.array(z.string()),
});
const Line = z.object({ sku: z.string(), size: z.optional(z.string()) });
const Sized = z.object({ size: z.string() });
const nothing = z.object({});
const strict = agent('strict', { input: z.object({ text: z.string() }), output: nothing, effect: 'none' });
const sized = agent('sized', { input: z.object({ lines: z.array(Sized) }), output: nothing, effect: 'none' });
const some = agent('some', {
  input: z.object({ lines: z.array(z.nullable(Sized)) }),
  output: nothing,
  effect: 'none',
});
const part = agent('part', { input: z.any(), output: Line, effect: 'none' });
const whole = agent('whole', { input: z.any(), output: Sized, effect: 'none' });
const spare = agent('spare', { input: z.any(), output: z.object({ id: z.string() }), effect: 'none' });

// An author writes it like this without help from types.
// oxlint-disable-next-line typescript/no-explicit-any
type Free = any;
const child = workflow('child', { input: Order as Free, within: '1h' }, (w: WorkflowBuilder<Free>): Free => {
  const { vat, note } = w.input as Free;
  w.step('a', strict, { text: 'x' });
  return { either: orElse(vat, note), one: orElse(vat, 'none') };
});
const listOf = (w: Free, options: Free = {}, by: Free = part): Free =>
  w.map('m', by, w.input.names, () => ({}), options).output.items;
const saidOf = (build: (w: Free) => unknown): string[] => {
  const flow = workflow('flow', { input: Order as Free, within: '1h' }, (w: WorkflowBuilder<Free>) => {
    build(w);
  });
  return referenceProblems(flow as Free, jsonSchemaOf as never);
};
const text = (w: Free, value: unknown): unknown => w.step('b', strict, { text: value });
const itemText = (w: Free, list: unknown, field: string): unknown =>
  w.map('b', strict, list, (item: Free) => ({ text: item[field] }));

it.each<[string, (w: Free) => unknown, string]>([
  [
    'in a branch of a union',
    (w) => text(w, w.input.either.in.vat),
    'input.either.in.vat, which may be absent',
  ],
  ['in a tuple', (w) => text(w, w.input.pair[1]), 'input.pair[1], which may be absent'],
  [
    'in what another workflow returns, where neither need be there',
    (w) => text(w, w.child('a', child, w.input).output.either),
    'a.output.either, which may be absent',
  ],
  [
    'in what the items of a list answer',
    (w) => w.step('b', sized, { lines: listOf(w) }),
    'm.output.items, of which m.output.items[0].size may be absent',
  ],
  [
    'in what those answer that have not failed',
    (w) => w.step('b', some, { lines: listOf(w, { mayFail: 1 }) }),
    'm.output.items, of which m.output.items[0].size may be absent',
  ],
  ['in those that failed', (w) => itemText(w, listOf(w, { mayFail: '5%' }), 'sku'), 'item.sku, which may be'],
  ['in each of them', (w) => itemText(w, listOf(w), 'size'), 'item.size, which may be absent'],
  [
    'as the first of them',
    (w) => text(w, listOf(w)[0].sku),
    'm.output.items[0].sku, and m.output.items[0] may be absent',
  ],
  [
    'where an agent that takes over does not answer it',
    (w) => text(w, w.step('p', part, {}, { recovery: [useAgent(spare as Free)] }).output.sku),
    'p.output.sku, which may be absent',
  ],
])('what may be absent is found: %s', (_, build, says) => {
  expect(saidOf(build)).toEqual([expect.stringContaining(`step 'b': it reads ${says}`)]);
});

it.each<[string, (w: Free) => unknown]>([
  ['in a tuple', (w) => text(w, w.input.pair[0])],
  ['in what another workflow returns', (w) => text(w, w.child('a', child, w.input).output.one)],
  ['in each item of a list', (w) => itemText(w, listOf(w), 'sku')],
  [
    'as the first of a list of a known length',
    (w) => text(w, w.map('m', part, ['x'], () => ({})).output.items[0].sku),
  ],
  ['in what the items of a list answer', (w) => w.step('b', sized, { lines: listOf(w, {}, whole) })],
  ['or null', (w) => w.step('b', some, { lines: listOf(w, { mayFail: 1 }, whole) })],
  [
    'where each agent answers it',
    (w) => text(w, w.step('p', whole, {}, { recovery: [useAgent(whole as Free)] }).output.size),
  ],
])('what is there is taken: %s', (_, build) => {
  expect(saidOf(build)).toEqual([]);
});
