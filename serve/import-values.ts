/**
 * The bucket of a deployment, for the command line: the large values of an export go in, those of a stack
 * that goes come out.
 *
 * Owns: the way into a bucket, and that it is emptied. Does not own: the lines (`export.ts`), their order and
 * what is done with the items (`cli/serve/move.ts`).
 */

import { type S3Options, s3Values } from '../lib/aws/s3-values.ts';
import type { ValueLine } from './export.ts';

/** @returns puts the value of a line */
export function valuesInto(bucket: S3Options): (line: ValueLine) => Promise<void> {
  const values = s3Values(bucket);
  return ({ largeValue: { key, json } }) => values.put(key, json);
}

/** Removes all that is in it: CloudFormation deletes a bucket only when it is empty. */
export async function emptied(bucket: S3Options): Promise<void> {
  const values = s3Values(bucket);
  for (;;) {
    const { items } = await values.list('');
    if (items.length === 0) return;
    await values.remove(items.map(({ key }) => key));
  }
}
