import { cannotTell, done, PermanentError, TransientError } from 'steadfast';
import { keepSecret } from '../workflow.ts';

/** A possible error message of an external service. */
const SAID = 'canary-in-an-error';

export const handler = keepSecret.handler({
  execute: async ({ log }, { secret, way }) => {
    log.info('keeping', { way });
    switch (way) {
      case 'done':
        return { secret: `${secret} canary-in-an-output` };
      case 'transient':
        throw new TransientError(SAID);
      case 'permanent':
        throw new PermanentError(SAID);
      case 'bad-output':
        return { secret: { it: 'canary-in-a-bad-output' } } as never;
      default:
        throw Object.assign(new Error(SAID), { code: 'canary-in-a-code', stack: 'canary-in-a-stack' });
    }
  },
  probe: async (_ctx, { way }) => {
    if (way === 'nothing-known') return cannotTell();
    if (way === 'error') throw new Error('canary-in-an-error-of-a-probe');
    return done({ secret: 'canary-in-a-probe' });
  },
  undo: async () => {
    throw new Error('canary-in-an-error-of-an-undo');
  },
});
