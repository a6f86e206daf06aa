/**
 * The agents' client for the warehouse, with the meaning of each answer for the work.
 *
 * Owns: the mapping from an HTTP answer, or from the lack of one, to "certainly not done" (`TransientError`,
 * `PermanentError`) or "I do not know" (anything else that is thrown). Does not own: what an agent asks.
 *
 * Only an answer of the service itself, or a connection that was never made, proves that nothing was done. A
 * reset connection, a missing answer and a 500 prove nothing.
 */

import { type AttemptContext, PermanentError, TransientError } from 'steadfast';
import * as z from 'zod/mini';

const DEFAULT_URL = 'http://127.0.0.1:4533';

export interface WarehouseRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

/**
 * Sends one request to the warehouse.
 * @returns the answer's body as parsed by `schema`; a body that does not match throws, which means "unknown"
 * @throws TransientError not done, may be tried again · PermanentError not done, and trying again cannot help
 */
export async function askWarehouse<T>(
  ctx: Pick<AttemptContext, 'signal'>,
  request: WarehouseRequest,
  schema: z.ZodMiniType<T>,
): Promise<T> {
  const response = await send(ctx, request);
  if (!response.ok) throw await refusal(request, response);
  return z.parse(schema, await response.json());
}

async function send(ctx: Pick<AttemptContext, 'signal'>, request: WarehouseRequest): Promise<Response> {
  const url = new URL(request.path, process.env['WAREHOUSE_URL'] ?? DEFAULT_URL);
  for (const [name, value] of Object.entries(request.query ?? {})) url.searchParams.set(name, value);
  try {
    return await fetch(url, {
      method: request.method,
      // The contract's type shows only the two members that authors need; the value is the platform's own
      // signal.
      signal: ctx.signal as AbortSignal,
      ...(request.body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(request.body) }),
    });
  } catch (error) {
    if (neverConnected(error)) {
      throw new TransientError(`${url.host} refused the connection`, { cause: error });
    }
    throw error;
  }
}

const Refused = z.object({ cause: z.object({ code: z.literal('ECONNREFUSED') }) });

/** Nothing was sent: the connection was refused. Every other network error may have come after the work. */
const neverConnected = (error: unknown): boolean => z.safeParse(Refused, error).success;

const Refusal = z.object({ error: z.object({ message: z.string() }) });

async function refusal(request: WarehouseRequest, response: Response): Promise<Error> {
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
