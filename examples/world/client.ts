/**
 * The agents' client for the outside world; it maps each answer to its meaning for the work.
 *
 * Owns: the mapping from an HTTP answer, or from the lack of one, to "certainly not done" (`TransientError`,
 * `PermanentError`) or "I do not know" (anything else that is thrown). Does not own: what an agent asks.
 *
 * Only an answer of the service itself, or a connection that was never made, proves that nothing was done. A
 * reset connection, a missing answer and a 500 prove nothing.
 */

import { type AttemptContext, PermanentError, TransientError } from 'steadfast';
import { awsSignature } from 'steadfast/client';
import * as z from 'zod/mini';

export interface WorldRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

/**
 * Sends one request to the outside world.
 * @returns the answer's body as parsed by `schema`; a body that does not match throws, which means "unknown"
 * @throws TransientError not done, may be tried again · PermanentError not done, and trying again cannot help
 */
export type CallWorld = <T>(
  ctx: Pick<AttemptContext, 'signal'>,
  request: WorldRequest,
  schema: z.ZodMiniType<T>,
) => Promise<T>;

/**
 * @param variable the environment variable with the world's address ·
 * @param usual the address if the variable is not set
 */
export const worldAt =
  (variable: string, usual: string): CallWorld =>
  async (ctx, request, schema) => {
    const told = process.env[variable];
    const hint = told === undefined ? `: ${variable} does not say where the outside world is` : '';
    const response = await send(told ?? usual, hint, ctx, request);
    if (!response.ok) throw await refusal(request, response);
    return z.parse(schema, await response.json());
  };

/** A function URL behind IAM needs signed requests: `WORLD_AUTH` says that the world is one. */
const sender = (): typeof fetch => {
  const {
    WORLD_AUTH: auth,
    AWS_REGION: region = '',
    AWS_ACCESS_KEY_ID: accessKeyId = '',
    AWS_SECRET_ACCESS_KEY: secretAccessKey = '',
    AWS_SESSION_TOKEN: sessionToken,
  } = process.env;
  if (auth !== 'iam') return fetch;
  const session = sessionToken === undefined ? {} : { sessionToken };
  const credentials = { accessKeyId, secretAccessKey, ...session };
  return awsSignature({ region, service: 'lambda', credentials })(fetch);
};

async function send(
  world: string,
  hint: string,
  ctx: Pick<AttemptContext, 'signal'>,
  request: WorldRequest,
): Promise<Response> {
  const url = new URL(request.path, world);
  for (const [name, value] of Object.entries(request.query ?? {})) url.searchParams.set(name, value);
  try {
    return await sender()(url.href, {
      method: request.method,
      signal: ctx.signal,
      ...(request.body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(request.body) }),
    });
  } catch (error) {
    if (neverConnected(error)) {
      throw new TransientError(`${url.host} refused the connection${hint}`, { cause: error });
    }
    throw error;
  }
}

const Refused = z.object({ cause: z.object({ code: z.literal('ECONNREFUSED') }) });

/** Nothing was sent: the connection was refused. Every other network error may have come after the work. */
const neverConnected = (error: unknown): boolean => z.safeParse(Refused, error).success;

const Refusal = z.object({ error: z.object({ message: z.string() }) });

async function refusal(request: WorldRequest, response: Response): Promise<Error> {
  const text = await response.text().catch(() => '');
  const message = `${request.method} ${request.path} was answered ${response.status}: ${reasonIn(text)}`;
  switch (response.status) {
    case 429:
    case 503: {
      const wish = retryAfterSeconds(response.headers.get('retry-after'));
      return new TransientError(message, wish === undefined ? {} : { retryAfter: wish });
    }
    case 402:
    case 409:
    case 422:
    // There is no such service or path: a mistake in the agent or in `world.ts`, which no retry corrects.
    case 501:
      return new PermanentError(message);
    default:
      return new Error(message);
  }
}

function reasonIn(text: string): string {
  try {
    return z.parse(Refusal, JSON.parse(text)).error.message;
  } catch {
    return text.slice(0, 200) || 'no reason given';
  }
}

/** Seconds, or an HTTP date; any other value is ignored. */
function retryAfterSeconds(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - Date.now()) / 1_000;
  return seconds > 0 ? seconds : undefined;
}
