/**
 * Reads and writes objects in S3, and maps each of its answers to its meaning for the work.
 *
 * Owns: the mapping from an answer to "certainly not done" (`TransientError`, `PermanentError`) or "I do not
 * know" (anything else that is thrown). Does not own: which objects there are (`agents/`).
 */

import type { Readable } from 'node:stream';
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { type AttemptContext, PermanentError, TransientError } from 'steadfast';
import * as z from 'zod/mini';

type Signaled = Pick<AttemptContext, 'signal'>;

export interface Place {
  readonly bucket: string;
  readonly key: string;
}

let client: S3Client | undefined;
/**
 * Creates a client for each event of a process. It tries once, because the workflow decides about retries.
 */
const s3 = (): S3Client => {
  client ??= new S3Client({ maxAttempts: 1 });
  return client;
};

/** @throws TransientError · PermanentError when there is no such object */
export async function readText(ctx: Signaled, place: Place): Promise<string> {
  return await (await get(ctx, place)).transformToString();
}

/** The object's bytes as a stream. */
export async function readStream(ctx: Signaled, place: Place): Promise<Readable> {
  return (await get(ctx, place)) as Readable;
}

export async function write(ctx: Signaled, place: Place, text: string): Promise<void> {
  const command = new PutObjectCommand({ ...named(place), Body: text });
  await asked(place, () => s3().send(command, until(ctx)));
}

/** Removes an object. S3 accepts this even if the object does not exist. */
export async function remove(ctx: Signaled, place: Place): Promise<void> {
  await asked(place, () => s3().send(new DeleteObjectCommand(named(place)), until(ctx)));
}

async function get(ctx: Signaled, place: Place) {
  const { Body } = await asked(place, () => s3().send(new GetObjectCommand(named(place)), until(ctx)));
  if (Body === undefined) throw new Error(`S3 has answered without a body for ${place.key}`);
  return Body;
}

const named = ({ bucket, key }: Place) => ({ Bucket: bucket, Key: key });

/**
 * The contract's type shows only the two members that authors need; the value is the platform's own signal.
 */
const until = ({ signal }: Signaled) => ({ abortSignal: signal as AbortSignal });

const Answered = z.object({ name: z.string(), $metadata: z.object({ httpStatusCode: z.number() }) });

async function asked<Answer>({ key }: Place, send: () => Promise<Answer>): Promise<Answer> {
  try {
    return await send();
  } catch (error) {
    const { data: answer } = z.safeParse(Answered, error);
    const status = answer?.$metadata.httpStatusCode;
    const message = `S3 answers ${answer?.name} for ${key}`;
    if (status === 503 || status === 429) throw new TransientError(message, { cause: error });
    if (status === 403 || status === 404) throw new PermanentError(message, { cause: error });
    throw error;
  }
}
