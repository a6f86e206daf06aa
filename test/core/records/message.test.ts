/** S13 whatever a text says, it is at worst a useless hint. */

import * as fc from 'fast-check';
import { formatMessage, type Message, parseMessage } from '../../../lib/core/records/message.ts';
import { checkName, isExecutionId, isName } from '../../../lib/core/records/names.ts';
import { check } from '../check.ts';

const message: Message = { v: 1, execution: 'e-1', step: 'charge', attempt: 2, mode: 'execute', seq: 7 };
const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,47}$/).filter(isName);
const anyMessage: fc.Arbitrary<Message> = fc.record({
  v: fc.constant(1 as const),
  execution: fc.stringMatching(/^[a-z0-9-]{1,64}$/),
  step: name,
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

  it('of any text or JSON is a message, newer, or nothing; never a throw', () => {
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
        expect(isName(parsed.step) && isExecutionId(parsed.execution)).toBe(true);
        expect(Object.keys(parsed).sort()).toEqual(['attempt', 'execution', 'mode', 'seq', 'step', 'v']);
      }),
      1_000,
    );
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

  it.each(['', 'a#b', 'A', 'e'.repeat(65), 'a/b', 'a\n'])('%j is no execution id', (text) => {
    expect(isExecutionId(text)).toBe(false);
  });
});
