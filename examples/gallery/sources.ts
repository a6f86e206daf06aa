/**
 * What the examples' triggers listen to, and what their agents may do with it. `bin/app.ts` deploys the same.
 *
 * Owns: the buckets. Each is made where a folder's `triggers.ts` asks for it, and nowhere else.
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

/** What agents may do with it, where it is there. */
export function grantUse({ steadfast, node }: SteadfastStack): void {
  const drop = node.tryFindChild('Drop') as Bucket | undefined;
  drop?.grantRead(steadfast.agent('extract-object'), 'incoming/*');
  for (const name of ['extract-object', 'transform-file', 'transform-by-line'])
    drop?.grantReadWrite(steadfast.agent(name), 'work/*');
  drop?.grantRead(steadfast.agent('load-rows'), 'work/*');
}
