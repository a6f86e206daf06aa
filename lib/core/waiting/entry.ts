/**
 * The entry that an approval or a callback has in the inbox while it is open: opened,
 * reminded of, announced, closed.
 *
 * Owns: when each is due and what it writes; of incidents, when the next reminder is due and how a change is
 * announced. Does not own: the record (`records/entry.ts`), until when the step waits (`waiting/timer.ts`),
 * what else is of incidents (`questions/incident.ts`), how an event is put on the bus (`aws/event-bus.ts`).
 *
 * An entry is open only while its step waits for an answer and its execution has not ended: it is opened in
 * one transaction with the execution, and whatever write ends the step's waiting closes it (`closeEntry`).
 * Each change is written first, as one that is not announced; then it is announced, and that is written. A
 * process that dies between leaves it to the wake time, so each is announced at least once.
 */

import { type CallbackStep, graphOf, isCallback } from '../plan/plan.ts';
import { executionAfter, type DecisionInputs } from '../decisions/change.ts';
import { type Decision, evaluateNext, writing } from '../decisions/decision.ts';
import { type Entry, type EntryChange, type EntryNews, isOpenEntry } from '../records/entry.ts';
import type { Event } from '../decisions/events.ts';
import { given, type OrUndefined } from '../values/given.ts';
import { incidentNews } from '../decisions/news.ts';
import { askedOf } from '../records/question.ts';
import {
  hasUnannounced,
  isApprovalOpen,
  openEntries,
  openIncidents,
  type Snapshot,
} from '../records/snapshot.ts';
import type { Execution, Step } from '../records/state.ts';
import { horizonMs } from '../step/lease.ts';
import { applies, isTurn } from '../step/turn.ts';
import { timeOverAt } from '../step/within.ts';
import { moveExecution } from '../transitions.ts';
import { shownBy } from './shown.ts';
import type { Rule } from '../step/rule.ts';

/** There is no answer, and one would be taken: in these statuses, when it is the step's turn. */
const isUnanswered = (status: Step['status']): boolean => status === 'ready' || status === 'waiting';

/** The entry after a write; a field given as `undefined` is removed. */
const entryAfter = (entry: Entry, inputs: DecisionInputs, changes: Partial<OrUndefined<Entry>>): Entry =>
  given({ ...entry, ...changes, version: entry.version + 1, writeId: inputs.writeId }) as Entry;

/** The time of the next reminder, if it comes before the deadline. */
export const nextReminder = (
  { remindMs }: { readonly remindMs?: number },
  fromAt: number,
  deadlineAt: number,
): number | undefined =>
  remindMs !== undefined && fromAt + remindMs < deadlineAt ? fromAt + remindMs : undefined;

/**
 * Puts an approval or a callback whose turn has come into the inbox. An approval is a question to
 * a person: its execution waits.
 */
export const openEntry: Rule = {
  apply: (plan, state, event) => {
    const { execution } = state;
    const step = plan.steps.find((one): one is CallbackStep => isCallback(one) && isToOpen(one, state));
    if (step === undefined) return undefined;
    const { name, kind, otherwise = 'fail' } = step;
    const deadlineAt = timeOverAt(step, state);
    const entry: Entry = {
      step: name,
      life: execution.life,
      version: (state.entries?.[name]?.version ?? 0) + 1,
      writeId: event.writeId,
      kind,
      openedAt: event.now,
      deadlineAt,
      otherwise,
      reminders: 0,
      unannounced: ['opened'],
      ...askedOf(execution),
      ...given({ remindAt: nextReminder(step, event.now, deadlineAt), shown: shownBy(step, state) }),
    };
    // With the execution, also where its status stays: else an answer that comes
    // now would leave the entry open.
    const opened = executionAfter(execution, kind === 'approval' ? 'ask' : 'set-wake-time', event, {
      wakeAt: Math.min(deadlineAt, entry.remindAt ?? deadlineAt),
    });
    return changed(state, event.affected, { execution: opened, entry }, 'entry-opened');
  },
  says: { 'entry-opened': 'an approval or a callback is put into the inbox' },
};

function isToOpen(step: CallbackStep, state: Snapshot): boolean {
  const entry = state.entries?.[step.name];
  // What became of one of an earlier epoch is announced first.
  if (isOpenEntry(entry) || entry?.unannounced !== undefined) return false;
  const status = state.steps[step.name]?.status ?? 'ready';
  return isUnanswered(status) && isTurn(step, state) && applies(step, state);
}

const changed = (
  state: Snapshot,
  affected: Parameters<typeof evaluateNext>[0],
  records: { readonly execution?: Execution; readonly entry: Entry },
  what: string,
): Decision =>
  writing(state.execution.id, records, evaluateNext(affected), { what, step: records.entry.step });

/**
 * A reminder that is due, or the times of an entry after a pause, which gives its time
 * back. In one transaction with the execution, so that there is none during a pause. Of
 * several that were missed one is sent.
 */
export const remind: Rule = {
  apply: (plan, state, event) => {
    const { execution } = state;
    for (const entry of openEntries(state)) {
      const step = graphOf(plan).step.get(entry.step);
      if (!isCallback(step)) continue;
      const deadlineAt = timeOverAt(step, state);
      const { remindAt } = entry;
      if (deadlineAt !== entry.deadlineAt) {
        const laterMs = deadlineAt - entry.deadlineAt;
        const moved = { deadlineAt, remindAt: remindAt === undefined ? undefined : remindAt + laterMs };
        return changed(state, event.affected, { entry: entryAfter(entry, event, moved) }, 'entry-moved');
      }
      if (remindAt === undefined || remindAt > event.now) continue;
      const reminded = entryAfter(entry, event, {
        reminders: entry.reminders + 1,
        remindedAt: event.now,
        remindAt: nextReminder(step, event.now, deadlineAt),
        unannounced: withChange(entry.unannounced, 'reminded'),
      });
      const woken = executionAfter(execution, 'set-wake-time', event, {});
      return changed(state, event.affected, { execution: woken, entry: reminded }, 'entry-reminded');
    }
    return undefined;
  },
  dueAt: (_plan, state) =>
    openEntries(state).flatMap(({ remindAt }) => (remindAt === undefined ? [] : [{ at: remindAt }])),
  says: {
    'entry-reminded': 'listeners are reminded of an approval or a callback',
    'entry-moved': 'the time for an answer is moved by the time of the pause',
  },
};

/** The changes that are not announced yet, with another one: of several reminders the latest is announced. */
export const withChange = <Change>(
  unannounced: readonly Change[] | undefined,
  change: Change,
): readonly Change[] => [...(unannounced ?? []).filter((one) => one !== change), change];

/**
 * Announces what was written and is not announced yet, one change at a time, of entries and of
 * incidents. Last of all rules, and not where the bus has just refused it: what the execution
 * does next waits for no listener.
 */
export const announceChange: Rule = {
  apply: (_plan, state, event) => {
    const { execution } = state;
    const another = event.by === 'agent' && event.outrun === true;
    if (another) return undefined;
    const isPassedOver = (step = ''): boolean => event.passOver?.includes(step) === true;
    for (const entry of Object.values(state.entries ?? {})) {
      const [change, ...rest] = entry.unannounced ?? [];
      if (change === undefined || isPassedOver(entry.step)) continue;
      const announced = entryAfter(entry, event, { unannounced: rest.length === 0 ? undefined : rest });
      return {
        ...changed(state, event.affected, { entry: announced }, 'entry-announced'),
        announce: newsOf(execution, entry, change),
      };
    }
    for (const { unannounced = [], ...incident } of Object.values(state.incidents ?? {})) {
      const [change, ...rest] = unannounced;
      if (change === undefined || isPassedOver(incident.step)) continue;
      const { step, version } = incident;
      const left = rest.length === 0 ? {} : { unannounced: rest };
      const announced = { ...incident, ...left, version: version + 1, writeId: event.writeId };
      const note = { what: 'incident-announced', step };
      return {
        ...writing(execution.id, { incident: announced }, evaluateNext(event.affected), note),
        announce: incidentNews(execution, incident, change),
      };
    }
    return undefined;
  },
  dueAt: (plan, state, { readAt }) =>
    hasUnannounced(state) ? [{ at: readAt + horizonMs(plan, state) }] : [],
  says: {
    'entry-announced': 'what became of an approval or a callback is announced',
    'incident-announced': 'what became of an incident is announced',
  },
};

function newsOf({ id, workflow, tags }: Execution, entry: Entry, change: EntryChange): EntryNews {
  const { step, kind, openedAt, deadlineAt, otherwise, reminders, remindedAt, closedAt } = entry;
  const { closedBy, outcome, shown } = entry;
  return {
    about: 'entry',
    change,
    executionId: id,
    workflow,
    step,
    kind,
    at: { opened: openedAt, reminded: remindedAt ?? openedAt, closed: closedAt ?? openedAt }[change],
    openedAt,
    deadlineAt,
    otherwise,
    reminders,
    ...given({ tags, shown }),
    ...(change === 'closed' ? given({ closedBy, outcome }) : {}),
    view: `/executions/${id}`,
  };
}

/**
 * A write that ends a step's waiting closes its entry; if no other question is open, the execution goes on as
 * running. A reminder that was not announced yet never is.
 */
export function closeEntry(state: Snapshot, event: Event, decision: Decision): Decision {
  const { write } = decision;
  if (state.entries === undefined || write?.step === undefined) return decision;
  const entry = state.entries[write.step.name];
  if (!isOpenEntry(entry) || isUnanswered(write.step.status)) return decision;
  const { status } = write.step;
  const isFailed = status === 'failed' || (status === 'answered' && write.step.failure !== undefined);
  const isMoot = status === 'fenced' || status === 'skipped';
  const closed = entryAfter(entry, event, {
    remindAt: undefined,
    unannounced: [...(entry.unannounced ?? []).filter((one) => one !== 'reminded'), 'closed'],
    closedAt: event.now,
    closedBy: isMoot ? 'moot' : event.type === 'callback' ? 'answer' : 'deadline',
    outcome: isMoot ? undefined : isFailed ? 'failed' : 'done',
  });
  const execution = resumed(state, entry, write.execution, event);
  return { ...decision, write: { ...write, entry: closed, ...given({ execution }) } };
}

/** The execution's record, as the write has it, once no question is open any more. */
function resumed(
  state: Snapshot,
  { step, kind }: Entry,
  written: Execution | undefined,
  inputs: DecisionInputs,
): Execution | undefined {
  const isAsking = openIncidents(state).length > 0 || isApprovalOpen(state, step);
  if (kind !== 'approval' || isAsking || (written ?? state.execution).status !== 'waiting') return written;
  if (written !== undefined) return { ...written, status: moveExecution(written.status, 'resume') };
  return executionAfter(state.execution, 'resume', inputs, {});
}
