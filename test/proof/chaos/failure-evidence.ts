/** Correct records, events and a ledger of the failure workflows, in which tests plant mistakes. */

import type { EntryKind, OrderEntry as Entry } from '../../../examples/order-fulfilment/world.ts';
import type { Plan } from '../../../lib/core/plan/plan.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import type { EndedEvent } from '../../../proof/chaos/ended-events.ts';
import { auditFailure, type Evidence } from '../../../proof/chaos/failure/audit.ts';
import { holiday, launch, order, rollout, site } from '../../../proof/chaos/failure/workflow.ts';

const LIFE = 'life000001';
export const record = (name: string, status: Step['status'], more: Partial<Step> = {}): Step => ({
  name,
  life: LIFE,
  key: 1,
  keyVariant: 0,
  status,
  version: 2,
  writeId: 'w',
  epoch: 1,
  attempt: 1,
  stage: 0,
  stageAttempt: 1,
  processDeadlineAt: 0,
  mayHaveActed: false,
  heartbeat: 0,
  probes: 0,
  undoAttempt: 0,
  changedAt: 0,
  attempts: [],
  ...more,
});

export function snapshot(
  id: string,
  of: { readonly name: string },
  status: Execution['status'],
  steps: Readonly<Record<string, Step['status']>>,
  more: Partial<Execution> = {},
): Snapshot {
  const execution: Execution = {
    id,
    life: LIFE,
    workflow: of.name,
    plan: of.name,
    status,
    version: 3,
    writeId: 'w',
    epoch: 1,
    input: { subject: id },
    inputHash: 'h',
    startedAt: 0,
    endedAt: 9,
    deadlineAt: 900_000,
    commands: [],
    dispatches: {},
    ...more,
  };
  const records = Object.entries(steps).map(([name, its]) => [name, record(name, its)] as const);
  return { execution, steps: Object.fromEntries(records) };
}

/** Reads lines `kind execution step` or `undo-kind of number`; the number is that of a line, from 1. */
export function ledger(...lines: readonly string[]): Entry[] {
  const entries: Entry[] = [];
  for (const [at, line] of lines.entries()) {
    const [kind, where, step] = line.split(' ') as [EntryKind, string, string];
    const of = where === 'of' ? entries[Number(step) - 1] : undefined;
    const [executionId, reference] =
      of === undefined ? [where, `${where}.${step}.${LIFE}`] : [of.executionId ?? '', of.reference];
    entries.push({
      seq: at + 1,
      at,
      service: 'payment',
      kind,
      id: `${kind}-${at + 1}`,
      reference,
      executionId,
      ...(of === undefined ? {} : { of: of.id }),
      ...(kind === 'mail' ? { subject: step.startsWith('on-failure') ? 'not-fulfilled' : 'on-its-way' } : {}),
    });
  }
  return entries;
}

const NOTHING_STANDS = { stands: 0, mayStand: 0, first: [] };
export const ended = (id: string, status: string, more: Partial<EndedEvent> = {}): EndedEvent => ({
  executionId: id,
  status,
  endedAt: 9,
  ...(status === 'succeeded' ? {} : { standing: NOTHING_STANDS }),
  ...more,
});

export const plans = new Map<string, Plan>(
  [order, holiday, launch, site, rollout].map(({ name, plan }) => [name, plan]),
);
export const evidence = (
  snapshots: readonly Snapshot[],
  entries: readonly Entry[],
  more: Partial<Evidence> = {},
): Evidence => ({
  table: { snapshots, plans },
  entries,
  events: snapshots.map(({ execution: { id, status } }) => ended(id, status)),
  planned: new Map(),
  ...more,
});
export const found = (what: Evidence): string[] => auditFailure(what).map(({ kind }) => kind);

export const FULFILLED = snapshot('o', order, 'succeeded', { pay: 'done', ship: 'done', mail: 'done' });
export const FULFILLED_LEDGER = ['charge o pay', 'shipment o ship', 'mail o mail'];
export const TAKEN_BACK = snapshot('o', order, 'compensated', {
  pay: 'compensated',
  ship: 'failed',
  tell: 'done',
});
export const TELL = 'mail o on-failure-1.tell';
export const TAKEN_BACK_LEDGER = ['charge o pay', 'refund of 1', TELL];
