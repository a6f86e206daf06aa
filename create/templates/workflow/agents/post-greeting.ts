import { type AttemptContext, done, notDone, PermanentError, TransientError } from 'steadfast';
import { postGreeting } from '../workflow__ending__';

interface Answer {
  readonly status: number;
  readonly receipt: string;
}

/** The post office files each letter under its key, and does not notice a duplicate. */
async function ask(ctx: AttemptContext, method: string, text?: string): Promise<Answer> {
  // Set by dev.ts on this machine, by `agentSettings` of your stack on AWS, and by the test itself.
  const office = process.env['POST_OFFICE_URL'];
  if (office === undefined) throw new PermanentError('POST_OFFICE_URL is not set');
  const response = await fetch(`${office}/letters/${ctx.idempotencyKey}`, {
    method,
    signal: ctx.signal, // aborted when the attempt's time is over
    ...(text === undefined ? {} : { body: text }),
  });
  return { status: response.status, receipt: await response.text() };
}

export const handler = postGreeting.handler({
  execute: async (ctx, input) => {
    const { status, receipt } = await ask(ctx, 'POST', input.text);
    // 503: certainly not done. After any other error the outcome is unknown, and the probe finds out.
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
