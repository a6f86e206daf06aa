/**
 * Saves the example's bundles of these sources as those of the previous release, for
 * `test/e2e/two-releases.test.ts`. Run it at a release, on its commit.
 *
 * Owns: the content of the fixture. The fixture is a file, because a shallow clone lacks earlier commits.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { synthesize } from '../lib/infra/synth.ts';
import { packageVersion } from '../lib/project/package-files.ts';

const FIXTURE = join(import.meta.dirname, '..', 'test', 'fixtures', 'release-before', 'bundles.br');
/** The bundles share most of their code, so the compression window must cover all of them. */
const WINDOW_BITS = 24;

interface Declared {
  readonly Type: string;
  readonly Properties: { readonly Code: { readonly S3Key: string } };
  readonly Metadata: Readonly<Record<string, string>>;
}

const folder = mkdtempSync(join(tmpdir(), 'steadfast-keep-release-'));
try {
  const { assembly, stackName } = await synthesize({
    outdir: folder,
    only: ['order-fulfilment'],
    validation: false,
  });
  const read = (name: string): unknown => JSON.parse(readFileSync(join(assembly, name), 'utf8'));
  const { Resources } = read(`${stackName}.template.json`) as { Resources: Record<string, Declared> };
  const { files } = read(`${stackName}.assets.json`) as {
    files: Record<string, { source: { path: string } }>;
  };
  const functions = Object.values(Resources)
    .filter(({ Type }) => Type === 'AWS::Lambda::Function')
    .map(({ Properties, Metadata }) => {
      const asset = files[Properties.Code.S3Key.replace('.zip', '')]?.source.path ?? '';
      const code = readFileSync(join(assembly, asset, 'index.mjs'), 'utf8');
      const path = Metadata['aws:cdk:path']?.replace(/^[^/]+\//, '') ?? '';
      return [path, code.replace(/\n\/\/# sourceMappingURL=.*\n?$/, '')];
    });
  const text = JSON.stringify({ version: packageVersion(), functions: Object.fromEntries(functions) });
  const kept = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_LGWIN]: WINDOW_BITS } });
  writeFileSync(FIXTURE, kept);
  process.stdout.write(`${functions.length} bundles, ${Math.round(kept.length / 1_024)} KB: ${FIXTURE}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
