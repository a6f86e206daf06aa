/**
 * Calls the scheduler's function itself, for a deployment without a public API (`api: 'none'`).
 *
 * Owns: making an event of a request, and reading the answer in the function's result. Does not own: who
 * may invoke it (`grantInvoke` of the construct), credentials and endpoints, which the given client has.
 *
 * The event has the part of API Gateway's payload format 2.0 that the function reads, and no caller, because
 * the function would ignore one that a caller wrote.
 */

import type { SchedulerFunction } from './call-options.ts';

/**
 * Makes calls of the function. If it gives no answer, or Lambda refuses, the error has the status that a
 * gateway would give.
 * @returns a base for the paths of calls, which errors name, and the `fetch` for them
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
