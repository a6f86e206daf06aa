/** What starts a batch: a manifest that is written last, when all the files that it names are there. */

import { onObjectCreated } from 'steadfast';
import { etlFromS3 } from './workflow.ts';

export const manifests = onObjectCreated(etlFromS3, {
  bucket: 'drop',
  prefix: 'incoming/',
  suffix: '.manifest',
  input: { bucket: '$.detail.bucket.name', key: '$.detail.object.key' },
});
