/** The contents of a Lambda function's bundle, found by following imports as a bundler does. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build, type BuildOptions, type Metafile } from 'esbuild';

const ROOT = join(import.meta.dirname, '..');

/** Packages that no function may contain: the CDK is a hundred times as large as a function. */
const BANNED_PACKAGES = ['aws-cdk-lib', 'constructs', 'esbuild', 'commander'];
const BANNED_FOLDERS = ['lib/infra/', 'cli/', 'kit/', 'lib/memory/', 'local/', 'proof/'];

/** Follows imports like a bundler, without reading packages. */
async function bundled(options: BuildOptions): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    bundle: true,
    write: false,
    outdir: 'out',
    metafile: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'silent',
    alias: { steadfast: join(ROOT, 'lib/index.ts'), 'steadfast/client': join(ROOT, 'lib/client.ts') },
    ...options,
  });
  return metafile ?? { inputs: {}, outputs: {} };
}

const reached = ({ inputs }: Metafile): string[] =>
  Object.entries(inputs).flatMap(([path, input]) => [
    ...BANNED_FOLDERS.filter((folder) => path.startsWith(folder)).map(() => `${path} is part of a function`),
    ...input.imports
      .filter(({ path: name }) =>
        BANNED_PACKAGES.some((banned) => name === banned || name.startsWith(`${banned}/`)),
      )
      .map(({ path: name }) => `${path} brings ${name} into a function`),
  ]);

describe('a Lambda function', () => {
  const entries = ['lambdas', 'examples']
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map(
        (path) => `${folder}/${path.replaceAll('\\', '/')}`,
      ),
    )
    .filter((path) =>
      // An example's agents are functions, with their imports; its presentation is a script.
      /^(?:lambdas\/(?:.*\/)?|examples\/[^/]+\/agents\/)[^/]+(?<!\.test|\.d)\.ts$/.test(path),
    );

  it('reaches neither the infrastructure nor the local cloud', async () => {
    expect(entries).toEqual(expect.arrayContaining(['lambdas/scheduler.ts', 'lambdas/supervisor.ts']));
    const metafile = await bundled({ entryPoints: entries });
    expect(Object.keys(metafile.inputs)).toEqual(
      expect.arrayContaining(['lib/core/decide.ts', 'examples/order-fulfilment/contracts.ts']),
    );
    expect(reached(metafile)).toEqual([]);
  });

  it('would be caught reaching them', async () => {
    const contents = "import 'aws-cdk-lib/core'; import './lib/infra/event-shapes.ts';";
    expect(reached(await bundled({ stdin: { contents, resolveDir: ROOT } }))).toEqual([
      'lib/infra/event-mapping.ts is part of a function',
      'lib/infra/event-shapes.ts is part of a function',
      '<stdin> brings aws-cdk-lib/core into a function',
    ]);
  });
});
