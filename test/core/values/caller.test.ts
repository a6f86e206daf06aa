/** Which callers count as the same person, and what is stored about a caller (S19). */

import {
  type Caller,
  callerText,
  isCallerName,
  isSamePerson,
  MAX_CALLER_CHARS,
  personOf,
} from '../../../lib/core/values/caller.ts';
import { deedAgainst, isFull, MAX_PEOPLE, peopleAfter } from '../../../lib/core/records/people.ts';

const iam = (name: string): Caller => ({ kind: 'iam', name });
const of = (caller: Caller, ...personal: string[]) => personOf(caller, new Set(personal));
const STS = 'arn:aws:sts::123456789012:';

it.each<[Caller, string]>([
  [iam('arn:aws:iam::1:user/a'), 'arn:aws:iam::1:user/a'],
  [{ kind: 'jwt', name: 'https://i s' }, 'jwt:https://i s'],
  [{ kind: 'local', name: 'local' }, 'local'],
  [{ kind: 'local', name: 'ann' }, 'local:ann'],
  [{ kind: 'trigger', name: 'nightly' }, 'trigger:nightly'],
])('%j is written %s', (caller, text) => {
  expect(callerText(caller)).toBe(text);
});

it.each<[string, boolean]>([
  ['a', true],
  ['a b|c~', true],
  ['x'.repeat(MAX_CALLER_CHARS), true],
  ['x'.repeat(MAX_CALLER_CHARS + 1), false],
  ['', false],
  ['a\nb', false],
  ['é', false],
])('a name %j may be kept: %s', (name, expected) => {
  expect(isCallerName(name)).toBe(expected);
});

it.each<[Caller, readonly string[], string | undefined]>([
  [iam('arn:aws:iam::123456789012:user/team/Ann'), [], 'arn:aws:iam::123456789012:user/team/Ann'],
  [iam('arn:aws-cn:iam::123456789012:user/ann'), [], 'arn:aws-cn:iam::123456789012:user/ann'],
  [iam(`${STS}assumed-role/Ops/ann`), [], `${STS}assumed-role/Ops`],
  [iam(`${STS}assumed-role/Ops/ann`), ['Ops'], `${STS}assumed-role/Ops/ann`],
  [iam(`${STS}assumed-role/Ops/Ann@Example`), ['Ops'], `${STS}assumed-role/Ops/ann@example`],
  [iam(`${STS}assumed-role/Ops/ann`), ['ops', 'ann'], `${STS}assumed-role/Ops`],
  [iam(`${STS}federated-user/ann`), ['ann'], `${STS}federated-user`],
  [iam('arn:aws:iam::123456789012:root'), [], 'arn:aws:iam::123456789012:root'],
  [{ kind: 'jwt', name: 'https://i s/t' }, [], 'jwt:https://i s/t'],
  [{ kind: 'local', name: 'ann' }, [], 'local:ann'],
  [{ kind: 'trigger', name: 'nightly' }, [], undefined],
])('the person behind %j with %j as personal roles', (caller, personal, person) => {
  expect(of(caller, ...personal)).toBe(person);
});

it.each([
  ['a', 'a', true],
  [`${STS}assumed-role/Ops`, `${STS}assumed-role/Ops/ann`, true],
  [`${STS}assumed-role/Ops`, `${STS}assumed-role/Ops2/ann`, false],
  [`${STS}assumed-role/Ops/ann`, `${STS}assumed-role/Ops/bob`, false],
  ['arn:aws:iam::1:user/a', 'arn:aws:iam::1:user/a/b', false],
  ['jwt:https://i s', 'jwt:https://i s/t', false],
])('%s and %s are one person: %s', (one, other, expected) => {
  expect(isSamePerson(one, other)).toBe(expected);
  expect(isSamePerson(other, one)).toBe(expected);
});

it('an entry stays; any other deed outweighs an approval, and is outweighed by none', () => {
  const approved = peopleAfter({}, { person: 'p', deed: 'approved:e/a' });
  expect(approved).toEqual({ p: 'approved:e/a' });
  expect(peopleAfter(approved, { person: 'p', deed: 'approved:e/a' })).toBe(approved);
  // The first approval may never have been written. The person who then gave the second must not give the
  // first after a retry of the execution.
  const both = peopleAfter(approved, { person: 'p', deed: 'approved:e/b' });
  expect(deedAgainst(both, 'p', 'approved:e/a')).toBe('approved:e/b');
  expect(deedAgainst(both, 'p', 'approved:e/b')).toBeUndefined();
  const retried = peopleAfter(approved, { person: 'p', deed: 'retried' });
  expect(retried).toEqual({ p: 'retried' });
  expect(peopleAfter(retried, { person: 'p', deed: 'approved:e/a' })).toBe(retried);
  expect(peopleAfter(retried, { person: 'p', deed: 'skipped' })).toBe(retried);
  expect(peopleAfter(retried, { person: 'q', deed: 'skipped' })).toEqual({ p: 'retried', q: 'skipped' });
});

it('what keeps a person from an answer is anything but that very answer', () => {
  expect(deedAgainst({}, 'p', 'approved:e/a')).toBeUndefined();
  expect(deedAgainst({ q: 'started' }, 'p', 'approved:e/a')).toBeUndefined();
  expect(deedAgainst({ p: 'approved:e/a' }, 'p', 'approved:e/a')).toBeUndefined();
  expect(deedAgainst({ p: 'approved:e/b' }, 'p', 'approved:e/a')).toBe('approved:e/b');
  expect(deedAgainst({ p: 'started' }, 'p', 'approved:e/a')).toBe('started');
});

it('so many persons are kept, and no more', () => {
  const people = Object.fromEntries(
    Array.from({ length: MAX_PEOPLE }, (_, at) => [`p${at}`, 'started' as const]),
  );
  expect(isFull(people, 'p0')).toBe(false);
  expect(isFull(people, 'q')).toBe(true);
  const { p0: _, ...fewer } = people;
  expect(isFull(fewer, 'q')).toBe(false);
});
