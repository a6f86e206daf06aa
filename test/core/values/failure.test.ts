/** S17 only names, codes and messages of an error and of its causes are stored, shortened to the limit. */

import * as z from 'zod/mini';
import { markOf, PermanentError, sayable } from '../../../lib/core/values/errors.ts';
import { failureOf, readable } from '../../../lib/core/values/failure.ts';

const error = (message: string, more: object = {}): Error => Object.assign(new Error(message), more);
const messageOf = (thrown: unknown): string => failureOf(thrown).message;

it.each<[string, unknown, string, string]>([
  ['an error with a code', error('no', { code: 'E_NO' }), 'E_NO', 'no'],
  ['an error of another realm', { name: 'TypeError', message: 'foreign' }, 'TypeError', 'foreign'],
  ['an error without a name', { name: '', message: 'nameless' }, 'Error', 'nameless'],
  ['an error whose code is a number', error('no', { code: 5 }), 'Error', 'no'],
  ['a text', 'text', 'Error', 'text'],
])('is made of %s', (_, thrown, code, message) => {
  expect(failureOf(thrown)).toEqual({ code, message });
});

it.each([null, undefined, 5, Symbol('x'), {}, [], () => 1])('of %p is made without a throw', (thrown) => {
  expect(failureOf(thrown)).toMatchObject({ code: 'Error', message: expect.any(String) });
});

it('for an object that cannot be turned into text does not throw', () => {
  const hostile = {
    toString: (): never => {
      throw new Error('restart');
    },
    [Symbol.toPrimitive]: 5,
  };
  expect(failureOf(hostile)).toMatchObject({ code: 'Error' });
  expect(failureOf(Object.create(null))).toMatchObject({ code: 'Error' });
});

describe('what can be read of a thrown value', () => {
  it.each([null, 'text', error('no'), new PermanentError('no')])('is %p itself', (thrown) => {
    expect(readable(thrown)).toBe(thrown);
  });

  it.each(['name', 'message', 'code', 'stack', 'retryAfter'])('is its mark where %s throws', (field) => {
    const get = (): never => {
      throw new Error('unreadable');
    };
    const found = readable(Object.defineProperty(new PermanentError('declined'), field, { get }));
    expect(markOf(found)).toBe('permanent');
    expect(failureOf(found)).toMatchObject({ message: expect.any(String) });
  });

  it('is an error where it is a revoked proxy', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(readable(proxy)).toMatchObject({ message: 'what was thrown cannot be shown' });
    expect(sayable(proxy)).toBe('error');
  });
});

describe('what caused an error', () => {
  it.each<[string, unknown, string]>([
    [
      'is told with its code',
      error('other side closed', { name: 'SocketError', code: 'UND_ERR_SOCKET' }),
      'fetch failed: UND_ERR_SOCKET other side closed',
    ],
    [
      'is told with its name where it has no code',
      error('x', { name: 'RangeError' }),
      'fetch failed: RangeError x',
    ],
    ['is told without the name that every error has', error('x'), 'fetch failed: x'],
    ['says its code once', error('read ECONNRESET', { code: 'ECONNRESET' }), 'fetch failed: read ECONNRESET'],
    ['is told with what caused it', error('b', { cause: error('c', { code: 'C' }) }), 'fetch failed: b: C c'],
    ['is not told again', error('fetch failed'), 'fetch failed'],
    ['is not told again by what wraps it', error('fetch failed: at last'), 'fetch failed: at last'],
    ['that is no error is not told, for it may be a payload', { card: '4111' }, 'fetch failed'],
    ['that is a text is not told, for it may be a payload', '{"card":4111}', 'fetch failed'],
  ])('%s', (_, cause, message) => {
    expect(messageOf(error('fetch failed', { cause }))).toBe(message);
  });

  it('is listed for each of several errors, for many the first three', () => {
    const refused = [error('connect ECONNREFUSED ::1:80'), error('connect ECONNREFUSED 127.0.0.1:80')];
    const cause = error('', { name: 'AggregateError', code: 'ECONNREFUSED', errors: refused });
    expect(messageOf(error('fetch failed', { cause }))).toBe(
      'fetch failed: connect ECONNREFUSED ::1:80; connect ECONNREFUSED 127.0.0.1:80',
    );
    const five = [1, 2, 3, 4, 5].map((n) => error(`e${n}`, n === 2 ? { cause: error('why') } : {}));
    const all = error('all failed', { errors: five, cause: error('after all') });
    expect(messageOf(all)).toBe('all failed: e1; e2: why; e3; and 2 more: after all');
  });

  it('is listed five deep', () => {
    const deep = [1, 2, 3, 4, 5, 6, 7].reduceRight<unknown>(
      (cause, n) => error(`c${n}`, { cause }),
      undefined,
    );
    expect(messageOf(error('c0', { cause: deep }))).toBe('c0: c1: c2: c3: c4: c5');
  });

  it('is listed once if it goes round in a circle', () => {
    const round = error('a') as Error & { cause?: unknown; errors?: unknown };
    round.cause = error('b', { cause: round, errors: [round] });
    expect(messageOf(round)).toBe('a: b');
  });

  it('that cannot be read leaves what is known', () => {
    const hostile = Object.defineProperty(error('known'), 'cause', {
      get: (): never => {
        throw new Error('no');
      },
    });
    expect(messageOf(hostile)).toBe('known');
    expect(messageOf(error('outer', { cause: hostile }))).toBe('outer: known');
  });
});

test('what does not fit a schema is said in words, not as the JSON of its library', () => {
  const charges = z.array(z.object({ id: z.string('no text') }));
  const schema = z.object({ charges, at: z.number('no number') }, 'no object');
  const saidOf = (value: unknown): string => {
    const { error: misfit } = schema.safeParse(value);
    expect(misfit?.message).toMatch(/^\[/);
    return messageOf(misfit);
  };
  expect(saidOf({ charges: [{ id: 1 }] })).toBe('charges.0.id: no text; at: no number');
  expect(saidOf('sold out')).toBe('(the value): no object');
  for (const other of ['[', '[]', '[1]', '[{"message":"no"}]'])
    expect(messageOf(new Error(other))).toBe(other);
});
