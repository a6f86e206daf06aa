/** What is said to people and what a message's text may be: errors, names, the meaning of each move (S13). */

import { PermanentError, refuse, SteadfastError, TransientError } from '../../../lib/core/records/errors.ts';
import { formatMessage, parseMessage } from '../../../lib/core/records/message.ts';
import { checkName, isExecutionId } from '../../../lib/core/records/names.ts';
import { EXECUTION_EVENTS, STEP_EVENTS } from '../../../lib/core/records/moves.ts';

describe('what is said to people', () => {
  it('errors have a name, a message and what else they were given', () => {
    const cause = new Error('why');
    const transient = new TransientError('busy', { retryAfterMs: 5, cause });
    expect(transient).toMatchObject({ name: 'TransientError', message: 'busy', retryAfterMs: 5, cause });
    expect(new TransientError('busy').retryAfterMs).toBeUndefined();
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

  it('a name is refused with what was given and what is allowed', () => {
    expect(() => checkName(`A${'b'.repeat(70)}`, 'step')).toThrow(
      refuse(
        'bad-name',
        `step name "A${'b'.repeat(59)}" is not allowed: a lower-case letter, then up to 47 lower-case letters, digits or dashes; not 'constructor', not 'prototype'`,
      ),
    );
    expect(() => checkName('ok', 'step')).not.toThrow();
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
  const message = { v: 1, execution: 'e-1', step: 'it', attempt: 0, mode: 'undo', seq: 0 } as const;
  it('has the plan where the sender gave it', () => {
    expect(parseMessage(formatMessage({ ...message, plan: 'p' }))).toStrictEqual({ ...message, plan: 'p' });
    expect(Object.keys(parseMessage(JSON.stringify({ ...message, plan: 5 })) ?? {})).toStrictEqual(
      Object.keys(message),
    );
  });

  it('is none with a number that is none, and newer by its version alone', () => {
    const read = (more: object) => parseMessage(JSON.stringify({ ...message, ...more }));
    expect([
      read({ seq: -1 }),
      read({ attempt: 0.5 }),
      read({ step: 5 }),
      read({ v: 1.5 }),
      read({ v: '2' }),
    ]).toStrictEqual([undefined, undefined, undefined, 'newer', undefined]);
  });
});
