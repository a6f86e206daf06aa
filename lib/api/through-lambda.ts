/**
 * Calls of the scheduler's function itself, for a deployment without a public API (`api: 'none'`).
 *
 * Owns: the event that stands for a request, and the answer in what the function returns. Does not own: who
 * may invoke it (`grantInvoke` of the construct), credentials and endpoints, which the given client has.
 *
 * The event has the part of API Gateway's payload format 2.0 that the function reads, and no caller: one that
 * a caller writes is believed by nobody.
 */

import type { SchedulerFunction } from './call-options.ts';

/**
 * An end without an answer, and a refusal of Lambda's, have a status as a gateway would give them.
 * @returns a base for the paths of calls, which is its name in errors, and what takes them
 */
export function throughLambda({ client, functionName }: SchedulerFunction): [string, typeof fetch] {
  const url = `https://lambda/${functionName}`;
  const send: typeof fetch = async (input, { method, headers, body, signal } = {}) => {
    const [rawPath, rawQueryString] = (input as string).slice(url.length).split('?');
    const event = { rawPath, rawQueryString, headers, body, requestContext: { http: { method } } };
    try {
      const { Payload } = await client.invoke(
        { FunctionName: functionName, Payload: JSON.stringify(event) },
        { abortSignal: signal as AbortSignal },
      );
      const { statusCode: status = 502, ...answer } = JSON.parse(new TextDecoder().decode(Payload)) as {
        readonly statusCode?: number;
        readonly headers?: Record<string, string>;
        readonly body?: string;
      };
      return new Response(answer.body, { ...answer, status });
    } catch (error) {
      const { $metadata: { httpStatusCode: status } = {}, message } = error as {
        readonly $metadata?: { readonly httpStatusCode?: number };
        readonly message?: string;
      };
      if (status === undefined) throw error;
      return Response.json({ message }, { status });
    }
  };
  return [url, send];
}
