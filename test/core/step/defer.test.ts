/** P8, S9: what is held back in any state, on any event. */

import * as fc from 'fast-check';
import { notCharged, MAX_NOT_CHARGED_MS } from '../../../lib/core/step/defer.ts';
import { agentStep } from '../../../lib/core/plan/plan.ts';
import { type LeasedStep, isLeased, type Step } from '../../../lib/core/records/state.ts';
import { blankStep } from '../../../lib/core/records/change.ts';
import { everywhere, evaluations, reported, toBlockedAgents } from '../events.ts';
import { NOW } from '../states.ts';

describe('a piece of work that is held back (P8)', () => {
  it('is charged no attempt, keeps its status or becomes one that retries, and waits (S9)', () => {
    let deferrals = 0;
    everywhere(
      ({ state }, _, { write, sends, notes }) => {
        if (!notes.some(({ what }) => what === 'deferred')) return;
        deferrals += 1;
        const before = state.steps[write?.step?.name ?? ''];
        const after = write?.step as Step;
        const status = before?.status ?? 'ready';
        expect(after.status).toBe(status === 'ready' ? 'retrying' : status);
        const charges = [
          'attempt',
          'stage',
          'stageAttempt',
          'undoAttempt',
          'probes',
          'mayHaveActed',
        ] as const;
        for (const field of charges)
          expect(after[field]).toBe(before?.[field] ?? (field === 'mayHaveActed' ? false : 0));
        expect(after.retryAt).toBeGreaterThan(NOW);
        expect(isLeased(after)).toBe(false);
        expect(sends).toEqual([]);
        // Whoever defers draws a wake time near that would be too late, and changes nothing else (S12).
        const { execution } = state;
        const wakeAt = write?.execution?.wakeAt ?? execution.wakeAt ?? 0;
        const own = write?.execution ?? execution;
        const { version, writeId } = own;
        expect(own).toEqual({ ...execution, wakeAt, version, writeId });
        if (write?.execution !== undefined) expect(wakeAt).toBe(after.retryAt);
      },
      (given) => fc.oneof(toBlockedAgents(given), evaluations),
    );
    expect(deferrals).toBeGreaterThan(3);
  });

  it('is sent to an agent by nobody while its service is held, and by a supervisor no more than its pace allows', () => {
    let held = 0;
    everywhere(
      (_, event, { sends }) => {
        if (event.type !== 'evaluate' || event.admissions === undefined) return;
        for (const [agent, admission] of Object.entries(event.admissions)) {
          const count = sends.filter((send) => send.agent === agent).length;
          if (admission.openBreaker !== undefined) held += 1;
          expect(count).toBeLessThanOrEqual(admission.openBreaker === undefined ? admission.sends : 0);
        }
      },
      () => evaluations,
    );
    expect(held).toBeGreaterThan(10);
  });

  it('comes to be of an attempt that failed, uncharged, only where repeating it is safe (S6)', () => {
    let notChargedCount = 0;
    everywhere(
      ({ plan, state }, event, { write }) => {
        const before = state.steps[write?.step?.name ?? ''];
        if (event.type !== 'report' || write?.step?.deferred === undefined || before === undefined) return;
        notChargedCount += 1;
        expect(event.openBreaker?.since).toBe(NOW - 60_000);
        const effect = agentStep(plan, before.name)?.effect;
        const unknown = event.report.kind === 'unknown' && before.mode === 'execute';
        if (unknown && effect === 'probed') expect(write.step.status).toBe('unknown');
        expect(write.step.stage).toBe(before.stage);
        expect(write.step.stageAttempt).toBe(before.stageAttempt - (before.mode === 'execute' ? 1 : 0));
        expect(write.step.attempts).toHaveLength(before.attempts.length + 1);
      },
      () => reported,
      6_000,
    );
    expect(notChargedCount).toBeGreaterThan(1);
  });
});

it('a service that has been dead for a day is no longer an excuse', () => {
  const held = { leaseUntil: NOW, token: 't', mode: 'probe' } as const;
  const record: LeasedStep = { ...blankStep('a', { life: 'life1', epoch: 1 }), status: 'probing', ...held };
  const notChargedOf = (since: number) =>
    notCharged(record, { agent: 'a', since, until: NOW }, { now: NOW, random: 0, writeId: 'w' });
  expect(notChargedOf(NOW - MAX_NOT_CHARGED_MS)).toMatchObject({ deferred: { mode: 'probe' } });
  expect(notChargedOf(NOW - MAX_NOT_CHARGED_MS - 1)).toBeUndefined();
});
