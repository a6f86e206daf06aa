/**
 * Compares the external services' ledger with the claims of the executions. Pure: entries and executions in,
 * findings out.
 *
 * An order is charged, reserved and shipped at most once, its customer gets each mail at most once, and the
 * ledger must confirm what an execution claims. For each of the five effects (authorisation, charge,
 * reservation, shipment, mail):
 *
 *   double       A second one under one execution, even if it was undone later: the customer's
 *                statement shows both. Counted once per surplus entry. A mail is a double only if it has the
 *                same subject: an order that is canceled late gets both kinds of mail.
 *   double-undo  A second refund, release or cancellation of one entry. Counted once per surplus entry.
 *   lost         Succeeded, but no entry remains; or compensated or canceled, but an entry remains or the
 *                customer got no mail; or an entry of an unknown execution. Not counted: a mail whose step
 *                failed, and the effect of a skipped step. An authorisation
 *                may not stay open.
 *   untrue       A mail with a false statement: 'not fulfilled' for an order that succeeded.
 *   misuse       One key for two different requests: the second one was refused.
 *   breach       A second open authorisation of an order, or a charge against none: refused.
 *   stray-undo   A void, refund, release or cancellation of something that is not in the ledger.
 *
 * An execution that is still open, or that failed and so says that a person must act, makes no claim, so
 * nothing of it counts as lost. Its doubles count.
 */

import type { EntryKind, MailSubject, OrderEntry as Entry } from './world.ts';

/** The part of `GET /executions/{id}` that the audit needs. */
export interface AuditedExecution {
  readonly executionId: string;
  readonly status: string;
  /** Only tolerated failures and skipped steps matter. */
  readonly steps?: readonly { readonly name: string; readonly status: string }[];
}

export type FindingKind = 'double' | 'double-undo' | 'lost' | 'untrue' | 'misuse' | 'breach' | 'stray-undo';
export type Effect = 'authorisation' | 'charge' | 'reservation' | 'shipment' | 'mail';

export interface Finding {
  readonly kind: FindingKind;
  readonly effect: Effect;
  readonly executionId: string;
  /** How many entries are surplus or missing. */
  readonly count: number;
  readonly detail: string;
}

/** How many entries of each kind the ledger has under one execution. */
export type Counts = Readonly<Record<Exclude<EntryKind, Uncounted>, number>>;
type Uncounted = 'authorisation' | 'void' | 'repeat' | 'misuse' | 'breach';

export interface ExecutionAudit {
  readonly executionId: string;
  readonly status: string;
  readonly counts: Counts;
  readonly findings: readonly Finding[];
}

export interface Audit {
  readonly executions: readonly ExecutionAudit[];
  /** All findings, including those without an execution. */
  readonly findings: readonly Finding[];
  readonly doubleCharges: number;
  /**
   * Charges that an execution claims and the ledger lacks, or the other way round, including refunds of
   * nothing.
   */
  readonly lostCharges: number;
  readonly doubleRefunds: number;
}

/** The kind of entry that undoes each effect. */
export const UNDO_OF: Readonly<Record<Effect, EntryKind | undefined>> = {
  authorisation: 'void',
  charge: 'refund',
  reservation: 'release',
  shipment: 'cancellation',
  mail: undefined,
};
export const EFFECTS = Object.keys(UNDO_OF) as readonly Effect[];

/** The step that causes each effect. */
const DOES: Readonly<Partial<Record<Effect, string>>> = {
  charge: 'charge',
  reservation: 'reserve',
  shipment: 'ship',
};

/** The step that sends each mail. */
const SENDER: Readonly<Record<MailSubject, string>> = {
  'on-its-way': 'notify',
  'not-fulfilled': 'tell-customer',
};

const NO_EXECUTION = '(no execution)';

export function audit(entries: readonly Entry[], executions: readonly AuditedExecution[]): Audit {
  const known = new Set(executions.map((execution) => execution.executionId));
  const byExecution = grouped(entries);
  const audited = executions.map((execution) =>
    auditExecution(execution, byExecution.get(execution.executionId) ?? []),
  );
  const strangers = [...byExecution].filter(([executionId]) => !known.has(executionId));
  const findings = [
    ...audited.flatMap((execution) => execution.findings),
    ...strangers.flatMap(([executionId, own]) => strangersFindings(executionId, own)),
    ...strayUndos(entries),
    ...refusals(entries),
    ...strayCaptures(entries),
  ];
  const total = (effect: Effect, ...kinds: FindingKind[]): number =>
    findings
      .filter((finding) => finding.effect === effect && kinds.includes(finding.kind))
      .reduce((sum, finding) => sum + finding.count, 0);
  return {
    executions: audited,
    findings,
    doubleCharges: total('charge', 'double'),
    lostCharges: total('charge', 'lost', 'stray-undo'),
    doubleRefunds: total('charge', 'double-undo'),
  };
}

function grouped(entries: readonly Entry[]): ReadonlyMap<string, readonly Entry[]> {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) {
    const executionId = entry.executionId ?? NO_EXECUTION;
    const group = groups.get(executionId);
    if (group === undefined) groups.set(executionId, [entry]);
    else group.push(entry);
  }
  return groups;
}

function auditExecution(execution: AuditedExecution, own: readonly Entry[]): ExecutionAudit {
  const { executionId, status } = execution;
  const count = (kind: EntryKind): number => own.filter((entry) => entry.kind === kind).length;
  const counts: Counts = {
    charge: count('charge'),
    refund: count('refund'),
    reservation: count('reservation'),
    release: count('release'),
    shipment: count('shipment'),
    cancellation: count('cancellation'),
    mail: count('mail'),
  };
  const findings = [
    ...EFFECTS.flatMap((effect) => [
      ...doubles(executionId, effect, own),
      ...(effect === 'mail' ? [] : losses(execution, effect, own)),
    ]),
    ...newsFindings(execution, own),
  ];
  return { executionId, status, counts, findings };
}

function doubles(executionId: string, effect: Effect, own: readonly Entry[]): Finding[] {
  const done = own.filter((entry) => entry.kind === effect);
  const undoKind = UNDO_OF[effect];
  const found: Finding[] = [];
  for (const one of new Set(done.map(({ subject }) => subject))) {
    const same = done.filter(({ subject }) => subject === one);
    if (same.length < 2) continue;
    const detail = `${same.length} ${effect}s: ${same.map((entry) => entry.id).join(', ')}`;
    found.push({ kind: 'double', effect, executionId, count: same.length - 1, detail });
  }
  for (const entry of done) {
    const undos = own.filter((other) => other.kind === undoKind && other.of === entry.id);
    if (undos.length < 2) continue;
    const detail = `${undos.length} ${undoKind}s of ${entry.id}: ${undos.map((undo) => undo.id).join(', ')}`;
    found.push({ kind: 'double-undo', effect, executionId, count: undos.length - 1, detail });
  }
  return found;
}

function losses(execution: AuditedExecution, effect: Effect, own: readonly Entry[]): Finding[] {
  const { executionId, status, steps = [] } = execution;
  const standing = stillStanding(effect, own);
  if (status === 'succeeded' && effect !== 'authorisation') {
    const isSkipped = steps.some((step) => step.name === DOES[effect] && step.status === 'skipped');
    if (standing.length > 0 || isSkipped) return [];
    return [{ kind: 'lost', effect, executionId, count: 1, detail: `succeeded, but there is no ${effect}` }];
  }
  if (!(status === 'succeeded' || isTakenBack(status)) || standing.length === 0) return [];
  const detail = `${status}, but ${standing.map((entry) => entry.id).join(', ')} still stands`;
  return [{ kind: 'lost', effect, executionId, count: standing.length, detail }];
}

const isTakenBack = (status: string): boolean => status === 'compensated' || status === 'canceled';

/** Compares the customer's mails with the end of the order. */
function newsFindings(
  { executionId, status, steps = [] }: AuditedExecution,
  own: readonly Entry[],
): Finding[] {
  const succeeded = status === 'succeeded';
  if (!succeeded && !isTakenBack(status)) return [];
  const subject: MailSubject = succeeded ? 'on-its-way' : 'not-fulfilled';
  const mails = own.filter(({ kind }) => kind === 'mail');
  const missed = !steps.some(
    (step) => step.name === SENDER[subject] && ['tolerated', 'skipped'].includes(step.status),
  );
  const found: Finding[] = [];
  if (missed && !mails.some((mail) => mail.subject === subject)) {
    const detail = `${status}, but there is no mail '${subject}'`;
    found.push({ kind: 'lost', effect: 'mail', executionId, count: 1, detail });
  }
  const wrong = succeeded ? mails.filter((mail) => mail.subject === 'not-fulfilled') : [];
  if (wrong.length > 0) {
    const detail = `${status}, but ${wrong.map(({ id }) => id).join(', ')} says that it is not fulfilled`;
    found.push({ kind: 'untrue', effect: 'mail', executionId, count: wrong.length, detail });
  }
  return found;
}

function stillStanding(effect: Effect, own: readonly Entry[]): readonly Entry[] {
  const undoKind = UNDO_OF[effect];
  return own.filter(
    (entry) =>
      entry.kind === effect &&
      !own.some((other) => other.kind === undoKind && other.of === entry.id) &&
      !(effect === 'authorisation' && own.some((other) => captures(other, entry))),
  );
}

const captures = (charge: Entry, { id }: Entry): boolean =>
  charge.kind === 'charge' && charge.authorisationId === id;

function strangersFindings(executionId: string, own: readonly Entry[]): Finding[] {
  return EFFECTS.flatMap((effect) => {
    const standing = stillStanding(effect, own);
    if (standing.length === 0) return [];
    const detail = `${standing.map((entry) => entry.id).join(', ')} of an execution that nobody knows`;
    return [{ kind: 'lost', effect, executionId, count: standing.length, detail } as const];
  });
}

const refusals = (entries: readonly Entry[]): Finding[] =>
  entries.flatMap(({ id, kind, service, reference, executionId = NO_EXECUTION, why }): Finding[] => {
    const found = { executionId, count: 1 };
    if (kind === 'breach')
      return [{ ...found, kind, effect: 'authorisation', detail: `${id}: ${why ?? 'refused'}` }];
    if (kind !== 'misuse') return [];
    const detail = `${id}: the key ${reference} came with other parameters`;
    return [{ ...found, kind, effect: service === 'mail' ? 'mail' : 'reservation', detail }];
  });

/** The payment service refuses them; the audit checks this independently. */
const strayCaptures = (entries: readonly Entry[]): Finding[] =>
  entries.flatMap(({ id, kind, executionId = NO_EXECUTION, authorisationId: of }, at): Finding[] => {
    if (kind !== 'charge' || of === undefined) return [];
    const before = entries.slice(0, at);
    const isThere = before.some((entry) => entry.kind === 'authorisation' && entry.id === of);
    if (isThere && !before.some((entry) => entry.kind === 'void' && entry.of === of)) return [];
    const detail = `${id} captures ${of}, which ${isThere ? 'was voided' : 'is not in the ledger'}`;
    return [{ kind: 'breach', effect: 'charge', executionId, count: 1, detail }];
  });

function strayUndos(entries: readonly Entry[]): Finding[] {
  return EFFECTS.flatMap((effect) => {
    const ids = new Set(entries.filter((entry) => entry.kind === effect).map((entry) => entry.id));
    return entries
      .filter((entry) => entry.kind === UNDO_OF[effect] && !ids.has(entry.of ?? ''))
      .map((entry) => ({
        kind: 'stray-undo' as const,
        effect,
        executionId: entry.executionId ?? NO_EXECUTION,
        count: 1,
        detail: `${entry.id} takes back ${entry.of ?? 'nothing'}, which is not in the ledger`,
      }));
  });
}
