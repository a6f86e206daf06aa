/** Where an error that nobody catches comes from: the server ends for its own errors alone. */

import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../lib/project/package-files.ts';
import { placeOf } from '../../serve/stray-errors.ts';

const own = join(PACKAGE_ROOT, 'serve', 'server.ts');
const stackOf = (...places: readonly string[]): Error =>
  Object.assign(new Error('x'), {
    stack: ['Error: x', ...places.map((one) => `    at f (${one}:1:2)`)].join('\n'),
  });

it.each<[string, unknown, object]>([
  ["an author's", stackOf('/p/workflow.ts', own), { place: '/p/workflow.ts:1:2', isOwn: false }],
  [
    "an author's in a package",
    stackOf('/p/node_modules/zod/a.js', 'file:///p/workflow.ts', own),
    { place: '/p/workflow.ts:1:2', isOwn: false },
  ],
  ["a broken connection's", stackOf('node:net', '/p/node_modules/pg/a.js'), { isOwn: false }],
  ['one of its own', stackOf(own, '/p/workflow.ts'), { place: `${own}:1:2`, isOwn: true }],
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
