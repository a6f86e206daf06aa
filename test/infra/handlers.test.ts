/**
 * What agents' files export, asked in a process of its own: whatever one of them does, each has an answer.
 */

import { handlersIn } from '../../lib/infra/handlers.ts';
import { project } from './fixture.ts';

const handler = (parts: string): string =>
  `const implementation = { execute: async () => 1, ${parts} };
  export const handler = Object.assign(async (): Promise<void> => {}, {
    worker: { agent: { spec: { name: 'pay' } }, implementation },
  });\n`;

test('each file is told of, also beside one that prints, throws, holds on or ends the process', async () => {
  const root = project({
    'a.ts': handler('undo: async () => {}, retries: 3'),
    'b.mts': `console.log('loaded');\nsetInterval(() => {}, 1_000);\n${handler('probe: async () => 1')}`,
    'c.ts': "throw new Error('no TABLE');",
    'd.ts': 'export const handler = async (): Promise<number> => 1;',
    'e.ts': 'process.exit(3);',
    'f.ts': handler(''),
  });
  const files = ['a.ts', 'b.mts', 'c.ts', 'd.ts', 'e.ts', 'f.ts'].map((name) => `${root}/${name}`);
  const told = await handlersIn(files, root);
  expect(told.map(({ file }) => file)).toEqual(files);
  expect(told).toMatchObject([
    { agent: 'pay', parts: ['execute', 'undo'] },
    { agent: 'pay', parts: ['execute', 'probe'] },
    { failed: 'no TABLE' },
    { parts: [] },
    { failed: 'its process ended with 3' },
    { agent: 'pay', parts: ['execute'] },
  ]);
});
