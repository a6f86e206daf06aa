/** Acts once for each request, and misbehaves as its input says. */

import { type AttemptContext, done, notDone, PermanentError } from 'steadfast';
import { act, effectsOf, keyOf, takeBack } from './effects.ts';

interface Asked {
  readonly mode: 'plain' | 'lose-answer' | 'die-after' | 'decline';
}

export const ACTING = {
  execute: async (ctx: AttemptContext, { mode }: Asked) => {
    if (mode === 'decline') throw new PermanentError('the service declines');
    const isFirst = ctx.attempt === 1;
    const effect = await act(keyOf(ctx));
    if (isFirst && mode === 'die-after') process.exit(1);
    if (isFirst && mode === 'lose-answer') throw new Error('the answer of the service was lost');
    return { effect };
  },
  probe: async (ctx: AttemptContext) => {
    const [effect] = await effectsOf(keyOf(ctx));
    return effect === undefined ? notDone() : done({ effect });
  },
  undo: (ctx: AttemptContext) => takeBack(keyOf(ctx)),
};
