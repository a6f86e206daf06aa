import { done, notDone, TransientError } from 'steadfast';
import { postGreeting } from '../workflow__ending__';

interface Answer {
  readonly status: number;
  readonly receipt: string;
}

/** The post office knows a letter by its key: the same letter sent twice would be two. */
async function ask(method: string, key: string, text?: string): Promise<Answer> {
  const url = `${process.env['POST_OFFICE_URL'] ?? 'http://127.0.0.1:4520'}/letters/${key}`;
  const response = await fetch(url, { method, ...(text === undefined ? {} : { body: text }) });
  return { status: response.status, receipt: await response.text() };
}

export const handler = postGreeting.handler({
  execute: async (ctx, input) => {
    const { status, receipt } = await ask('POST', ctx.effectKey, input.text);
    // It says that it did nothing. Of any other error nobody knows, and the probe finds out.
    if (status === 503) throw new TransientError('the post office is closed for a moment');
    if (status !== 201) throw new Error(`the post office answered ${status}`);
    return { receipt };
  },
  probe: async (ctx) => {
    const { status, receipt } = await ask('GET', ctx.effectKey);
    if (status === 200) return done({ receipt });
    if (status === 404) return notDone();
    throw new Error(`the post office answered ${status}`);
  },
  undo: async (ctx) => {
    const { status } = await ask('DELETE', ctx.effectKey);
    if (status !== 204) throw new Error(`the post office answered ${status}`);
  },
});
