/**
 * The simulated agents: one request to an outside service, which may fail in every way a service can.
 */

import {
  type Agent,
  type AttemptContext,
  declareAgent,
  type Effect,
  type Implementation,
  type Verdict,
} from '../../core/agent.ts';
import { PermanentError, TransientError } from '../../core/errors.ts';
import type { Plan } from '../../core/plan.ts';
import type { Ledger } from './ledger.ts';
import { call, clockOf, type Host, type Process } from './process.ts';

/** Takes every value as it is. */
export const passThrough = {
  '~standard': { version: 1, vendor: 'steadfast', validate: (value: unknown) => ({ value }) },
} as const;

const agents: Readonly<Record<Effect, Agent>> = {
  idempotent: declareAgent('agent-idempotent', {
    input: passThrough,
    output: passThrough,
    effect: 'idempotent',
  }),
  probed: declareAgent('agent-probed', { input: passThrough, output: passThrough, effect: 'probed' }),
};

export const agentOf = (effect: Effect): Agent => agents[effect];

export function service(
  host: Host,
  process: Process,
  ledger: Ledger,
  plan: Plan,
  effect: Effect,
): Implementation<unknown, unknown> {
  const { faults } = host;
  const clock = clockOf(host, process);
  const checkAgent = (ctx: AttemptContext): void => {
    const meant = plan.steps.find((step) => step.name === ctx.step)?.agent;
    if (meant !== agents[effect].spec.name)
      ledger.violations.push(`S13 ${ctx.effectKey}: performed by another agent`);
  };
  const request = (act: () => void): Promise<void> => call(host, process, async () => act());
  return {
    execute: async (ctx: AttemptContext) => {
      checkAgent(ctx);
      if (faults.strikes('transientFailure')) throw new TransientError('503');
      if (faults.strikes('permanentFailure')) throw new PermanentError('declined');
      if (faults.strikes('hungService')) await new Promise(() => undefined);
      // Long enough to outlive its time limit, its lease and its process's time.
      if (faults.strikes('slowService')) await clock.sleep(host.choice.between(5_000, 200_000));
      // Alive and beating, but nothing comes of it until its time is over.
      if (faults.strikes('wedgedAgent')) await new Promise(() => undefined);
      const lost = faults.strikes('lostReply');
      ctx.progress('asking');
      await request(() => ledger.perform(ctx.effectKey, effect));
      ctx.progress('asked');
      if (lost) throw new Error('socket hang up');
      return { key: ctx.effectKey };
    },
    probe: async (ctx: AttemptContext): Promise<Verdict<unknown>> => {
      let live = false;
      await request(() => {
        live = ledger.isLive(ctx.effectKey);
      });
      return live ? { verdict: 'done', output: { key: ctx.effectKey } } : { verdict: 'not-done' };
    },
    undo: async (ctx: AttemptContext) => {
      checkAgent(ctx);
      if (faults.strikes('transientFailure')) throw new TransientError('503');
      await request(() => ledger.undo(ctx.effectKey));
    },
  };
}
