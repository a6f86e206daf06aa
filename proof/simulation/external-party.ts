/**
 * Simulates the external party: it answers callbacks and approvals in time, too early, twice, with a failure,
 * or never.
 *
 * Owns: the answers and their times. It reads tokens from the execution's record.
 */

import { type CallbackStep, isCallback, type Plan } from '../../lib/core/plan/plan.ts';
import type { Caller } from '../../lib/core/values/caller.ts';
import type { CallbackAnswer } from '../../lib/core/decisions/events.ts';
import { rootOf } from '../../lib/core/values/names.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { callbackToken, isForward } from '../../lib/core/records/state.ts';
import { closeCallback } from '../../lib/scheduler/callbacks.ts';
import { onlyBeats } from './beats.ts';
import { startSenders } from './mail.ts';
import { type Host, planOf, schedulerFor } from './process.ts';

const callbacks = new WeakMap<Plan, readonly CallbackStep[]>();

function callbacksOf(plan: Plan): readonly CallbackStep[] {
  const known = callbacks.get(plan) ?? plan.steps.filter(isCallback);
  callbacks.set(plan, known);
  return known;
}

/** Reads the open callbacks and approvals from time to time. Other parties send messages. */
export function startExternalParty(host: Host): void {
  startSenders(host);
  const { choice, events, external } = host;
  const look = (): void => {
    for (const id of external.table.ids()) {
      const state = external.table.read(id);
      if (state?.execution.callbackKeys === undefined || !isForward(state.execution.status)) continue;
      const plan = planOf(host, id);
      if (plan !== undefined) for (const step of callbacksOf(plan)) consider(host, state, step);
    }
    if (!host.over()) events.plan(choice.between(10_000, 90_000), look);
  };
  events.plan(choice.between(5_000, 30_000), look);
}

const STALE: ReadonlySet<string> = new Set(['failed', 'fenced']);

function consider(host: Host, state: Snapshot, step: CallbackStep): void {
  const { choice, faults } = host;
  const record = state.steps[step.name];
  // After a retry of the execution the party is asked again.
  const isStale = record !== undefined && record.epoch < state.execution.epoch && STALE.has(record.status);
  const status = isStale ? undefined : record?.status;
  const isLate = status === 'failed' || status === 'done';
  if (isLate && !faults.injects('lateAnswer')) return;
  if (!isLate && status !== undefined && status !== 'waiting') return;
  const isTurn = step.after.every((name) =>
    ['done', 'skipped', 'tolerated'].includes(state.steps[name]?.status ?? ''),
  );
  if (!isTurn && !faults.injects('earlyAnswer')) return;
  if (faults.injects('noAnswer')) return;
  const token = callbackToken(state.execution, step.name) ?? '';
  const times = faults.injects('repeatedAnswer') ? 2 : 1;
  const drawn = choice.random();
  const answer =
    step.heartbeatMs !== undefined && (drawn < 0.2 || onlyBeats(host.beats))
      ? ({ kind: 'heartbeat' } as const)
      : faults.injects('rejected')
        ? ({ kind: 'fail', failure: { code: 'rejected', message: 'no' } } as const)
        : ({ kind: 'complete', output: {} } as const);
  const { said, by } = step.kind === 'approval' ? signed(host, state, answer) : { said: answer };
  for (let at = 0; at < times; at += 1) {
    // After a refusal or a lost reply, the party answers again later.
    closeCallback(schedulerFor(host), token, said, by).catch(({ code }: { readonly code?: string }) => {
      if (code === 'not-another') host.kinds.refusedToSame += 1;
    });
  }
}

/** In a world with people, an approval's answer has a mark of its call. */
function signed({ cast, external }: Host, state: Snapshot, answer: CallbackAnswer): Signed {
  const root = external.table.read(rootOf(state.execution.id))?.execution;
  if (cast === undefined || root === undefined) return { said: answer };
  const by = cast.caller();
  if (answer.kind === 'heartbeat') return { said: answer, by };
  const mark = cast.oracle.call(root, by);
  return answer.kind === 'complete'
    ? { said: { kind: 'complete', output: { comment: mark } }, by }
    : { said: { kind: 'fail', failure: { code: 'rejected', message: mark } }, by };
}

interface Signed {
  readonly said: CallbackAnswer;
  readonly by?: Caller;
}
