/** A workflow that gets canary texts in all its inputs. Its agent fails in every way, with more canaries. */

import { agent, askPerson, retry, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Way = z.enum(['done', 'error', 'transient', 'permanent', 'bad-output', 'nothing-known']);

export const keepSecret = agent('keep-secret', {
  input: z.object({ secret: z.string(), way: Way }),
  output: z.object({ secret: z.string() }),
  effect: 'probed',
  lease: '5s',
  lateEffectWithin: '1s',
  timeout: '5s',
});

const Input = z.object({ secret: z.string(), way: Way });

export const canary = workflow('canary', { input: Input, within: '10m' }, (w) => {
  const kept = w.step('kept', keepSecret, w.input, { recovery: [retry(1, { delay: '1s' }), askPerson()] });
  const told = w.callback('child-ended', {
    output: z.object({ secret: z.string() }),
    within: '5m',
    after: [kept],
  });
  return { kept: kept.output.secret, told: told.output.secret };
});
