/** A service that is closed until its switch is on. */

import { TransientError } from 'steadfast';
import { isOn } from '../effects.ts';
import { verifyClosed } from '../workflow.ts';

export const handler = verifyClosed.handler({
  execute: async (_ctx, input) => {
    if (!(await isOn(input.switch))) throw new TransientError('the service is closed');
    return {};
  },
});
