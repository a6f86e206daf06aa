/** P8, S9: what is held back in any state, on any event. */

import * as fc from 'fast-check';
import { excused, MAX_EXCUSED_MS } from '../../../lib/core/step/defer.ts';
import { agentStep } from '../../../lib/core/plan/plan.ts';
import { type HeldStep, isHeld, type Step } from '../../../lib/core/records/state.ts';
import { blankStep } from '../../../lib/core/records/change.ts';
import { everywhere, looks, reported, toHeldAgents } from '../events.ts';
import { NOW } from '../states.ts';

describe('a piece of work that is held back (P8)', () => {
  it('is charged no attempt, keeps its status or becomes one that retries, and waits (S9)', () => {
    let parkings = 0;
    everywhere(
      ({ state }, _, { write, sends, notes }) => {
        if (!notes.some(({ what }) => what === 'parked')) return;
        parkings += 1;
        const before = state.steps[write?.step?.name ?? ''];
        const after = write?.step as Step;
        const status = before?.status ?? 'ready';
        expect(after.status).toBe(status === 'ready' ? 'retrying' : status);
        const charges = ['attempt', 'rung', 'rungAttempt', 'undoAttempt', 'probes', 'mayHaveActed'] as const;
        for (const field of charges)
          expect(after[field]).toBe(before?.[field] ?? (field === 'mayHaveActed' ? false : 0));
        expect(after.retryAt).toBeGreaterThan(NOW);
        expect(isHeld(after)).toBe(false);
        expect(sends).toEqual([]);
        // Whoever parks draws a watch near that would be too late, and changes nothing else (S12).
        const { execution } = state;
        const watchAt = write?.execution?.watchAt ?? execution.watchAt ?? 0;
        const own = write?.execution ?? execution;
        const { version, writeId } = own;
        expect(own).toEqual({ ...execution, watchAt, version, writeId });
        if (write?.execution !== undefined) expect(watchAt).toBe(after.retryAt);
      },
      (given) => fc.oneof(toHeldAgents(given), looks),
    );
    expect(parkings).toBeGreaterThan(3);
  });

  it('is sent to an agent by nobody while its service is held, and by a supervisor no more than its pace allows', () => {
    let held = 0;
    everywhere(
      (_, event, { sends }) => {
        if (event.type !== 'look' || event.gates === undefined) return;
        for (const [agent, gate] of Object.entries(event.gates)) {
          const count = sends.filter((send) => send.agent === agent).length;
          if (gate.hold !== undefined) held += 1;
          expect(count).toBeLessThanOrEqual(gate.hold === undefined ? gate.sends : 0);
        }
      },
      () => looks,
    );
    expect(held).toBeGreaterThan(10);
  });

  it('comes to be of an attempt that failed, uncharged, only where repeating it is safe (S6)', () => {
    let excusedCount = 0;
    everywhere(
      ({ plan, state }, event, { write }) => {
        const before = state.steps[write?.step?.name ?? ''];
        if (event.type !== 'report' || write?.step?.parked === undefined || before === undefined) return;
        excusedCount += 1;
        expect(event.hold?.since).toBe(NOW - 60_000);
        const effect = agentStep(plan, before.name)?.effect;
        const unknown = event.report.kind === 'unknown' && before.mode === 'execute';
        if (unknown && effect === 'probed') expect(write.step.status).toBe('unknown');
        expect(write.step.rung).toBe(before.rung);
        expect(write.step.rungAttempt).toBe(before.rungAttempt - (before.mode === 'execute' ? 1 : 0));
        expect(write.step.attempts).toHaveLength(before.attempts.length + 1);
      },
      () => reported,
      6_000,
    );
    expect(excusedCount).toBeGreaterThan(1);
  });
});

it('a service that has been dead for a day is no longer an excuse', () => {
  const held = { leaseUntil: NOW, token: 't', mode: 'probe' } as const;
  const record: HeldStep = { ...blankStep('a', { life: 'life1', epoch: 1 }), status: 'probing', ...held };
  const excuse = (since: number) =>
    excused(record, { agent: 'a', since, until: NOW }, { now: NOW, random: 0, writeId: 'w' });
  expect(excuse(NOW - MAX_EXCUSED_MS)).toMatchObject({ parked: { mode: 'probe' } });
  expect(excuse(NOW - MAX_EXCUSED_MS - 1)).toBeUndefined();
});
