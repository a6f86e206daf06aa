/**
 * A reference to a field that does not exist is found when a workflow is loaded; one of an unknown type is
 * accepted.
 */

import {
  agent,
  eq,
  exists,
  ne,
  orElse,
  type Ref,
  withInput,
  workflow,
  type WorkflowBuilder,
} from 'steadfast';
import * as z from 'zod/mini';
import { nearest } from '../../lib/core/values/nearest.ts';
import { referenceProblems } from '../../lib/author/schemas/reference-check.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { jsonSchemaOf } from '../../lib/infra/json-schema.ts';

const any = z.object({ x: z.optional(z.any()) });
const Address = z.object({ street: z.string(), city: z.string() });
const Output = z.object({
  text: z.string(),
  address: z.nullable(Address),
  lines: z.array(z.object({ sku: z.string() })),
  prices: z.record(z.string(), z.object({ cents: z.number() })),
  way: z.union([z.object({ byAir: z.string() }), z.object({ bySea: z.string(), port: z.string() })]),
  loose: z.looseObject({ a: z.string() }),
  date: z.pipe(
    z.string(),
    z.transform((text) => new Date(text)),
  ),
  anything: z.any(),
});
const alpha = agent('alpha', {
  input: any,
  output: Output,
  effect: 'idempotent',
  undo: 'none',
  probe: 'none',
});
const beta = agent('beta', { input: any, output: any, effect: 'idempotent', undo: 'none' });

// An author writes it like this without help from types.
// oxlint-disable-next-line typescript/no-explicit-any
type Free = any;
const problems = (build: (w: WorkflowBuilder<Free>, a: Free) => unknown): string[] => {
  const input = z.object({ name: z.string(), list: z.array(Address) });
  const flow = workflow('flow', { input: input as Free, within: '1h' }, (w: WorkflowBuilder<Free>) => {
    const a = w.step('a', alpha, {});
    return build(w, a.output) as Record<string, unknown> | undefined;
  });
  return referenceProblems(flow as unknown as Workflow, jsonSchemaOf as never);
};
const reading = (pick: (a: Free, w: WorkflowBuilder<Free>) => unknown): string[] =>
  problems((w, a) => void w.step('b', beta, { x: pick(a, w) } as Free));

const ALL = 'text, address, lines, prices, way, loose, date, anything';

it.each<[string, (a: Free, w: WorkflowBuilder<Free>) => unknown, string]>([
  [
    'a field that is not there',
    (a) => a.txt,
    `a.output.txt, which does not exist: a.output has ${ALL}; did you mean a.output.text?`,
  ],
  ['nothing like it', (a) => a.total, `a.output.total, which does not exist: a.output has ${ALL}`],
  [
    'behind a nullable',
    (a) => a.address.stret,
    'a.output.address.stret, which does not exist: a.output.address has street, city; did you mean a.output.address.street?',
  ],
  ['of a text', (a) => a.text.size, 'a.output.text.size, which does not exist: a.output.text has no fields'],
  ['of a list', (a) => a.lines.sku, 'a.output.lines.sku, which does not exist: a.output.lines has no fields'],
  [
    'of an item',
    (a) => a.lines[0].sk,
    'a.output.lines[0].sk, which does not exist: a.output.lines[0] has sku',
  ],
  [
    'of a record’s value',
    (a) => a.prices.tea.cent,
    'a.output.prices.tea.cent, which does not exist: a.output.prices.tea has cents; did you mean a.output.prices.tea.cents?',
  ],
  [
    'of no branch',
    (a) => a.way.byRail,
    'a.output.way.byRail, which does not exist: a.output.way has byAir, bySea, port',
  ],
  [
    'of the input',
    (_, w) => (w.input as Free).nmae,
    'input.nmae, which does not exist: input has name, list',
  ],
])('a path that a known schema does not have is refused: %s', (_, pick, message) => {
  expect(reading(pick)).toEqual([`workflow 'flow', step 'b': it reads ${message}`]);
});

it.each<[string, (a: Free) => unknown]>([
  ['what is there', (a) => [a.text, a.address.city, a.lines[3].sku, a.lines.length, a.prices.tea.cents]],
  ['what one branch has', (a) => [a.way.byAir, a.way.port]],
  ['what may have more', (a) => [a.loose.more, a.loose.a]],
  ['what no JSON Schema says', (a) => [a.date.year, a.anything.at.all]],
])('%s is believed', (_, pick) => {
  expect(reading(pick)).toEqual([]);
});

it('every place where a reference may be is checked', () => {
  const found = problems((w, a) => {
    const recovery = [withInput({ x: a.no1 })];
    w.step('b', alpha, {}, { when: eq(a.no2 as Ref<string>, 'x'), recovery } as Free);
    w.wait('c', { until: a.no3 });
    w.map('d', beta, (w.input as Free).list, (item: Free) => ({ x: item.no4 }) as Free);
    const e = w.callback('e', { output: Address, within: '1m', when: exists((a as Free).no5) });
    const f = w.approval('f', {
      within: '1m',
      after: [e],
      when: ne(orElse((e.output as Free).no6 as Ref<number>, 2), 1),
    });
    const [no7, known] = [orElse((f.output as Free).no7, null), orElse(f.output.by, null)];
    return { no7, known, step: orElse(e.output.city, null) };
  });
  const places = found.map((text) => /step '(\w)'/.exec(text)?.[1] ?? 'output');
  expect(places.sort()).toEqual(['b', 'b', 'c', 'd', 'e', 'f', 'output']);
  expect(found.map((text) => /no\d/.exec(text)?.[0] ?? '').sort()).toEqual(
    [1, 2, 3, 4, 5, 6, 7].map((number) => `no${number}`),
  );
});

it('a schema that cannot be read, or of another library without JSON Schema, is believed; one that has it is used', () => {
  const validate = (value: unknown) => ({ value });
  const other = (more: object) => ({ '~standard': { version: 1, vendor: 'other', validate, ...more } });
  expect(jsonSchemaOf(other({}))).toBeUndefined();
  expect(jsonSchemaOf(other({ vendor: 'zod' }))).toBeUndefined();
  expect(jsonSchemaOf(other({ jsonSchema: { output: ({ target }: { target: string }) => target } }))).toBe(
    'draft-2020-12',
  );
  expect(jsonSchemaOf(undefined)).toBeUndefined();
});

it.each<[string, readonly string[], string | undefined]>([
  ['alhpa', ['beta', 'alpha'], 'alpha'],
  ['txt', ['text', 'test'], 'text'],
  ['total', ['text', 'address'], undefined],
  ['id', ['od'], undefined],
  ['street', ['streets', 'stret', 'tree'], 'streets'],
  ['x', [], undefined],
])('nearest to %s of %j is %s', (word, names, near) => {
  expect(nearest(word, names)).toBe(near);
});
