/** Declaring rounds that begin with messages: the plan, the types, the refusals (M8). */

import * as z from 'zod/mini';
import { agent as declare, eq, type Ref } from '../../lib/index.ts';
import { received } from '../../lib/author/builder/received.ts';
import { workflow, type WorkflowBuilder } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { absenceProblems } from '../../lib/author/schemas/absence-check.ts';
import { inputProblems } from '../../lib/author/schemas/input-check.ts';
import { jsonSchemaOf } from '../../lib/infra/json-schema.ts';
import { any, type Anything, refusalOf } from './refusals.ts';

const Move = z.object({ to: z.string() });
const State = z.object({ at: z.string(), patience: z.string() });
const plain = { effect: 'none', timeout: '20s', undo: 'none' } as const;
const apply = declare('apply', {
  input: z.object({ message: Move, last: z.nullable(State) }),
  output: State,
  ...plain,
});
const mayLack = declare('may-lack', {
  input: z.object({ message: z.nullable(Move), board: z.string() }),
  output: State,
  ...plain,
});
const define = (build: (w: WorkflowBuilder<Anything>) => unknown): Workflow =>
  workflow('flow', { input: any as never, within: '3h' }, build as never) as unknown as Workflow;
const over = (last: Ref<z.infer<typeof State>>) => eq(last.at, 'over');
const first = { message: { to: 'a' }, last: null };
const rest = { until: over, maxRounds: 9, within: '1h' } as const;

it('compile to the name, the time, and what is given beside the message', () => {
  const { plan, messages } = define((w) => {
    w.repeat('a', apply, first, { ...rest, next: received('move', Move) });
    w.repeat('b', mayLack, received('open', Move, { board: 'new' }), {
      ...rest,
      next: received('move', Move, (last) => ({ board: last.at })),
      otherwise: 'continue',
    });
    w.repeat('c', apply, first, { ...rest, next: received('move', Move), within: (last) => last.patience });
  });
  expect(plan.steps.map((step) => (step.kind === 'child' ? [step.input, step.rounds?.next] : []))).toEqual([
    [first, { last: { $ref: 'last', path: [] } }],
    [{ board: 'new' }, { board: { $ref: 'last', path: ['at'] } }],
    [first, { last: { $ref: 'last', path: [] } }],
  ]);
  const message = { name: 'move', withinMs: 3_600_000 };
  expect(plan.steps.map((step) => (step.kind === 'child' ? step.rounds : undefined))).toMatchObject([
    { message },
    { message: { ...message, otherwise: 'continue' }, first: { name: 'open', withinMs: 3_600_000 } },
    { message: { name: 'move', within: { $ref: 'last', path: ['patience'] } } },
  ]);
  expect(plan.steps.every(({ withinMs }) => withinMs === undefined)).toBe(true);
  expect(messages).toEqual({ move: Move, open: Move });
});

it('give a later round what is constant beside its message, too', () => {
  const beside = received('move', Move, { board: 'same' }) as never;
  const { plan } = define((w) => {
    w.repeat('a', mayLack, { message: null, board: '' }, { ...rest, next: beside });
  });
  expect(plan.steps).toMatchObject([{ rounds: { next: { board: 'same' } } }]);
});

it('come after the step that says how long they wait', () => {
  const { plan } = define((w) => {
    const time = w.receive('time', { message: z.object({ patience: z.string() }), within: '1h' });
    const within = time.output.patience;
    w.repeat('a', apply, first, { ...rest, next: received('move', Move), within });
    w.repeat('b', apply, received('open', Move), { ...rest, within });
  });
  expect(plan.steps.map(({ after }) => after)).toEqual([[], ['time'], ['time']]);
});

it('are typed by the input of a round', () => {
  define((w) => {
    // @ts-expect-error its message is another
    w.repeat('a', apply, first, { ...rest, next: received('text', z.string()) });
    // @ts-expect-error nothing gives it its board
    w.repeat('b', mayLack, { message: null, board: '' }, { ...rest, next: received('move', Move) });
    w.repeat(
      'c',
      mayLack,
      { message: null, board: '' },
      {
        ...rest,
        // @ts-expect-error its board is a text
        next: received('move', Move, () => ({ board: 1 })),
      },
    );
    // @ts-expect-error it takes no null as a message
    w.repeat('d', apply, first, { ...rest, next: received('move', Move), otherwise: 'continue' });
    w.repeat(
      'e',
      mayLack,
      { message: null, board: '' },
      {
        ...rest,
        next: received('move', Move, (last) => ({ board: last.at })),
        otherwise: 'continue',
      },
    );
    const late = declare('late', {
      input: z.object({ message: Move, last: State }),
      output: State,
      ...plain,
    });
    // @ts-expect-error no round has answered before the first
    w.repeat('f', late, received('move', Move), { ...rest, next: received('move', Move) });
  });
});

it('are checked by their schemas, as any input', () => {
  const flow = define((w) => {
    w.repeat('a', apply, first, { ...rest, next: received('move', z.object({ form: z.string() }) as never) });
  });
  expect([...inputProblems(flow, jsonSchemaOf), ...absenceProblems(flow, jsonSchemaOf)]).toEqual([]);
  const lacking = define((w) => {
    w.repeat('a', mayLack, { message: null, board: '' }, { ...rest, next: received('move', Move) as never });
  });
  expect(inputProblems(lacking, jsonSchemaOf).join()).toContain('board');
});

type Options = Parameters<WorkflowBuilder<Anything>['repeat']>[3];
const move = received('move', Move) as never;
it.each<[string, unknown, object, string, string]>([
  ['no within', first, { next: move, within: undefined }, 'unbounded', "need 'within'"],
  [
    'a within beyond the workflow',
    first,
    { next: move, within: '4h' },
    'longer-than-within',
    'for a message for 4h',
  ],
  ['another otherwise', first, { next: move, otherwise: 'skip' }, 'bad-default', "'otherwise' is 'skip'"],
  ['a name that is none', first, { next: received('Move!', Move) }, 'bad-message', '"Move!", is not allowed'],
  [
    'no fields beside the message',
    first,
    { next: received('m', Move, (l: Ref<unknown>) => l) },
    'bad-rounds',
    'no fields',
  ],
  [
    'a field of that name',
    first,
    { next: received('m', Move, () => ({ message: 1 })) },
    'bad-rounds',
    "named 'message'",
  ],
  [
    'a time of no round',
    received('m', Move),
    { within: (last: { p: Ref<string> }) => last.p },
    'bad-rounds',
    'by w.receive',
  ],
  [
    'otherwise without messages',
    first,
    { otherwise: 'continue' },
    'bad-rounds',
    "'otherwise' is for rounds that begin",
  ],
  [
    'a read time without messages',
    first,
    { within: () => 1 },
    'bad-rounds',
    'for rounds that begin with messages',
  ],
])('are refused with %s', (_, given, options, reason, text) => {
  const { message, details } = refusalOf(() =>
    define(
      (w) => void w.repeat('a', apply as never, given as never, { ...rest, ...options } as never as Options),
    ),
  );
  expect(message).toContain(text);
  expect(details).toMatchObject({ step: 'a', reason });
});

it('are refused with two schemas of one name', () => {
  const twice = (): unknown =>
    define((w) => {
      w.receive('move', { message: z.object({ to: z.string() }), within: '1h' });
      w.repeat('a', apply, first, { ...rest, next: received('move', Move) });
    });
  expect(twice).toThrow("another step takes messages 'move' with another schema");
});
