/** Declaring a step that takes a message: its plan, its types, the refusals (M8). */

import * as z from 'zod/mini';
import { exists, orElse, type Ref } from '../../lib/author/references.ts';
import { referenceProblems } from '../../lib/author/schemas/reference-check.ts';
import { workflow, type WorkflowBuilder } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { jsonSchemaOf } from '../../lib/infra/json-schema.ts';
import { agent, any, type Anything, refusalOf } from './refusals.ts';

const Paid = z.object({ amount: z.number() });
const define = (build: (w: WorkflowBuilder<Anything>) => unknown): Workflow =>
  workflow('flow', { input: any as never, within: '3h' }, build as never) as unknown as Workflow;

it('compiles to its message, its time, and what holds without one', () => {
  const { plan, messages } = define((w) => {
    const paid = w.receive('paid', { message: Paid, within: '1h' });
    w.receive('again', { message: Paid, name: 'paid', within: '2h', otherwise: 'continue', after: [paid] });
  });
  expect(plan.steps).toStrictEqual([
    { kind: 'receive', name: 'paid', after: [], message: 'paid', withinMs: 3_600_000 },
    {
      kind: 'receive',
      name: 'again',
      after: ['paid'],
      message: 'paid',
      withinMs: 7_200_000,
      otherwise: 'continue',
    },
  ]);
  expect(messages).toEqual({ paid: Paid });
  expect(define((w) => void w.step('a', agent, {}))).not.toHaveProperty('messages');
});

it('has the body as its output, or null where it may go on without one', () => {
  define((w) => {
    const paid = w.receive('paid', { message: Paid, within: '1h' });
    const body: Ref<{ amount: number }> = paid.output;
    const late = w.receive('late', { message: Paid, within: '1h', otherwise: 'continue', after: [paid] });
    const perhaps: Ref<{ amount: number } | null> = late.output;
    // @ts-expect-error it may be null
    const sure: Ref<{ amount: number }> = late.output;
    return { body, perhaps, sure };
  });
});

it('gives the parts of a body that may be null to orElse and exists', () => {
  const flow = define((w) => {
    const late = w.receive('late', { message: Paid, within: '1h', otherwise: 'continue' });
    const amount: Ref<number> = orElse(late.output.amount, 0);
    // @ts-expect-error there may be no message
    const sure: Ref<number> = late.output.amount;
    const more = { when: exists(late.output.amount), after: [late] };
    const again = w.receive('again', { message: Paid, within: '1h', otherwise: 'continue', ...more });
    return { amount, sure: orElse(sure, 0), again: orElse(again.output.amount, amount) };
  });
  expect(referenceProblems(flow, jsonSchemaOf)).toEqual([]);
});

it('is read by its schema: a field that the body does not have is refused', () => {
  const odd = define((w) => {
    const paid = w.receive('paid', { message: Paid, within: '1h' });
    w.step('a', agent, { amount: (paid.output as never as { cost: never }).cost });
  });
  expect(referenceProblems(odd, jsonSchemaOf).join()).toContain('cost');
});

it.each<[string, object, string, string]>([
  ['no within', {}, 'unbounded', "a step of kind 'receive' needs 'within', or it could wait for ever"],
  ['a within beyond the workflow', { within: '4h' }, 'longer-than-within', 'it waits for a message for 4h'],
  ['another otherwise', { within: '1h', otherwise: 'skip' }, 'bad-default', "'otherwise' is 'skip'"],
  ['a name that is none', { within: '1h', name: 'Paid!' }, 'bad-message', '"Paid!", is not allowed'],
  ['an unknown option', { within: '1h', remindEvery: '1m' }, 'bad-option', 'remindEvery'],
])('is refused with %s', (_, options, reason, message) => {
  const refused = refusalOf(() =>
    define((w) => void w.receive('paid', { message: Paid, ...options } as never)),
  );
  expect(refused.message).toContain(message);
  expect(refused.details).toMatchObject({ reason });
});

it('is refused where the messages of one name have two schemas', () => {
  const refused = refusalOf(() =>
    define((w) => {
      w.receive('paid', { message: Paid, within: '1h' });
      w.receive('again', { message: z.object({}), name: 'paid', within: '1h' });
    }),
  );
  expect(refused.message).toContain("another step takes messages 'paid' with another schema");
});
