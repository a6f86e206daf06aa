/** Which files of a project `steadfast dev` runs from, by its assembly and the command of its app. */

import { join } from 'node:path';
import { sourcesOf } from '../../cli/dev/sources.ts';
import { eachFolder, writeFiles } from '../fresh-folder.ts';

let root: string;
eachFolder('sources', (path) => (root = path));
beforeEach(() => {
  write({
    'bin/app.ts': `import { at } from '../infra/stack.ts'; import 'aws-cdk-lib'; console.log(at);`,
    'infra/stack.ts': `export const at: string = 'stack';`,
    'flows/order/triggers.ts': `import { at } from '../../times/daily.ts'; console.log(at);`,
    'times/daily.ts': `export const at = '06:00';`,
    'cdk.out/bundles/orders/scheduler.meta.json': metafile(
      'flows/order/workflow.ts',
      'node_modules/zod/z.js',
    ),
    'cdk.out/bundles/orders/agents/pay.meta.json': metafile('flows/order/agents/pay.ts', 'shared/money.ts'),
  });
});

const write = (files: Readonly<Record<string, string>>): void => writeFiles(root, files);

const metafile = (...inputs: readonly string[]): string =>
  JSON.stringify({ inputs: Object.fromEntries(inputs.map((input) => [input, {}])), outputs: {} });

async function counting(app: string, files: readonly string[]): Promise<string[]> {
  const isSource = await sourcesOf({ root, app }, join(root, 'cdk.out'));
  return files.filter((file) => isSource(join(root, file)));
}

test('what is bundled, imported by the app, or below the folder of a workflow counts, and nothing else does', async () => {
  const yes = [
    'bin/app.ts',
    'infra/stack.ts',
    'shared/money.ts',
    'times/daily.ts',
    'flows/order/dev.ts',
    'flows/order/triggers.ts',
    'flows/order/agents/new/table.ts',
    'flows/new/workflow.ts',
    'config/prod.json',
  ];
  const no = ['mistakes/m01/workflow.ts', 'poi/try.mts', 'flows/notes.ts', 'scripts/load.js'];
  expect(await counting('npx tsx bin/app.ts', [...yes, ...no])).toEqual(yes);
});

test.each(['python3 app.py', 'npm run app', 'npx tsx bin/broken.ts'])(
  'where the app cannot be read every file counts: %s',
  async (app) => {
    write({ 'bin/broken.ts': 'import {' });
    expect(await counting(app, ['poi/try.ts'])).toEqual(['poi/try.ts']);
  },
);
