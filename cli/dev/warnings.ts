/**
 * Prints the warnings of the synthesis for `steadfast dev`, because the app does not print them.
 *
 * Owns: finding them in an assembly, and which matter on a laptop. Does not own: the warnings (`lib/infra`).
 */

import { join } from 'node:path';
import { printable } from '../../lib/view/text.ts';
import { artifactsIn, readObject } from './project.ts';

/** Warnings that concern only an account. */
const NOT_HERE: ReadonlySet<string> = new Set([
  'alarmsReachNobody',
  'concurrency',
  'fourEyes',
  'importedBucket',
  'importedFunction',
  'noContainer',
]);

/** The CDK's format of a warning: the text, and the id that acknowledges it. */
const WARNING = /^([^]*?) \[ack: (?:Annotation::)?steadfast:(\w+)\]$/;

/** @returns lines to print, or '' */
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

/**
 * The entries of an assembly: older versions of the CDK write them into the manifest, later ones into a file
 * beside it.
 */
const entriesIn = (root: string): readonly Entry[] =>
  artifactsIn(root).flatMap(({ assembly, metadata = {}, additionalMetadataFile: file }) => {
    const more = file === undefined ? {} : readObject(join(assembly, file));
    return [metadata, more].flatMap((one) => Object.values(one as Readonly<Record<string, Entry[]>>).flat());
  });
