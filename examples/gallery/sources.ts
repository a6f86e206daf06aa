/**
 * The resources that the examples' triggers listen to, and the agents' permissions on them. `bin/app.ts`
 * deploys the same ones.
 *
 * Owns: the buckets. A bucket is created only if a folder's `triggers.ts` asks for it.
 */

import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Duration, type Stack } from 'aws-cdk-lib/core';
import type { SteadfastStack } from 'steadfast/cdk';

export const sources = (stack: Stack) => ({
  buckets: {
    get pictures(): Bucket {
      return new Bucket(stack, 'Pictures', { enforceSSL: true });
    },
    get drop(): Bucket {
      const lifecycleRules = [{ prefix: 'work/', expiration: Duration.days(7) }];
      return new Bucket(stack, 'Drop', { enforceSSL: true, lifecycleRules });
    },
  },
});

/** Grants the agents the use of a bucket, if it exists. */
export function grantUse({ steadfast, node }: SteadfastStack): void {
  const drop = node.tryFindChild('Drop') as Bucket | undefined;
  drop?.grantRead(steadfast.agent('extract-object'), 'incoming/*');
  for (const name of ['extract-object', 'transform-file', 'transform-by-line'])
    drop?.grantReadWrite(steadfast.agent(name), 'work/*');
  drop?.grantRead(steadfast.agent('load-rows'), 'work/*');
}
