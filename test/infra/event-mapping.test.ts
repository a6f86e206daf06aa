/** Compiles mappings as authors write them, and checks the input that they produce from an event. */

import { evaluateExpression, type Expr } from '../../lib/core/plan/refs.ts';
import { compileMapping, type EventShape } from '../../lib/infra/event-mapping.ts';
import type { Steadfast } from '../../lib/infra/steadfast.ts';
import { intake } from '../e2e/intake/workflow.ts';

const event = {
  id: 'e-1',
  time: '2026-01-02T03:04:05Z',
  detail: { items: [{ sku: 'tea' }, { sku: 'milk' }], total: 4, 'odd name': true, none: null },
};
const mapped = (mapping: unknown, shape: EventShape = true): unknown =>
  evaluateExpression(compileMapping(mapping, shape, 'here') as Expr, {
    input: event,
    output: () => undefined,
  });

it.each<[string, unknown, unknown]>([
  ['all of the event', '$', event],
  ['a field', '$.detail.total', 4],
  ['an item of a list', '$.detail.items[1].sku', 'milk'],
  ['a name that is odd', "$.detail['odd name']", true],
  ['null', '$.detail.none', null],
  ['nothing', '$.detail.gone.further', undefined],
  [
    'a structure, without what is not there',
    { a: ['$.id', 1], b: { c: '$.gone' } },
    { a: ['e-1', 1], b: {} },
  ],
  ['a text of parts', { $concat: ['at ', '$.time', '/', '$.detail.total'] }, 'at 2026-01-02T03:04:05Z/4'],
  ['a text that looks like a path', { price: { $literal: '$.5' } }, { price: '$.5' }],
  [
    'a constant with keys of its own',
    { $literal: { $ref: 'x', list: [1, '$.id'] } },
    { $ref: 'x', list: [1, '$.id'] },
  ],
  ['constants', { a: 'fast', b: false, c: null, d: undefined }, { a: 'fast', b: false, c: null }],
])('%s', (_, mapping, value) => {
  expect(mapped(mapping)).toEqual(value);
});

it('no path reaches what is not the event’s own', () => {
  for (const path of ['$.constructor', '$.detail.__proto__', '$.detail.toString'])
    expect(mapped(path)).toBeUndefined();
});

it('is typed by the workflow: what its input does not have does not compile', () => {
  const pattern = { source: ['shop'] };
  const typed = (steadfast: Steadfast): unknown[] => [
    steadfast.triggerOnEvent(pattern, intake, { input: { what: '$.a', from: 'event' } }),
    steadfast.triggerOnEvent(pattern, intake, { input: { what: { $concat: ['a', '$.b'] }, from: '$.from' } }),
    steadfast.triggerOnEvent(pattern, 'intake', { input: { anything: 'goes' } }),
    // @ts-expect-error a field is missing
    steadfast.triggerOnEvent(pattern, intake, { input: { what: '$.a' } }),
    // @ts-expect-error a constant that the field's type does not allow
    steadfast.triggerOnEvent(pattern, intake, { input: { what: '$.a', from: 'elsewhere' } }),
    // @ts-expect-error the input has no such field
    steadfast.startQueue(intake, { input: { what: '$.a', from: 'event', more: '$.b' } }),
  ];
  expect(typed).toBeInstanceOf(Function);
});
