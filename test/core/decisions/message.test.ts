/** S13 parsing a message: any text is at worst a useless hint. Which names, ids and tokens are refused. */

import * as fc from 'fast-check';
import { formatMessage, type Message, parseMessage } from '../../../lib/core/decisions/message.ts';
import { checkName, isExecutionId, isName, isStepName, keyPartOf } from '../../../lib/core/values/names.ts';
import { check } from '../check.ts';
import { PermanentError, refuse, SteadfastError, TransientError } from '../../../lib/core/values/errors.ts';
import { EXECUTION_EVENTS, STEP_EVENTS } from '../../../lib/core/moves.ts';

const message: Message = { v: 1, execution: 'e-1', step: 'charge', attempt: 2, mode: 'execute', seq: 7 };
const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,47}$/).filter(isName);
const item = fc.tuple(name, fc.nat(9_999)).map(([list, place]) => `${list}[${place}]`);
const anyMessage: fc.Arbitrary<Message> = fc.record({
  v: fc.constant(1 as const),
  execution: fc.stringMatching(/^[a-z0-9-]{1,64}$/),
  step: fc.oneof(name, item),
  attempt: fc.nat(),
  mode: fc.constantFrom('execute', 'probe', 'undo'),
  seq: fc.nat(),
});

describe('a message', () => {
  it('is read as it was written, and is under 1 KB', () => {
    check(
      fc.property(anyMessage, (given) => {
        expect(parseMessage(formatMessage(given))).toEqual(given);
        expect(formatMessage(given).length).toBeLessThan(1_024);
      }),
    );
  });

  it.each<[string, unknown]>([
    ['nothing', ''],
    ['no JSON', '{'],
    ['a scalar', 5],
    ['null', null],
    ['a list', [message]],
    ['no version', { ...message, v: undefined }],
    ['version 0', { ...message, v: 0 }],
    ['a version of text', { ...message, v: '1' }],
    ['no execution', { ...message, execution: undefined }],
    ['an execution with a key separator', { ...message, execution: 'e#1' }],
    ['an execution in capitals', { ...message, execution: 'E-1' }],
    ['too long an execution', { ...message, execution: 'e'.repeat(65) }],
    ['an execution that is a list', { ...message, execution: ['e-1'] }],
    ['a step with a key separator', { ...message, step: 'charge#1' }],
    ['a step every object inherits', { ...message, step: 'constructor' }],
    ['__proto__', { ...message, step: '__proto__' }],
    ['an unknown mode', { ...message, mode: 'destroy' }],
    ['an inherited mode', { ...message, mode: 'toString' }],
    ['a negative attempt', { ...message, attempt: -1 }],
    ['half an attempt', { ...message, attempt: 1.5 }],
    ['a huge attempt', { ...message, attempt: 1e300 }],
    ['an attempt of text', { ...message, attempt: '1' }],
    ['no seq', { ...message, seq: undefined }],
  ])('that is %s is none', (_, value) => {
    expect(parseMessage(typeof value === 'string' ? value : JSON.stringify(value))).toBeUndefined();
  });

  it('with any text or JSON is a message, newer, or nothing; never a throw', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record(
          {
            v: fc.oneof(fc.constant(1), fc.anything()),
            execution: fc.oneof(fc.constant('e-1'), fc.anything()),
            step: fc.oneof(fc.constant('a'), fc.anything()),
            attempt: fc.oneof(fc.constant(1), fc.anything()),
            mode: fc.oneof(fc.constant('probe'), fc.anything()),
            seq: fc.oneof(fc.constant(0), fc.anything()),
          },
          { requiredKeys: [] },
        )
        .map((value) => JSON.stringify(value) ?? ''),
    );
    check(
      fc.property(texts, (text) => {
        const parsed = parseMessage(text);
        if (parsed === undefined || parsed === 'newer') return;
        expect(isStepName(parsed.step) && isExecutionId(parsed.execution)).toBe(true);
        expect(Object.keys(parsed).sort()).toEqual(['attempt', 'execution', 'mode', 'seq', 'step', 'v']);
      }),
      1_000,
    );
  });
});

describe('the name of an item of a list', () => {
  it.each(['rooms[0]', 'rooms[9999]', 'a-b[10]'])('%s is one of a step, and of no author', (text) => {
    expect([isStepName(text), isName(text)]).toEqual([true, false]);
  });

  it.each(['rooms[]', 'rooms[01]', 'rooms[1][2]', 'rooms[1', '[1]', 'rooms[1]x', 'rooms[100000]', 'a#[1]'])(
    '%s is none',
    (text) => {
      expect(isStepName(text)).toBe(false);
    },
  );

  it('leaves its place in ids and keys, where brackets would have a meaning', () => {
    expect(['rooms[12]', 'i3', 'charge'].map(keyPartOf)).toEqual(['12', 'i3', 'charge']);
    expect(isExecutionId(`a.rooms.0.${keyPartOf('rooms[12]')}.0`)).toBe(true);
  });
});

describe('a name', () => {
  it.each(['a', 'charge-card', 'x9', 'a-', 'x'.repeat(48)])('%s is legal', (text) => {
    expect(isName(text)).toBe(true);
    expect(() => checkName(text, 'step')).not.toThrow();
  });

  it.each([
    '',
    '9a',
    '-a',
    'A',
    'a_b',
    'a.b',
    'a b',
    'a#b',
    'a\n',
    '\na',
    'å',
    '__proto__',
    'constructor',
    'x'.repeat(49),
  ])('%j is refused, saying what is allowed', (text) => {
    expect(isName(text)).toBe(false);
    const refusal = {
      code: 'bad-name',
      message: expect.stringMatching(/^step name .* is not allowed: a lower-case/s),
    };
    expect(() => checkName(text, 'step')).toThrow(expect.objectContaining(refusal));
  });

  it('is quoted up to its sixtieth character', () => {
    const refusal = `step name "A${'b'.repeat(59)}" is not allowed`;
    expect(() => checkName(`A${'b'.repeat(70)}`, 'step')).toThrow(refusal);
  });

  it.each(['', 'a#b', 'A', 'e'.repeat(65), 'a/b', 'a\n'])('%j is no execution id', (text) => {
    expect(isExecutionId(text)).toBe(false);
  });
});

describe('what is said to people', () => {
  it('errors have a name, a message and what else they were given', () => {
    const cause = new Error('why');
    const transient = new TransientError('busy', { retryAfter: 5, cause });
    expect(transient).toMatchObject({ name: 'TransientError', message: 'busy', retryAfter: 5, cause });
    expect(new TransientError('busy').retryAfter).toBeUndefined();
    expect(new PermanentError('no')).toMatchObject({ name: 'PermanentError', message: 'no' });
    const refused = refuse('code', 'message', { a: 1 });
    expect(refused).toBeInstanceOf(SteadfastError);
    expect(refused).toMatchObject({
      name: 'SteadfastError',
      code: 'code',
      message: 'message',
      details: { a: 1 },
    });
  });

  it('every move has a meaning of its own', () => {
    for (const meanings of [Object.values(STEP_EVENTS), Object.values(EXECUTION_EVENTS)] as string[][]) {
      expect(new Set(meanings).size).toBe(meanings.length);
      expect(Math.min(...meanings.map((meaning) => meaning.length))).toBeGreaterThan(10);
    }
  });

  it.each([
    ['0-a', true],
    ['x'.repeat(64), true],
    ['x'.repeat(65), false],
    ['', false],
    ['A', false],
    ['a b', false],
    ['a.b.0-2', true],
    [`a${'.b'.repeat(20)}`, true],
    [`a${'.b'.repeat(21)}`, false],
    [`a.${'b'.repeat(48)}`, true],
    [`a.${'b'.repeat(49)}`, false],
    ['a.', false],
    ['.a', false],
    ['a.B', false],
    ['a..b', false],
  ])('%j is the id of an execution: %j', (text, is) => {
    expect(isExecutionId(text)).toBe(is);
  });
});

describe('a message’s text (S13)', () => {
  const undo = { v: 1, execution: 'e-1', step: 'it', attempt: 0, mode: 'undo', seq: 0 } as const;
  it('has the plan where the sender gave it', () => {
    expect(parseMessage(formatMessage({ ...undo, plan: 'p' }))).toStrictEqual({ ...undo, plan: 'p' });
    expect(Object.keys(parseMessage(JSON.stringify({ ...undo, plan: 5 })) ?? {})).toStrictEqual(
      Object.keys(undo),
    );
  });

  it('is invalid with a number that is not one, and newer by its version alone', () => {
    const read = (more: object) => parseMessage(JSON.stringify({ ...undo, ...more }));
    expect([
      read({ seq: -1 }),
      read({ attempt: 0.5 }),
      read({ step: 5 }),
      read({ v: 1.5 }),
      read({ v: '2' }),
    ]).toStrictEqual([undefined, undefined, undefined, 'newer', undefined]);
  });
});
