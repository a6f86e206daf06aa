/** The bucket of a stack that goes: CloudFormation deletes one only when it is empty. */

import { type S3Options, s3Values } from '../../lib/aws/s3-values.ts';

/** Removes all that is in it, page by page. */
export async function emptied(bucket: S3Options): Promise<void> {
  const values = s3Values(bucket);
  for (;;) {
    const { items } = await values.list('');
    if (items.length === 0) return;
    await values.remove(items.map(({ key }) => key));
  }
}
