/**
 * Compares the outside world's ledger with the executions' records, step by step, and each end with the
 * planned one. Pure.
 *
 *   doubled     One step did something twice, undid it twice, or sent a customer two mails.
 *   lost        A step reports success and nothing of it is in effect; or something was done for no step.
 *   left        Something is in effect that its step does not report, and no end lists.
 *   untold      An end without success without a mail to the customer, or a success with such a mail.
 *   too early   A fallback, a next try or a mail about the end, while an earlier act was still in effect.
 *   silent      An end that was not announced, or whose announcement omits what is in effect.
 *   wrong end   An end that the scene does not have.
 *   misuse      One key for two requests, or a request under a key that was undone.
 */

import type { OrderEntry as Entry } from '../../../examples/order-fulfilment/world.ts';
import { EFFECTS, UNDO_OF } from '../../../examples/order-fulfilment/audit.ts';
import { isOnFailure, onFailureSteps } from '../../../lib/core/plan/on-failure.ts';
import type { Plan } from '../../../lib/core/plan/plan.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import { isTerminal, type Step } from '../../../lib/core/records/state.ts';
import { effectKeyOf } from '../../../lib/core/step/effect-key.ts';
import type { EndedEvent } from '../ended-events.ts';
import type { TableContent } from '../table-audit.ts';
import type { PlannedFailure } from './plan.ts';

export type FindingKind =
  | 'doubled'
  | 'lost'
  | 'left'
  | 'untold'
  | 'too early'
  | 'silent'
  | 'wrong end'
  | 'misuse';

export interface Finding {
  readonly kind: FindingKind;
  readonly executionId: string;
  readonly detail: string;
}

export interface Evidence {
  /** Includes the plans of children. */
  readonly table: TableContent;
  readonly entries: readonly Entry[];
  readonly events: readonly EndedEvent[];
  /** The planned failures, by execution. */
  readonly planned: ReadonlyMap<string, Pick<PlannedFailure, 'scene' | 'ends'>>;
}

/** The acts of one step, in the ledger's order. */
interface Deeds {
  readonly acts: readonly Entry[];
  /** The acts that were not undone. */
  readonly standing: readonly Entry[];
}

const NOTHING: Deeds = { acts: [], standing: [] };

export function auditFailure(evidence: Evidence): readonly Finding[] {
  const world = worldOf(evidence.entries);
  const byId = new Map(evidence.table.snapshots.map((snapshot) => [snapshot.execution.id, snapshot]));
  const events = new Map(evidence.events.map((event) => [`${event.executionId} ${event.endedAt}`, event]));
  const claimed = new Set<string>();
  const each = evidence.table.snapshots.flatMap((snapshot) => {
    const { execution } = snapshot;
    const plan = evidence.table.plans.get(execution.plan);
    if (plan === undefined) return [];
    const of = (record: Step): Deeds => {
      const key = keyOf(plan, snapshot, record);
      claimed.add(key);
      return world.get(key) ?? NOTHING;
    };
    const records = Object.values(snapshot.steps).map((record) => ({ record, deeds: of(record) }));
    const event = events.get(`${execution.id} ${execution.endedAt}`);
    const under = familyDeeds(execution.id, evidence.entries);
    return [
      ...records.flatMap(({ record, deeds }) => ofStep(plan, snapshot, event, record, deeds)),
      ...below(snapshot, event, under, byId),
      ...announced(snapshot, event),
      ...told(plan, snapshot, records, under),
      ...tooEarly(snapshot, records, under),
      ...wrongEnd(snapshot, evidence.planned.get(execution.id)),
    ].map((finding) => ({ ...finding, executionId: execution.id }));
  });
  const strangers = [...world]
    .filter(([key]) => !claimed.has(key))
    .map(([key, { acts }]) => ({
      kind: 'lost' as const,
      executionId: acts[0]?.executionId ?? '',
      detail: `${named(acts)} for ${key}, which is ${byId.has(acts[0]?.executionId ?? '') ? 'no step of it' : 'no execution'}`,
    }));
  return [...each, ...strangers, ...misuses(evidence.entries)];
}

type Found = Omit<Finding, 'executionId'>;

/** An effect key without the number of its request. */
const requestless = (key: string): string => key.replace(/-\d+$/, '');

const keyOf = (plan: Plan, { execution }: Snapshot, { name, epoch }: Step): string =>
  effectKeyOf(execution, name, 1, isOnFailure(plan, name) ? epoch : undefined);

function worldOf(entries: readonly Entry[]): ReadonlyMap<string, Deeds> {
  const byKey = new Map<string, Entry[]>();
  for (const entry of entries) {
    if (!isAct(entry)) continue;
    const key = requestless(entry.reference);
    byKey.set(key, [...(byKey.get(key) ?? []), entry]);
  }
  const undone = new Set(undosIn(entries).map(({ of }) => of));
  return new Map(
    [...byKey].map(([key, acts]) => [key, { acts, standing: acts.filter(({ id }) => !undone.has(id)) }]),
  );
}

const ACTS: ReadonlySet<string> = new Set(EFFECTS);
const UNDOS: ReadonlySet<string> = new Set(Object.values(UNDO_OF).filter((kind) => kind !== undefined));
const isAct = ({ kind }: Entry): boolean => ACTS.has(kind);
const undosIn = (entries: readonly Entry[]): readonly Entry[] =>
  entries.filter(({ kind }) => UNDOS.has(kind));
const named = (entries: readonly Entry[]): string => entries.map(({ id }) => id).join(', ');

/** Whether its end lists the step. */
const lists = (event: EndedEvent | undefined, step: string): boolean =>
  event?.standing?.first.some((one) => one.step === step) === true ||
  event?.onFailureFailed?.some((one) => one.step === step && one.mayStand === true) === true;

function ofStep(
  plan: Plan,
  { execution }: Snapshot,
  event: EndedEvent | undefined,
  { name, status, children }: Step,
  { acts, standing }: Deeds,
): Found[] {
  // A step with child executions has no report; the children's steps do.
  if (children !== undefined) return [];
  const found: Found[] = [];
  if (acts.length > 1) found.push({ kind: 'doubled', detail: `${name} did ${named(acts)}` });
  if (!isTerminal(execution.status)) return found;
  if (status === 'done') {
    const isWaiting = !hasAgent(plan, name);
    if (standing.length === 0 && !isWaiting)
      found.push({ kind: 'lost', detail: `${name} is done, but nothing of it stands` });
    const canBeUndone = standing.some(({ kind }) => kind !== 'mail');
    if (execution.status === 'compensated' || execution.status === 'canceled') {
      if (canBeUndone)
        found.push({ kind: 'left', detail: `${execution.status}, but ${named(standing)} stands` });
    } else if (execution.status !== 'succeeded' && canBeUndone && !lists(event, name)) {
      found.push({
        kind: 'silent',
        detail: `${named(standing)} of ${name} stands, and its end does not say so`,
      });
    }
  } else if (standing.length > 0 && !lists(event, name)) {
    // An attempt without a known outcome may have sent a mail, in an order that is then undone.
    const isMailOnTheWay = standing.every(({ kind }) => kind === 'mail') && status !== 'tolerated';
    if (!isMailOnTheWay)
      found.push({ kind: 'left', detail: `${name} is ${status}, but ${named(standing)} stands` });
  }
  return found;
}

/** Checks child executions: their effects are undone, or the end lists them. */
function below(
  { execution: { id, status } }: Snapshot,
  event: EndedEvent | undefined,
  under: Family,
  byId: ReadonlyMap<string, Snapshot>,
): Found[] {
  if (!isTerminal(status) || status === 'succeeded') return [];
  const undone = new Set(undosIn(under.all).map(({ of }) => of));
  const kept = under.all.filter(
    (entry) =>
      isAct(entry) &&
      entry.kind !== 'mail' &&
      !undone.has(entry.id) &&
      entry.executionId !== id &&
      byId.get(entry.executionId ?? '')?.execution.status === 'succeeded',
  );
  if (status !== 'failed')
    return kept.length === 0
      ? []
      : [{ kind: 'left', detail: `${status}, but ${named(kept)} below it stands` }];
  const unnamed = kept.filter(
    (entry) => event?.standing?.first.some(({ executionId }) => isBelow(entry, executionId)) !== true,
  );
  return unnamed.length === 0
    ? []
    : [{ kind: 'silent', detail: `${named(unnamed)} below it stands, and its end does not say so` }];
}

const hasAgent = (plan: Plan, name: string): boolean =>
  [...plan.steps, ...onFailureSteps(plan)].some((step) => step.name === name && step.kind === 'agent');

/** Checks the announcement of an end; a list's part has none. */
function announced({ execution }: Snapshot, event: EndedEvent | undefined): Found[] {
  if (!isTerminal(execution.status) || execution.parent?.part === true) return [];
  if (event === undefined) return [{ kind: 'silent', detail: `${execution.status}, and no event says so` }];
  if (event.status !== execution.status)
    return [{ kind: 'silent', detail: `${execution.status}, and its event says ${event.status}` }];
  // Every unsuccessful end has a list of effects in place, even an empty one.
  return execution.status === 'succeeded' || event.standing !== undefined
    ? []
    : [{ kind: 'silent', detail: `${execution.status}, and its event does not say what stands` }];
}

interface Performed {
  readonly record: Step;
  readonly deeds: Deeds;
}

/** With on-failure steps, the customer gets one mail after each end without success, and never otherwise. */
function told(
  plan: Plan,
  { execution, steps }: Snapshot,
  records: readonly Performed[],
  under: Family,
): Found[] {
  if (plan.onFailure === undefined || !isTerminal(execution.status)) return [];
  const news = under.all.filter(({ kind, subject }) => kind === 'mail' && subject === 'not-fulfilled');
  if (execution.status === 'succeeded')
    return news.length === 0
      ? []
      : [{ kind: 'untold', detail: `succeeded, but told otherwise by ${named(news)}` }];
  const failedToTell = plan.onFailure.some(({ name }) => steps[name]?.status === 'tolerated');
  if (news.length > 1) {
    const isOneStep = records.some(({ deeds }) => deeds.acts.length > 1);
    return isOneStep ? [] : [{ kind: 'doubled', detail: `${execution.status}, and told by ${named(news)}` }];
  }
  return news.length === 0 && !failedToTell
    ? [{ kind: 'untold', detail: `${execution.status}, and nobody was told` }]
    : [];
}

/** The acts of an execution and its descendants. */
interface Family {
  readonly all: readonly Entry[];
  /** The acts of this child and its descendants. */
  readonly of: (child: string) => readonly Entry[];
}

/** Whether an entry belongs to an execution or a descendant. */
const isBelow = ({ executionId }: Entry, root: string | undefined): boolean =>
  root !== undefined && (executionId === root || executionId?.startsWith(`${root}.`) === true);

function familyDeeds(id: string, entries: readonly Entry[]): Family {
  const all = entries.filter((entry) => isBelow(entry, id));
  return { all, of: (child) => all.filter((entry) => isBelow(entry, child)) };
}

/**
 * Finds the number of the try, the last part of a child's id: `<parent>.<step>.0`, then
 * `<parent>.<step>.0-e1t2`.
 */
const TRY = /^(.*\.0)(?:-e\d+t(\d+))?$/;

function tooEarly({ execution, steps }: Snapshot, records: readonly Performed[], under: Family): Found[] {
  const actsOf = (name: string): readonly Entry[] =>
    records.find(({ record }) => record.name === name)?.deeds.acts ?? [];
  const found: Found[] = [];
  const check = (what: string, before: readonly Entry[], after: Entry | undefined): void => {
    if (after === undefined) return;
    const open = before.filter(
      (act) => !undosIn(under.all).some(({ of, seq }) => of === act.id && seq < after.seq),
    );
    if (open.length > 0)
      found.push({ kind: 'too early', detail: `${what}: ${after.id} while ${named(open)} stood` });
  };
  check('a fallback', actsOf('car'), actsOf('taxi')[0]);
  for (const record of Object.values(steps)) {
    const last = record.children?.try ?? 1;
    const tries = Array.from({ length: last }, (_, at) =>
      under.all.filter(({ executionId = '' }) => {
        const match = TRY.exec(executionId.slice(execution.id.length + 1));
        return match?.[1] === `${record.name}.0` && Number(match[2] ?? 1) === at + 1;
      }),
    );
    for (const [at, next] of tries.entries())
      check(`try ${at + 1}`, tries.slice(0, at).flat().filter(isAct), next.find(isAct));
  }
  const news = under.all.find(({ kind, subject }) => kind === 'mail' && subject === 'not-fulfilled');
  check(
    'a mail about the end',
    under.all.filter((entry) => isAct(entry) && entry.kind !== 'mail'),
    news,
  );
  return found;
}

function wrongEnd(
  { execution: { status } }: Snapshot,
  planned: Pick<PlannedFailure, 'scene' | 'ends'> | undefined,
): Found[] {
  if (planned === undefined || !isTerminal(status) || planned.ends.includes(status)) return [];
  return [{ kind: 'wrong end', detail: `${status} (${planned.scene}: ${planned.ends.join(' or ')})` }];
}

function misuses(entries: readonly Entry[]): Finding[] {
  const releasedAt = new Map(undosIn(entries).map(({ of, seq }) => [of, seq]));
  const twice = undosIn(entries).filter(({ of, seq }) => releasedAt.get(of) !== seq);
  return [
    ...twice.map(({ id, of, executionId = '' }) => ({
      kind: 'doubled' as const,
      executionId,
      detail: `${id} takes ${of} back once more`,
    })),
    ...entries
      .filter(
        ({ kind, of, seq }) =>
          kind === 'misuse' || (kind === 'repeat' && seq > (releasedAt.get(of) ?? Infinity)),
      )
      .map(({ id, kind, reference, executionId = '' }) => ({
        kind: 'misuse' as const,
        executionId,
        detail: `${id}: ${reference} ${kind === 'misuse' ? 'came with other parameters' : 'came after it was taken back'}`,
      })),
  ];
}
