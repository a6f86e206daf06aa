/** The warnings of synthesis that `dev` prints. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { warningsText } from '../../cli/dev/warnings.ts';
import { eachFolder } from '../fresh-folder.ts';

let root: string;
eachFolder('warnings', (path) => (root = path));

const warning = (id: string, text: string) => ({
  type: 'aws:cdk:warning',
  data: `${text} [ack: Annotation::${id}]`,
});
const write = (folder: string, name: string, value: unknown): void => {
  mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, folder, name), JSON.stringify(value));
};

it('are those about the code, each once, wherever the CDK has them', () => {
  const left = warning('steadfast:leftBehind', "agent 'a' leaves price.json behind");
  const stack = { type: 'aws:cloudformation:stack' };
  write('', 'manifest.json', {
    artifacts: {
      Shop: { ...stack, additionalMetadataFile: 'Shop.metadata.json' },
      Old: {
        ...stack,
        metadata: { '/Old': [warning('steadfast:branchOnRef', 'x\u001b[2J is never equal')] },
      },
      'assembly-Prod': { type: 'cdk:cloud-assembly', properties: { directoryName: 'prod' } },
    },
  });
  write('', 'Shop.metadata.json', {
    '/Shop': [
      left,
      left,
      { type: 'aws:cdk:logicalId', data: 'x' },
      warning('steadfast:alarmsReachNobody', 'its alarms reach nobody'),
      warning('@aws-cdk/core:other', 'not ours'),
    ],
  });
  write('prod', 'manifest.json', {
    artifacts: { Prod: { ...stack, metadata: { '/Prod': [left] } } },
  });
  const text = warningsText(root);
  expect(text.split('\n').filter((line) => line !== '')).toEqual([
    "WARNING: agent 'a' leaves price.json behind",
    expect.stringMatching(/^WARNING: x.*is never equal$/),
  ]);
  expect(text).not.toContain('\u001b');
  expect(warningsText(join(root, 'none'))).toBe('');
});
