/** Declaring a repeated step: refusals, types, and what its references may read. */

import { agent, eq, exists, askPerson, not, orElse, required, retry, withInput, workflow } from 'steadfast';
import * as z from 'zod/mini';
import { referenceProblems } from '../../lib/author/schemas/reference-check.ts';
import { jsonSchemaOf } from '../../lib/infra/json-schema.ts';

const LIMITS = { timeout: '20s', lease: '10s', claimWithin: '10s', lateEffectWithin: '1s' } as const;
const read = agent('read', {
  input: z.object({ from: z.string() }),
  output: z.object({ rows: z.number(), next: z.optional(z.string()) }),
  ...LIMITS,
  effect: 'none',
  undo: 'none',
});
const copy = agent('copy', {
  input: z.object({ at: z.number() }),
  output: z.object({ at: z.number(), more: z.boolean() }),
  ...LIMITS,
  effect: 'idempotent',
});
const point = workflow('point', { input: z.object({ at: z.number() }), within: '1h' }, (w) => {
  const one = w.step('copy', copy, w.input, { pointOfNoReturn: true });
  return { more: one.output.more };
});

type Options = Parameters<typeof copies>[0];
const copies = (options: object) => () =>
  workflow('copies', { input: z.object({}), within: '1h' }, (w) => {
    w.repeat(
      'all',
      copy,
      { at: 1 },
      { until: (last) => eq(last.more, false), next: (last) => ({ at: last.at }), maxRounds: 3, ...options },
    );
  });

it.each<[string, Options, string, string]>([
  ['no bound', { maxRounds: 0 }, 'unbounded', 'its maxRounds is 0; allowed: 1 to 1000 rounds'],
  ['too many rounds', { maxRounds: 1_001 }, 'unbounded', 'its maxRounds is 1001'],
  ['a part of a round', { maxRounds: 1.5 }, 'unbounded', 'its maxRounds is 1.5'],
  ['no end', { until: undefined }, 'bad-rounds', "its 'until' reads no value of a round"],
  ['an end that is always the same', { until: () => eq(1 as never, 2) }, 'bad-rounds', 'reads no value'],
  [
    'another input',
    { recovery: [withInput({ at: 1 })] },
    'bad-stage',
    'its recovery may only have retry and askPerson',
  ],
  ['a failure that is tolerated', { mayFail: true }, 'bad-tolerance', "write undo: 'none'"],
  ['a point of no return', { pointOfNoReturn: true }, 'bad-point-of-no-return', 'some of its rounds'],
  ['less time than an attempt', { within: '5s' }, 'within-too-short', 'one attempt may take'],
])('%s is refused', (_, options, reason, message) => {
  expect(copies(options)).toThrow(
    expect.objectContaining({
      code: 'workflow-refused',
      message: expect.stringContaining(message) as string,
      details: expect.objectContaining({ step: 'all', reason }) as object,
    }),
  );
});

it('a workflow with a point of no return is refused', () => {
  expect(() =>
    workflow('points', { input: z.object({}), within: '1h' }, (w) => {
      w.repeat('all', point, { at: 1 }, { until: (last) => eq(last.more, false), maxRounds: 3 });
    }),
  ).toThrow(/has a point of no return \('copy'\), and some of its rounds would be past it/);
});

it('what a round answered is read by its own step alone', () => {
  expect(() =>
    workflow('stray', { input: z.object({}), within: '1h' }, (w) => {
      let stray: unknown;
      w.repeat(
        'all',
        copy,
        { at: 1 },
        {
          until: (last) => {
            stray = last.at;
            return eq(last.more, false);
          },
          maxRounds: 3,
        },
      );
      w.step('after', copy, { at: stray as number }, { after: ['all'] });
    }),
  ).toThrow(/an expression reads the last of a round outside of the round/);
});

it('retry, askPerson, undo: none and mayFail are taken', () => {
  expect(
    copies({ recovery: [retry(2), askPerson({ within: '10m' })], undo: 'none', mayFail: true }),
  ).not.toThrow();
});

describe('what is there when another round begins', () => {
  const pages = (until: 'says' | 'says not') =>
    workflow('pages', { input: z.object({}), within: '1h' }, (w) => {
      const all = w.repeat(
        'all',
        read,
        { from: 'a' },
        {
          until: (last) => (until === 'says' ? not(exists(last.next)) : eq(last.rows, 0)),
          next: (last) => ({ from: required(last.next) }),
          maxRounds: 3,
        },
      );
      return { rows: all.output.last.rows, next: orElse(all.output.last.next, 'none') };
    });

  it('is what until has asked for', () => {
    expect(referenceProblems(pages('says'), jsonSchemaOf)).toEqual([]);
  });

  it('is not what nobody has asked for', () => {
    expect(referenceProblems(pages('says not'), jsonSchemaOf)).toEqual([
      "workflow 'pages', step 'all': it reads last.next, which may be absent, and agent 'read' needs from: write orElse(last.next, …), or required(last.next) and 'until: not(exists(last.next))', beside others in or(…), or make from optional there",
    ]);
  });

  it('has the fields that its schema has', () => {
    const wrong = workflow('wrong', { input: z.object({}), within: '1h' }, (w) => {
      w.repeat(
        'all',
        copy,
        { at: 1 },
        { until: (last) => eq((last as never as { mroe: typeof last.more }).mroe, false), maxRounds: 2 },
      );
    });
    expect(referenceProblems(wrong, jsonSchemaOf)).toEqual([
      expect.stringContaining('it reads last.mroe, which does not exist: last has at, more'),
    ]);
  });
});

it('next and until are typed by the answer and the input of a round', () => {
  workflow('typed', { input: z.object({}), within: '1h' }, (w) => {
    const [a, b] = [{ from: 'a' }, { at: 1 }];
    w.repeat('a', read, a, {
      until: ({ next }) => exists(next),
      // @ts-expect-error an optional field may be absent
      next: (x) => ({ from: x.next }),
      maxRounds: 1,
    });
    // @ts-expect-error no such field
    w.repeat('b', copy, b, { until: (last) => eq(last.none, 1), maxRounds: 1 });
    // @ts-expect-error must be a number
    w.repeat('c', copy, b, { until: (x) => eq(x.more, true), next: () => ({ at: 'x' }), maxRounds: 1 });
    // @ts-expect-error must be a number
    w.repeat('d', copy, a, { until: (last) => eq(last.more, false), maxRounds: 1 });
    const all = w.repeat('e', copy, b, { until: (last, given) => eq(last.at, given.at), maxRounds: 1 });
    return { rounds: all.output.rounds, last: all.output.last.at };
  });
});

it('a mistake in the options is reported there, by the types and when it is built', () => {
  const rounds = () =>
    workflow('rounds', { input: z.object({}), within: '1h' }, (w) => {
      // @ts-expect-error no bound
      w.repeat('f', copy, { at: 1 }, { until: (last) => eq(last.more, false) });
    });
  expect(rounds).toThrow('its maxRounds is undefined');
  const list = () =>
    workflow('list', { input: z.object({ all: z.array(z.number()) }), within: '1h' }, (w) => {
      w.map('g', copy, w.input.all, (at) => ({ at }), {
        // @ts-expect-error no such option
        maxConcurrency: 2,
      });
    });
  expect(list).toThrow("'maxConcurrency' is not an option; write concurrency: 10");
});
