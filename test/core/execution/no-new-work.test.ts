/**
 * Decisions about pauses, retries and points of no return that are never made, in random states, on random
 * events.
 */

import * as fc from 'fast-check';
import { isLeased, isTerminal } from '../../../lib/core/records/state.ts';
import { commands, everywhere, evaluations } from '../events.ts';

/** More runs than usual, because these states are rare among random ones. */
const RUNS = 2_500;

describe('a decision', () => {
  it('leaves a terminal status only to retry what failed, under the next epoch, nothing of it being undone (S1)', () => {
    let retried = 0;
    everywhere(
      ({ state }, event, { write }) => {
        if (!isTerminal(state.execution.status) || event.type !== 'retry' || write === undefined) return;
        retried += 1;
        expect(state.execution.status).toBe('failed');
        expect(write).toEqual({ executionId: 'e-1', execution: expect.anything() });
        expect(write.execution).toMatchObject({ status: 'running', epoch: state.execution.epoch + 1 });
        expect(write.execution).not.toHaveProperty('cause');
        expect(write.execution).not.toHaveProperty('endedAt');
        const statuses = Object.values(state.steps).map(({ status }) => status);
        for (const status of ['compensating', 'compensated', 'compensation-failed'] as const)
          expect(statuses).not.toContain(status);
      },
      () => commands,
      RUNS,
    );
    expect(retried).toBeGreaterThan(0);
  });

  it('starts nothing while the execution is paused', () => {
    everywhere(({ state }, event, { next, sends }) => {
      if (state.execution.status !== 'paused' || event.type === 'resume') return;
      expect(next.kind).not.toBe('perform');
      expect(sends).toEqual([]);
    });
  });

  it('undoes nothing where a point of no return is passed or may be', () => {
    everywhere(
      ({ plan, state }, _, { write, next }) => {
        const past = plan.steps.some((step) => {
          const record = state.steps[step.name];
          const acted = record?.status === 'done' || (isLeased(record) && record.mode !== 'undo');
          return step.pointOfNoReturn === true && acted;
        });
        if (!past) return;
        if (next.kind === 'perform') expect(next.step.mode).not.toBe('undo');
        const stops =
          write?.execution?.status === 'compensating' && state.execution.status !== 'compensating';
        if (stops) expect(write.execution?.cause?.undo).toBe(false);
      },
      () => fc.oneof(evaluations, commands),
      RUNS,
    );
  });
});
