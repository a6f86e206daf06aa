/** Refuses every call until the switch of its service is on. */

import { TransientError } from 'steadfast';
import { effectsOf } from '../effects.ts';
import { verifyClosed } from '../workflow.ts';

export const handler = verifyClosed.handler({
  execute: async (_ctx, input) => {
    if ((await effectsOf(input.switch)).length === 0) throw new TransientError('the service is closed');
    return {};
  },
});
