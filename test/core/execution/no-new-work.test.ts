/** Pauses, retries and points of no return: what is not decided, in any state, on any event. */

import * as fc from 'fast-check';
import { isLeased, isPausedOrPausing, isSatisfied, isTerminal } from '../../../lib/core/records/state.ts';
import { commands, everywhere, evaluations } from '../events.ts';

/** What these rules are about is rare among random states. */
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

  it('starts nothing while the execution is pausing or paused', () => {
    everywhere(({ state }, event, { next, sends }) => {
      if (!isPausedOrPausing(state.execution.status) || event.type === 'resume') return;
      expect(next.kind).not.toBe('perform');
      expect(sends).toEqual([]);
    });
  });

  it('calls a pause complete only when nobody works and everything that could be claimed is held in it (F1)', () => {
    let complete = 0;
    everywhere(
      ({ plan, state }, _, { write }) => {
        if (write?.execution?.status !== 'paused' || state.execution.status !== 'pausing') return;
        complete += 1;
        for (const step of plan.steps) {
          const record = state.steps[step.name];
          expect(isLeased(record)).toBe(false);
          if (step.kind === 'agent') expect(['retrying', 'unknown']).not.toContain(record?.status);
          if (record?.status === 'suspended') expect(record.suspendedIn).toBe(2);
          // Steps of the other kinds are never claimed.
          const isUnbegun = record === undefined || record.status === 'ready';
          const isReady = step.kind === 'agent' && isUnbegun;
          if (isReady) expect(step.after.every((name) => isSatisfied(state.steps[name]))).toBe(false);
        }
      },
      () => evaluations,
      RUNS,
    );
    expect(complete).toBeGreaterThan(0);
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
