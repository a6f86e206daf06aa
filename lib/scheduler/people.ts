/**
 * Four eyes: who has acted in a tree with an approval that another person must give, and who may give it.
 *
 * Owns: entering a person before the act, and the codes of its refusals. Does not own: the entries
 * (`core/records/people.ts`), who a person is (`core/values/caller.ts`), the acts themselves.
 *
 * S19 all entries of a tree are in the record of its root. An act in the root is entered by its own write. An
 * act below it is entered first, on the version that was read. If a process dies between the two, there is
 * one entry too many: a person may be kept from an approval that they could have given, never the reverse.
 */

import { type CallbackStep, isForAnother } from '../core/plan/plan.ts';
import { type Caller, callerText, personOf } from '../core/values/caller.ts';
import { refuse, type SteadfastError } from '../core/values/errors.ts';
import type { CallbackAnswer } from '../core/decisions/events.ts';
import { rootOf } from '../core/values/names.ts';
import {
  type Acted,
  approvalOf,
  type Deed,
  deedAgainst,
  deedText,
  isFull,
  MAX_PEOPLE,
  type People,
} from '../core/records/people.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import { isTerminal } from '../core/records/state.ts';
import { applies, isTurn } from '../core/step/turn.ts';
import { decisionInputsOf } from '../engine/decision-inputs.ts';
import { decideWith } from '../engine/large-values.ts';
import { carryOut } from '../engine/reconcile.ts';
import { type Scheduler, show, vouchedFor } from './start.ts';

/**
 * Enters the person who is about to act.
 * @param deed the kind of act; without it no entry is made
 * @param check may refuse the act because of the people entered so far
 * @returns for an act in the root, the entry that its own write must make
 * @throws SteadfastError `unknown-caller`, `too-many-people`, `already-closed`, and what `check` throws
 */
export async function entry(
  scheduler: Scheduler,
  state: Snapshot,
  by: Caller | undefined,
  deed: Deed | undefined,
  check?: (people: People | undefined, person: string) => void,
): Promise<{ readonly acted?: Acted }> {
  if (deed === undefined && check === undefined) return {};
  const { ports, personalRoles } = scheduler;
  const { id } = state.execution;
  const rootId = rootOf(id);
  for (;;) {
    const readAt = ports.clock.now();
    const root = rootId === id ? { state, plan: undefined } : await show(scheduler, rootId);
    const { people, status } = root.state.execution;
    if (people === undefined) {
      check?.(undefined, '');
      return {};
    }
    const person = personOf(vouchedFor(by, `acts in execution ${rootId}`), personalRoles);
    if (person === undefined) return {};
    check?.(people, person);
    if (deed === undefined) return {};
    if (isFull(people, person)) throw tooMany(rootId);
    const acted = { person, deed };
    if (root.plan === undefined) return { acted };
    if (isTerminal(status)) throw refuse('already-closed', `execution ${rootId} is over`, { status });
    const event = { type: 'enter', acted, ...decisionInputsOf(ports) } as const;
    const { decision } = await decideWith(ports, root.plan, root.state, event);
    if ((await carryOut(ports, root.plan, root.state, decision, readAt)) === 'written') return {};
  }
}

/**
 * Checks that the caller may give this answer to an approval. Returns the entry to be made, as `entry` does.
 * @throws SteadfastError `not-another`, `not-open`, and as `entry`
 */
export async function entryOfAnswer(
  scheduler: Scheduler,
  state: Snapshot,
  step: CallbackStep,
  { kind }: CallbackAnswer,
  by: Caller | undefined,
): Promise<{ readonly acted?: Acted }> {
  if (step.kind !== 'approval' || kind === 'heartbeat') return {};
  const approval = approvalOf(state.execution.id, step.name);
  const deed = kind === 'complete' ? approval : undefined;
  if (!isForAnother(step)) return deed === undefined ? {} : entry(scheduler, state, by, deed);
  // A person who answered before the approval's turn could still give input to an earlier step.
  if (!isTurn(step, state) || !applies(step, state))
    throw refuse('not-open', `approval '${step.name}' cannot be answered before its turn`);
  return entry(scheduler, state, by, deed, (people, person) => {
    const against = people === undefined ? 'started' : deedAgainst(people, person, approval);
    if (against !== undefined) throw notAnother(state.execution.id, step.name, by, people && against);
  });
}

function notAnother(
  id: string,
  step: string,
  by: Caller | undefined,
  deed: Deed | undefined,
): SteadfastError {
  const rootId = rootOf(id);
  const who = by === undefined ? 'the caller' : callerText(by);
  const why =
    deed === undefined ? 'it is not known which people have acted in it' : `${who} ${deedText(deed)}`;
  const role = by?.kind === 'iam' && by.name.includes(':assumed-role/');
  const message = `approval '${step}' of execution ${id} takes only the answer of another person, and ${why}. The answering person must not have started execution ${rootId}, retried it, resolved an incident of it so that it goes on, or given another approval in it${role ? '. All who use one role count as one person, unless the deployment names it in personalRoles' : ''}`;
  return refuse('not-another', message, { executionId: rootId, ...(deed === undefined ? {} : { deed }) });
}

const tooMany = (rootId: string): SteadfastError =>
  refuse(
    'too-many-people',
    `${MAX_PEOPLE} people have acted in execution ${rootId}, and no more can be recorded: only these may act in it`,
  );
