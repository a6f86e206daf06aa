/**
 * The relay: execute, probe and undo functions of an agent that pass their call to another program and return
 * its answer.
 *
 * Owns: which of the three ways an agent uses, and the result that an answer becomes. Does not own: the
 * transport (`command.ts`, `http.ts`, `lambda.ts`), claims, heartbeats and reports, which treat it like
 * author code.
 */

import type { AgentSpec, AttemptContext, Implementation } from '../core/plan/agent.ts';
import { partsOf } from '../core/plan/agent-parts.ts';
import { StillActingError } from '../core/values/errors.ts';
import { commandSend } from './command.ts';
import { type Answer, type CallKind, callOf, outputOf, verdictOf } from './contract.ts';
import { type Send, urlSend } from './http.ts';
import { lambdaSend } from './lambda.ts';
import type { RemoteTarget } from './target.ts';

const sendTo = (target: RemoteTarget): Send => {
  if ('command' in target) return commandSend(target);
  return 'url' in target ? urlSend(target) : lambdaSend();
};

/** Makes the error for the answer "running": the remote continues to work after it. */
const goesOn = (message: string): Error => new StillActingError('running', message);

/** @param target a target that `checkedKind` has accepted */
export function relay(spec: AgentSpec, target: RemoteTarget): Implementation<unknown, unknown> {
  const send = sendTo(target);
  const ask = (
    kind: CallKind,
    ctx: AttemptContext,
    given: { readonly input: unknown; readonly output?: unknown },
  ): Promise<Answer> => send(callOf(kind, spec.name, ctx, Date.now(), given), ctx.signal, ctx.progress);
  const parts = partsOf(spec);
  return {
    execute: async (ctx, input) => outputOf(await ask('execute', ctx, { input }), goesOn),
    ...(parts.includes('probe')
      ? { probe: async (ctx, input) => verdictOf(await ask('probe', ctx, { input })) }
      : {}),
    ...(parts.includes('undo')
      ? { undo: async (ctx, input, output) => outputOf(await ask('undo', ctx, { input, output }), goesOn) }
      : {}),
  };
}
