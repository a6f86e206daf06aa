/** Makes a project with one example, so that only its agents are bundled. */

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../lib/project/package-files.ts';

const CDK = {
  app: `'${process.execPath}' --import tsx '${join(PACKAGE_ROOT, 'bin/app.ts')}'`,
  context: {
    'steadfast:only': 'order-fulfilment',
    'steadfast:folders': [join(PACKAGE_ROOT, 'examples')],
    'steadfast:try': 'order-fulfilment',
  },
};

/** @returns its folder, inside the repository, where packages are found; ignored by git */
export function projectWithOneExample(): string {
  const parent = join(PACKAGE_ROOT, '.steadfast');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'one-example-'));
  writeFileSync(join(folder, 'cdk.json'), JSON.stringify(CDK));
  return folder;
}
