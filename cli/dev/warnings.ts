/**
 * The warnings of synthesis about the code that `steadfast dev` runs; the app itself does not print them.
 *
 * Owns: where an assembly keeps them, and which matter on a laptop. Does not own: the warnings (`lib/infra`).
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { printable } from '../../lib/view/text.ts';
import { readObject } from './project.ts';

/** Warnings that concern only an account. */
const NOT_HERE: ReadonlySet<string> = new Set([
  'alarmsReachNobody',
  'concurrency',
  'fourEyes',
  'importedBucket',
  'importedFunction',
  'noContainer',
]);

/** A warning as the CDK writes it: the text, and the id that acknowledges it. */
const WARNING = /^([^]*?) \[ack: (?:Annotation::)?steadfast:(\w+)\]$/;

/** @returns lines to print, or nothing */
export function warningsText(assembly: string): string {
  const warnings = entriesIn(assembly).flatMap(({ type, data }) => {
    if (type !== 'aws:cdk:warning') return [];
    const [, text = '', id = ''] = WARNING.exec(String(data)) ?? [];
    return id === '' || NOT_HERE.has(id) ? [] : [`WARNING: ${printable(text)}\n`];
  });
  return [...new Set(warnings)].join('');
}

interface Entry {
  readonly type?: unknown;
  readonly data?: unknown;
}

type Metadata = Readonly<Record<string, readonly Entry[]>>;

/**
 * The entries of an assembly: older versions of the CDK keep them in the manifest, later ones in a file
 * beside it.
 */
function entriesIn(assembly: string): readonly Entry[] {
  const manifest = join(assembly, 'manifest.json');
  if (!existsSync(manifest)) return [];
  const artifacts = Object(readObject(manifest)['artifacts']) as Readonly<Record<string, Artifact>>;
  return Object.values(artifacts).flatMap(
    ({ type, properties = {}, metadata = {}, additionalMetadataFile }) => {
      if (type === 'cdk:cloud-assembly')
        return entriesIn(join(assembly, String(properties['directoryName'])));
      const more =
        additionalMetadataFile === undefined ? {} : readObject(join(assembly, additionalMetadataFile));
      return [metadata, more as Metadata].flatMap((one) => Object.values(one).flat());
    },
  );
}

interface Artifact {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly metadata?: Metadata;
  readonly additionalMetadataFile?: string;
}
