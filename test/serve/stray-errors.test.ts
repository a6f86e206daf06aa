/** Where an error that nobody catches comes from: the server ends for its own errors alone. */

import { join } from 'node:path';
import { ApiError } from '../../lib/client.ts';
import { refuse } from '../../lib/core/values/errors.ts';
import { PACKAGE_ROOT } from '../../lib/project/package-files.ts';
import { placeOf } from '../../serve/stray-errors.ts';

const own = join(PACKAGE_ROOT, 'serve', 'server.ts');
const withStack = (error: Error, ...places: readonly string[]): Error =>
  Object.assign(error, {
    stack: ['Error: x', ...places.map((one) => `    at f (${one}:1:2)`)].join('\n'),
  });
const stackOf = (...places: readonly string[]): Error => withStack(new Error('x'), ...places);
const answer = new ApiError('no-answer', 'x');

it.each<[string, unknown, object]>([
  ["an author's", stackOf('/p/workflow.ts', own), { place: '/p/workflow.ts:1:2', isOwn: false }],
  [
    "an author's in a package",
    stackOf('/p/node_modules/zod/a.js', 'file:///p/workflow.ts', own),
    { place: '/p/workflow.ts:1:2', isOwn: false },
  ],
  ["a broken connection's", stackOf('node:net', '/p/node_modules/pg/a.js'), { isOwn: false }],
  [
    "an author's in a folder with a space",
    stackOf('file:///p%20q/workflow.ts', own),
    { place: '/p q/workflow.ts:1:2', isOwn: false },
  ],
  ['one of its own', stackOf(own, 'node:fs'), { place: `${own}:1:2`, isOwn: true }],
  [
    "that of an author's call of a client",
    stackOf(own, '/p/workflow.ts', own),
    { place: '/p/workflow.ts:1:2', isOwn: false },
  ],
  ['an answer that no author awaits', withStack(answer, own), { place: `${own}:1:2`, isOwn: false }],
  ['a refusal', withStack(refuse('not-kept', 'x'), own), { place: `${own}:1:2`, isOwn: false }],
  [
    'one of its own in a package',
    stackOf('node:fs', '/p/node_modules/hono/a.js', own),
    { place: `${own}:1:2`, isOwn: true },
  ],
  ['no error', 'a text', { isOwn: false }],
  ['none', undefined, { isOwn: false }],
])('%s', (_, error, found) => {
  expect(placeOf(error)).toEqual(found);
});
