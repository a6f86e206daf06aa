/**
 * A list whose outputs are read, and may be more than is kept, is reported at
 * synthesis, where the schemas allow it.
 */

import { agent, exists, orElse, useAgent, workflow, type WorkflowBuilder } from 'steadfast';
import * as z from 'zod/mini';
import { largeLists } from '../../lib/author/schemas/list-size.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { jsonSchemaOf } from '../../lib/infra/json-schema.ts';

const text = (most: number) => z.string().check(z.maxLength(most));
const join = agent('join', { input: z.object({ parts: z.any() }), output: z.object({}), effect: 'none' });
const reading = (output: z.ZodMiniType) =>
  agent('read', { input: z.object({ at: z.number() }), output, effect: 'none' });

const listOf = (
  list: z.ZodMiniType<number[]>,
  output: z.ZodMiniType,
  then: (
    w: WorkflowBuilder<{ list: number[] }>,
    items: never,
    of: never,
  ) => void | Record<string, unknown> = (w, items) => void w.step('join', join, { parts: items }),
  more = {},
) =>
  workflow('reduce', { input: z.object({ list }), within: '1h' }, (w) => {
    const all = w.map('all', reading(output), w.input.list, (at) => ({ at }), more);
    return then(w as never, all.output.items as never, all.output as never);
  });
const told = (flow: unknown): string[] =>
  largeLists(flow as Workflow, jsonSchemaOf as never).map(({ message }) => message);

const any = z.array(z.number());
const upTo = (most: number) => z.array(z.number()).check(z.maxLength(most));
const Part = z.object({ text: text(3_000) });

test('it says which list, who reads it, what is kept and what the schemas allow', () => {
  expect(largeLists(listOf(upTo(20), Part) as never, jsonSchemaOf as never)).toEqual([
    {
      workflow: 'reduce',
      step: 'all',
      message:
        "workflow 'reduce', list 'all': step 'join' reads the outputs of its items, of which 100000 bytes in all are kept, and the schemas allow more: 20 items, each of up to 9011 bytes. With more, it fails with list-too-large, after the items are done: bound the list and what an item answers (z.maxLength), or return something small, such as a key in a store of yours",
    },
  ]);
});

test.each<[string, unknown, string]>([
  ['a list without a bound', listOf(any, z.object({ id: z.uuid() })), '10000 items, each of up to 45 bytes'],
  ['a text without one', listOf(upTo(2), z.object({ text: z.string() })), '2 items, each of any size'],
  ['inside of a list', listOf(upTo(2), z.object({ ids: z.array(z.uuid()) })), 'of any size'],
  ['of a record', listOf(upTo(2), z.record(z.string(), z.number())), 'of any size'],
  ['of what no schema says', listOf(upTo(2), z.any()), 'of any size'],
  [
    'with what holds instead',
    listOf(any, Part, (w, items) => void w.step('join', join, { parts: orElse(items, []) })),
    'join',
  ],
  [
    'all of its output',
    listOf(any, Part, (w, _, of) => void w.step('join', join, { parts: of })),
    "step 'join' reads",
  ],
  ['returned', listOf(any, Part, (_, items) => ({ items })), 'its output reads'],
  [
    'of another agent after a failure',
    listOf(upTo(2), z.object({}), undefined, {
      recovery: [useAgent(agent('more', { input: z.any(), output: z.string(), effect: 'none' }) as never)],
    }),
    'of any size',
  ],
])('told: %s', (_, flow, says) => {
  expect(told(flow)).toEqual([expect.stringContaining(says)]);
});

test.each<[string, unknown]>([
  ['what is small enough', listOf(upTo(10), Part)],
  [
    'numbers, flags and words',
    listOf(upTo(500), z.object({ n: z.int(), ok: z.boolean(), as: z.enum(['a', 'b']) })),
  ],
  [
    'a bounded list of what is bounded',
    listOf(upTo(10), z.object({ ids: z.array(z.uuid()).check(z.maxLength(9)) })),
  ],
  [
    'a list of which only the counts are read',
    listOf(any, Part, (w, _, of) => void w.step('join', join, { parts: (of as { total: never }).total })),
  ],
  [
    'and one that is only asked for',
    listOf(any, Part, (w, items) => void w.step('join', join, { parts: 1 }, { when: exists(items) })),
  ],
])('not told: %s', (_, flow) => {
  expect(told(flow)).toEqual([]);
});

test('one in a workflow that another one runs, of the workflows that it runs for each item', () => {
  const item = workflow('item', { input: z.object({ at: z.number() }), within: '1h' }, (w) => {
    const read = w.step('read', reading(Part), { at: w.input.at });
    return { text: read.output };
  });
  const inner = workflow('inner', { input: z.object({ list: upTo(20) }), within: '2h' }, (w) => {
    const all = w.map('all', item, w.input.list, (at) => ({ at }));
    w.step('join', join, { parts: all.output.items });
  });
  const outer = workflow('outer', { input: z.object({ list: upTo(20) }), within: '3h' }, (w) => {
    w.child('inner', inner, { list: w.input.list });
  });
  expect(told(outer)).toEqual([expect.stringContaining("workflow 'inner', list 'all': step 'join' reads")]);
});
