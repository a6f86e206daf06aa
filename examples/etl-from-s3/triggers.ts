/** Starts a batch when a manifest is written. The manifest comes last, after all the files that it names. */

import { onObjectCreated } from 'steadfast';
import { etlFromS3 } from './workflow.ts';

export const manifests = onObjectCreated(etlFromS3, {
  bucket: 'drop',
  prefix: 'incoming/',
  suffix: '.manifest',
  input: { bucket: '$.detail.bucket.name', key: '$.detail.object.key' },
});
