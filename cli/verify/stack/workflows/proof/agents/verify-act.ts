/** Acts once for each request, and misbehaves as its input says. */

import { done, notDone, PermanentError } from 'steadfast';
import { act, effectsOf, keyOf, takeBack } from '../effects.ts';
import { verifyAct } from '../workflow.ts';

export const handler = verifyAct.handler({
  execute: async (ctx, { mode }) => {
    if (mode === 'decline') throw new PermanentError('the service declines');
    const isFirst = ctx.attempt === 1;
    const effect = await act(keyOf(ctx));
    if (isFirst && mode === 'die-after') process.exit(1);
    if (isFirst && mode === 'lose-answer') throw new Error('the answer of the service was lost');
    return { effect };
  },
  probe: async (ctx) => {
    const [effect] = await effectsOf(keyOf(ctx));
    return effect === undefined ? notDone() : done({ effect });
  },
  undo: (ctx) => takeBack(keyOf(ctx)),
});
