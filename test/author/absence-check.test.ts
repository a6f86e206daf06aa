/**
 * A value that may be absent is refused where a value is required, both by the types and when the workflow is
 * loaded.
 */

import {
  agent,
  and,
  concat,
  eq,
  exists,
  failed,
  gt,
  length,
  matches,
  or,
  orElse,
  required,
  succeeded,
  useAgent,
  withInput,
  workflow,
  type WorkflowBuilder,
} from 'steadfast';
import { testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';
import { referenceProblems } from '../../lib/author/schemas/reference-check.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { jsonSchemaOf } from '../../lib/infra/json-schema.ts';

const Line = z.object({ sku: z.string(), size: z.optional(z.string()) });
const Order = z.object({
  id: z.string(),
  vat: z.optional(z.string()),
  address: z.optional(z.object({ city: z.string() })),
  lines: z.array(Line),
  first: z.array(z.string()).check(z.minLength(1)),
  prices: z.record(z.string(), z.number()),
  urgent: z._default(z.boolean(), false),
});
const look = agent('look', {
  input: z.object({}),
  output: z.object({ id: z.string(), note: z.optional(z.string()) }),
  effect: 'none',
});
const strict = agent('strict', { input: z.object({ text: z.string() }), output: Order, effect: 'none' });
const Loose = z.object({
  text: z.optional(z.string()),
  deep: z.optional(z.object({ vat: z.string() })),
  texts: z.optional(z.array(z.string())),
  maybes: z.optional(z.array(z.nullable(z.string()))),
});
const loose = agent('loose', { input: Loose, output: z.object({}), effect: 'none' });
const sized = agent('sized', {
  input: z.object({ lines: z.array(z.object({ size: z.string() })) }),
  output: z.object({}),
  effect: 'none',
});
const mongo = agent('mongo', {
  input: z.object({ update: z.object({ $set: z.object({ name: z.string() }) }) }),
  output: z.object({}),
  effect: 'none',
});
const child = workflow('child', { input: z.object({ text: z.string() }), within: '1h' }, (w) => {
  w.step('a', strict, { text: w.input.text });
});

const returning = workflow('returning', { input: Order, within: '1h' }, (w) => {
  w.step('a', strict, { text: 'x' });
  return { vat: w.input.vat, deep: { line: w.input.lines[0] }, text: concat('x', w.input.id) };
});
const noted = workflow(
  'noted',
  { input: z.object({ id: z.string(), note: z.string() }), within: '1h' },
  (w) => {
    w.step('a', strict, { text: w.input.note });
  },
);

// An author writes it like this without help from types.
// oxlint-disable-next-line typescript/no-explicit-any
type Free = any;
const problems = (build: (w: WorkflowBuilder<Free>, l: Free) => unknown): string[] => {
  const flow = workflow('flow', { input: Order as Free, within: '1h' }, (w: WorkflowBuilder<Free>) => {
    const l = w.step('look', look, {});
    return build(w, l.output) as Record<string, unknown> | undefined;
  });
  return referenceProblems(flow as unknown as Workflow, jsonSchemaOf as never);
};
const inFlow = (w: WorkflowBuilder<Free>): Free => w.input as Free;
/** All refusals of the step 'b', without its name. */
const saidOfB = (build: (w: WorkflowBuilder<Free>, l: Free) => void): string[] =>
  problems((w, l) => {
    build(w, l);
  }).map((text) => text.replace("workflow 'flow', step 'b': ", ''));

it.each<[string, (w: WorkflowBuilder<Free>, l: Free) => unknown, string]>([
  [
    'of the input',
    (w) => w.step('b', strict, { text: inFlow(w).vat }),
    "it reads input.vat, which may be absent, and agent 'strict' needs text: write orElse(input.vat, …), or required(input.vat) and 'when: exists(input.vat)' on the step, or make text optional there",
  ],
  ['of an output', (w, l) => w.step('b', strict, { text: l.note }), 'it reads look.output.note, which may'],
  [
    'below what may be absent',
    (w) => w.step('b', strict, { text: inFlow(w).address.city }),
    'it reads input.address.city, and input.address may be absent',
  ],
  [
    'of a list',
    (w) => w.step('b', strict, { text: inFlow(w).lines[0].sku }),
    'and input.lines[0] may be absent',
  ],
  [
    'by a key that is no name',
    (w) => w.step('b', strict, { text: inFlow(w).prices["it's a-b"] }),
    "write orElse(input.prices['it\\'s a-b'], …)",
  ],
  ['of a record', (w) => w.step('b', strict, { text: inFlow(w).prices.tea }), 'input.prices.tea, which may'],
  [
    'of an item, which no condition can ask about',
    (w) => w.map('b', strict, inFlow(w).lines, (item: Free) => ({ text: item.size })),
    "it reads item.size, which may be absent, and agent 'strict' needs text: write orElse(item.size, …), or make text optional there",
  ],
  [
    'given to another workflow',
    (w) => w.child('b', child, { text: inFlow(w).vat }),
    "and workflow 'child' needs text",
  ],
  [
    'inside of what may be left out itself',
    (w) => w.step('b', loose, { deep: { vat: inFlow(w).vat } }),
    "and agent 'loose' needs deep.vat",
  ],
  [
    'in a list, where it would be null',
    (w) => w.step('b', loose, { texts: [inFlow(w).id, inFlow(w).vat] }),
    "and agent 'loose' needs texts[1]",
  ],
  [
    'as what holds instead',
    (w, l) => w.step('b', strict, { text: orElse(l.note, inFlow(w).vat) }),
    'it reads input.vat',
  ],
  [
    'as what holds instead within what holds instead',
    (w, l) => w.step('b', strict, { text: orElse(orElse(l.note, 'x'), inFlow(w).vat) }),
    'it reads input.vat, which may be absent',
  ],
  [
    'in a text',
    (w) => w.step('b', strict, { text: concat('vat ', inFlow(w).vat) }),
    'it reads input.vat, which may be absent, and it is part of an expression',
  ],
  ['as a whole input', (w) => w.step('b', strict, inFlow(w).address), "and agent 'strict' needs an input"],
  [
    'of a whole that is given',
    (w, l) => w.child('b', noted, l),
    "it reads look.output, of which look.output.note may be absent, and workflow 'noted' needs note: give its fields one by one, with orElse(look.output.note, …), or required(look.output) and 'when: exists(look.output.note)' on the step, or make note optional there",
  ],
  [
    'of the items of a list that is given',
    (w) => w.step('b', sized, { lines: inFlow(w).lines }),
    "it reads input.lines, of which input.lines[0].size may be absent, and agent 'sized' needs lines[0].size",
  ],
  [
    'of what another workflow returns',
    (w) => w.step('b', strict, { text: (w.child('a', returning, w.input as Free).output as Free).vat }),
    'it reads a.output.vat, which may be absent',
  ],
  [
    'below that',
    (w) =>
      w.step('b', strict, { text: (w.child('a', returning, w.input as Free).output as Free).deep.line.sku }),
    'and a.output.deep.line may be absent',
  ],
  ['as a list', (w) => w.map('b', strict, inFlow(w).address.lines, () => ({ text: 'x' })), 'input.address'],
  ['as a time', (w) => w.wait('b', { until: inFlow(w).vat }), 'input.vat, which may be absent, and it waits'],
  ['as a length', (w) => w.wait('b', { for: inFlow(w).vat }), 'input.vat, which may be absent, and it waits'],
  [
    'below a key that begins with $',
    (w) => w.step('b', mongo, { update: { $set: { name: inFlow(w).vat } } }),
    "and agent 'mongo' needs update.$set.name",
  ],
  [
    'in a pattern',
    (w) => w.step('b', strict, { text: 'x' }, { when: matches(inFlow(w).vat, 'x*') }),
    'and its condition compares it',
  ],
  [
    'in a condition',
    (w) => w.step('b', strict, { text: 'x' }, { when: eq(inFlow(w).vat, 'x') }),
    "and its condition compares it: write orElse(input.vat, …), or required(input.vat) and 'when: and(exists(input.vat), …)' on the step",
  ],
  [
    'of which only a part of the condition says that it is there',
    (w) =>
      w.step('b', strict, { text: inFlow(w).vat }, { when: or(exists(inFlow(w).vat), exists(inFlow(w).id)) }),
    'input.vat, which may',
  ],
  [
    'as another input after a failure',
    (w) => w.step('b', strict, { text: 'x' }, { recovery: [withInput({ text: inFlow(w).vat })] }),
    "and agent 'strict' needs text",
  ],
  [
    'given to an agent that takes over',
    (w) => w.step('b', loose, { text: inFlow(w).vat }, { recovery: [useAgent(strict as Free)] }),
    "and agent 'strict' needs text",
  ],
  [
    'after the end',
    (w) => w.onFailure('b', strict, { text: inFlow(w).vat }),
    'it reads input.vat, which may be absent',
  ],
])('what may be absent, and must not be, is refused: %s', (_, build, says) => {
  const found = saidOfB((w, l) => void build(w, l)).filter((text) => !text.includes('does not exist'));
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(says);
});

it.each<[string, (w: WorkflowBuilder<Free>, l: Free) => unknown]>([
  [
    'what is there',
    (w, l) => w.step('b', strict, { text: concat(l.id, inFlow(w).urgent, inFlow(w).first[0]) }),
  ],
  [
    'of another workflow',
    (w) => w.step('b', strict, { text: (w.child('a', returning, w.input as Free).output as Free).text }),
  ],
  ['with what holds instead', (w, l) => w.step('b', strict, { text: orElse(l.note, 'none') })],
  [
    'with two that may be absent, and what holds instead',
    (w, l) => w.step('b', strict, { text: orElse(orElse(l.note, inFlow(w).vat), 'none') }),
  ],
  [
    'one instead of another, where its field may be absent too',
    (w, l) => w.step('b', loose, { text: orElse(l.note, inFlow(w).vat) }),
  ],
  ['where its field may be absent too', (w) => w.step('b', loose, { text: inFlow(w).vat })],
  [
    'as a whole that may lack it too',
    (w) => w.step('b', loose, { deep: inFlow(w).address, texts: inFlow(w).first }),
  ],
  ['in a list that takes null', (w) => w.step('b', loose, { maybes: [inFlow(w).vat] })],
  [
    'where the condition asks for it',
    (w) =>
      w.step(
        'b',
        strict,
        { text: required(inFlow(w).address.city) },
        { when: and(exists(inFlow(w).address.city), eq(inFlow(w).address.city, 'Rome')) },
      ),
  ],
  [
    'where a step before it was done only with it',
    (w, l) => {
      const a = w.step('a', strict, { text: l.note }, { when: exists(l.note), mayFail: true });
      w.step('b', strict, { text: l.note }, { when: or(failed(a), failed(a)) && failed(a) });
      w.step('c', strict, { text: l.note }, { when: succeeded(a) });
    },
  ],
  ['what an approval shows', (w) => w.approval('b', { within: '1h', show: { vat: inFlow(w).vat } })],
])('what may be absent is taken: %s', (_, build) => {
  expect(saidOfB((w, l) => void build(w, l))).toEqual([]);
});

it("is left out of a workflow's returned object, but not of a text in it", () => {
  expect(problems((w) => ({ vat: inFlow(w).vat, all: [inFlow(w).vat] }))).toEqual([]);
  expect(problems((w) => ({ text: concat('vat ', inFlow(w).vat) }))).toEqual([
    expect.stringContaining("workflow 'flow', its output: it reads input.vat, which may be absent"),
  ]);
});

it('a workflow that is not deployed by itself is checked with the one that runs it', () => {
  const inner = workflow('inner', { input: Order as Free, within: '1h' }, (w: WorkflowBuilder<Free>) => {
    w.step('a', strict, { text: inFlow(w).vat });
  });
  expect(problems((w) => void w.child('b', inner as Free, w.input as Free))).toEqual([
    expect.stringContaining("workflow 'inner', step 'a': it reads input.vat"),
  ]);
});

it('a test in memory says it before anything has run', () => {
  const flow = workflow('tested', { input: Order, within: '1h' }, (w) => {
    w.step('a', strict, { text: w.input.vat as never });
  });
  const agents = [strict.handler({ execute: () => Promise.reject(new Error('not called')) })];
  expect(() => testWorkflow(flow, { agents })).toThrow("workflow 'tested', step 'a': it reads input.vat");
});

it('types say it as well', () => {
  const flow = workflow('typed', { input: Order, within: '1h' }, (w) => {
    const { vat, address, lines, prices, urgent, id } = w.input;
    const l = w.step('look', look, {});
    // @ts-expect-error the text of an output may be absent
    w.step('a', strict, { text: l.output.note });
    // @ts-expect-error the text of the input may be absent
    w.step('b', strict, { text: vat });
    // @ts-expect-error the text is below a value that may be absent
    w.step('c', strict, { text: address.city });
    // @ts-expect-error an item of a list may be absent
    w.step('d', strict, { text: lines[0]?.sku });
    // @ts-expect-error a field of a record may be absent
    w.step('e', strict, { text: concat('costs ', prices['tea']) });
    // @ts-expect-error the whole may lack a required field
    w.child('f', noted, l.output);
    // @ts-expect-error in a condition
    w.step('h', strict, { text: id }, { when: eq(vat, 'x') });
    // @ts-expect-error a field of an item may be absent
    w.map('i', strict, lines, (item) => ({ text: item.size }));
    // @ts-expect-error both may be absent
    w.step('p', strict, { text: orElse(vat, lines[0]?.size) });
    // @ts-expect-error the length of time may be absent
    w.wait('r', { for: vat });
    // @ts-expect-error it is neither a list nor a text
    length(urgent);
    w.step('s', strict, { text: id }, { when: and(matches(id, 'a*'), gt(length(lines), length(id))) });
    w.step('t', mongo, { update: { $set: { name: id } } });
    w.wait('u', { for: length(id) });
    // @ts-expect-error the list would contain null
    w.step('j', loose, { texts: [vat] });

    w.step('k', loose, { text: vat, texts: [orElse(vat, 'none'), orElse(lines[0]?.sku, 'none')] });
    w.step('l', loose, { text: l.output.note, deep: { vat: orElse(address.city, 'nowhere') } });
    w.step(
      'm',
      strict,
      { text: required(vat) },
      { when: and(exists(vat), eq(required(vat), 'x'), eq(urgent, true)) },
    );
    w.step('q', loose, {
      text: orElse(vat, lines[0]?.size),
      deep: { vat: orElse(orElse(vat, l.output.note), 'x') },
    });
    w.map('n', loose, lines, (item) => ({ text: item.size }));
    w.approval('o', { within: '1h', show: { vat } });
    return { vat, id };
  });
  const absent: typeof flow.output = { id: 'x' };
  // @ts-expect-error it is a text if it is there
  const other: typeof flow.output = { id: 'x', vat: 5 };
  expect([absent, other]).toHaveLength(2);
});
