/**
 * Finds the address of a deployment's API by its tags: its custom domain, or AWS's address.
 *
 * Does not own: the tags (`lib/infra/scheduler-api.ts`).
 */

import type { Calls } from '../aws/calls.ts';
import { taggedWith } from '../aws/tagged.ts';
import { CliError, EXIT } from '../io.ts';

/** The ARN of the API's stage; the stage has the tag. */
const STAGE = /^arn:(aws[a-z-]*):apigateway:([a-z0-9-]+)::\/apis\/([a-z0-9]+)\/stages\/\$default$/;

/** @throws CliError `no-stack`, `no-api` or `several-apis`; its message names what exists */
export async function apiUrlOf(calls: Calls, stack: string): Promise<string> {
  const parts = await taggedWith(calls, stack);
  const urls = parts.flatMap(({ arn, part, url: own }) => {
    if (part === 'api' && own !== undefined) return [own];
    const [, partition, region = '', api = ''] = (part === 'api' && STAGE.exec(arn)) || [];
    const suffix = partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com';
    return partition === undefined ? [] : [`https://${api}.execute-api.${region}.${suffix}`];
  });
  const [url] = urls;
  if (url === undefined)
    throw new CliError(
      'no-api',
      `no API is tagged with stack '${stack}': give its address with --url`,
      EXIT.failed,
    );
  if (urls.length === 1) return url;
  throw new CliError(
    'several-apis',
    `stack '${stack}' has several APIs: choose one with --url: ${urls.join(', ')}`,
  );
}
