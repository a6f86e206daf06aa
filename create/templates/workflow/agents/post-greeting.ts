import { type AttemptContext, done, notDone, PermanentError, TransientError } from 'steadfast';
import { postGreeting } from '../workflow__ending__';

interface Answer {
  readonly status: number;
  readonly receipt: string;
}

/** The post office knows a letter by its key: the same letter sent twice would be two. */
async function ask(ctx: AttemptContext, method: string, text?: string): Promise<Answer> {
  // dev.ts sets it here, the agent's settings in your stack where it is deployed, the test for itself.
  const office = process.env['POST_OFFICE_URL'];
  if (office === undefined) throw new PermanentError('POST_OFFICE_URL is not set');
  const response = await fetch(`${office}/letters/${ctx.idempotencyKey}`, {
    method,
    signal: ctx.signal, // broken off when the attempt's time is over
    ...(text === undefined ? {} : { body: text }),
  });
  return { status: response.status, receipt: await response.text() };
}

export const handler = postGreeting.handler({
  execute: async (ctx, input) => {
    const { status, receipt } = await ask(ctx, 'POST', input.text);
    // It says that it did nothing. Of any other error nobody knows, and the probe finds out.
    if (status === 503) throw new TransientError('the post office is closed for a moment');
    if (status !== 201) throw new Error(`the post office answered ${status}`);
    return { receipt };
  },
  probe: async (ctx) => {
    const { status, receipt } = await ask(ctx, 'GET');
    if (status === 200) return done({ receipt });
    if (status === 404) return notDone();
    throw new Error(`the post office answered ${status}`);
  },
  undo: async (ctx) => {
    const { status } = await ask(ctx, 'DELETE');
    if (status !== 204) throw new Error(`the post office answered ${status}`);
  },
});
