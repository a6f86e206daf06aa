/**
 * Sends a call as the invocation of a Lambda function, and waits for its answer.
 *
 * Owns: the request to Lambda's API and the meaning of its answers. Does not own: the connection (`http.ts`),
 * the permission for the call, which the construct grants for this one function.
 *
 * The answer is the function's return value. It comes once, at the end; there is no progress.
 * @see https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
 */

import { ENV } from '../aws/names.ts';
import { TransientError } from '../core/values/errors.ts';
import { AnswerReader } from './contract.ts';
import { notInvoked, post, type Send, signed, variable } from './http.ts';

const ARN = /^arn:([a-z-]+):lambda:([a-z0-9-]+):\d{12}:function:[A-Za-z0-9-_]+(?::[A-Za-z0-9-_$]+)?$/;

/** Statuses that no retry changes: the request itself is refused. */
const FOR_GOOD: ReadonlySet<number> = new Set([400, 413, 415]);
/**
 * Statuses that a retry may change: no such function, no permission to call it, or it cannot run now. Each
 * may mean a deployment in progress.
 */
const FOR_NOW: ReadonlySet<number> = new Set([403, 404, 409, 429]);

interface Place {
  readonly url: URL;
  readonly region: string;
}

/** @throws TransientError: nothing was sent */
function placeOf(arn: string): Place {
  const [, partition, region] = ARN.exec(arn) ?? [];
  if (region === undefined)
    throw new TransientError(
      `nothing was sent: ${ENV.remoteFunction} is not the ARN of a Lambda function; agentSettings[…].remoteFunction sets it`,
    );
  const suffix = partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com';
  const host =
    process.env['AWS_ENDPOINT_URL_LAMBDA'] ??
    process.env['AWS_ENDPOINT_URL'] ??
    `https://lambda.${region}.${suffix}`;
  return { url: new URL(`/2015-03-31/functions/${encodeURIComponent(arn)}/invocations`, host), region };
}

export const lambdaSend = (): Send => async (call, signal) => {
  const { url, region } = placeOf(variable(ENV.remoteFunction));
  const body = JSON.stringify(call);
  const own = { 'content-type': 'application/json', 'x-amz-invocation-type': 'RequestResponse' };
  const headers = await signed({ url, headers: own, body, service: 'lambda', region });
  return await post({ url, headers, body, signal }, (status, answered) => {
    const message = `Lambda answered ${status}`;
    if (FOR_GOOD.has(status) || FOR_NOW.has(status))
      throw notInvoked(
        `${message} ${nameOf(answered['x-amzn-errortype'])}: the function was not run`,
        FOR_GOOD.has(status),
        answered['retry-after'],
      );
    if (status !== 200) throw Object.assign(new Error(message), { code: `http-${status}` });
    const failed = answered['x-amz-function-error'];
    if (failed !== undefined)
      throw Object.assign(new Error('the function ended with an error, which its own log says'), {
        code: 'function-error',
      });
    return new AnswerReader(call.call);
  });
};

/** Returns the first part of 'ThrottlingException:http://…', if it is a name. */
const nameOf = (type: unknown): string =>
  /^[A-Za-z]{1,60}/.exec(typeof type === 'string' ? type : '')?.[0] ?? 'without a reason';
