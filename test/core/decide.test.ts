/**
 * Properties of `decide` in random states, on random events: S14 it is pure and total; its decisions satisfy
 * S1–S5, S7, S10, S13, S15.
 */

import * as fc from 'fast-check';
import { decide } from '../../lib/core/decide.ts';
import { planInStatus } from '../../lib/core/plan/on-failure.ts';
import { agentStep, agentSteps, dependentsOf, isBefore } from '../../lib/core/plan/plan.ts';
import type { Decision } from '../../lib/core/decisions/decision.ts';
import type { Event } from '../../lib/core/decisions/events.ts';
import { type Snapshot, withWrite } from '../../lib/core/records/snapshot.ts';
import { isLeased, isSatisfied, isTerminal } from '../../lib/core/records/state.ts';
import { horizonMs } from '../../lib/core/step/lease.ts';
import { CLOCKS_DIFFER_MS } from '../../lib/core/step/process-deadline.ts';
import { effectOf } from '../../lib/core/step/effect.ts';
import { stepToFence } from '../../lib/core/step/ready.ts';
import { MAX_DELAY_MS } from '../../lib/core/supervision/wake-time.ts';
import { STEP_MOVES } from '../../lib/core/transitions.ts';
import { MemoryStore } from '../../lib/memory/world.ts';
import {
  anyEvent,
  deliveries,
  evaluations,
  everywhere,
  expectLegalMove,
  heartbeats,
  type Judge,
  reported,
  RUNS,
} from './events.ts';
import { type Case, frozen, NOW } from './states.ts';

describe('a decision', () => {
  it('is made in every state on every event, the same every time, and changes nothing it was given (S14)', () => {
    everywhere((given, event, decision) => {
      frozen([given, event]);
      expect(decide(given.plan, given.state, event)).toEqual(decision);
    });
  });

  it('has an open execution that it writes evaluated within a horizon, unless everything due was evaluated (S12)', () => {
    let brought = 0;
    everywhere(
      ({ plan, state }, event) => {
        const far = { ...state, execution: { ...state.execution, wakeAt: NOW + 86_400_000 } };
        const { write, wakeTime } = decide(plan, far, event);
        const written = write?.execution;
        if (written === undefined || isTerminal(written.status) || wakeTime === 'as-written') return;
        expect(written.wakeAt).toBeLessThanOrEqual(NOW + horizonMs(planInStatus(plan, written), state));
        brought += 1;
      },
      anyEvent,
      2 * RUNS,
    );
    expect(brought).toBeGreaterThan(50);
  });

  it('writes each record one version on, under the write id it was given (S3)', () => {
    everywhere(({ state }, _, { write }) => {
      if (write === undefined) return;
      expect(write.executionId).toBe(state.execution.id);
      if (write.execution !== undefined) {
        expect(write.execution).toMatchObject({ version: state.execution.version + 1, writeId: 'w-new' });
      }
      if (write.step !== undefined) {
        const version = (state.steps[write.step.name]?.version ?? 0) + 1;
        expect(write.step).toMatchObject({ version, writeId: 'w-new' });
      }
    });
  });

  it('makes legal moves only, whatever a message says (S2, S13)', () => {
    everywhere(({ state }, _, { write }) => {
      if (write?.step !== undefined) {
        const before = state.steps[write.step.name]?.status ?? 'ready';
        expect(Object.values(STEP_MOVES[before]).flat()).toContain(write.step.status);
      }
      if (write?.execution !== undefined) expectLegalMove(state, write);
    });
  });

  it('about an execution that has ended only records that the end was announced (S1)', () => {
    everywhere(({ state }, event, { write, sends, announce }) => {
      if (event.type === 'retry') return;
      // No execution ends while an attempt is under way; another test below checks that.
      if (!isTerminal(state.execution.status) || Object.values(state.steps).some(isLeased)) return;
      expect(sends).toEqual([]);
      expect(write?.step).toBeUndefined();
      expect(announce === undefined).toBe(write === undefined);
      if (write?.execution === undefined) return;
      const { version: _v, writeId: _w, wakeAt: _a, dispatches: _d, ...before } = state.execution;
      expect(write.execution).toMatchObject(before);
      expect(write.execution.wakeAt).toBeUndefined();
    });
  });

  it('ends an execution only when nothing works, is unknown, or could still be claimed', () => {
    everywhere(({ plan, state }, event, { write }) => {
      const status = write?.execution?.status;
      if (status === undefined || isTerminal(state.execution.status) || !isTerminal(status)) return;
      expect(event.type === 'evaluate' || event.type === 'deliver').toBe(true);
      const records = Object.values(state.steps);
      expect(records.some(isLeased)).toBe(false);
      if (status === 'succeeded') {
        expect(plan.steps.every((step) => isSatisfied(state.steps[step.name]))).toBe(true);
        return;
      }
      expect(stepToFence(plan, state)).toBeUndefined();
      const open = plan.steps.filter((step) => effectOf(step, state.steps[step.name]).isOwed);
      // It ends as 'compensated' only if everything is undone (S10). If an undo failed for good, the steps
      // behind it stay, and it ends as 'failed'.
      if (open.length > 0) expect(status).toBe('failed');
      const stuck = plan.steps.filter((step) => state.steps[step.name]?.status === 'compensation-failed');
      for (const step of open) {
        const behind = stuck.some((other) => other === step || isBefore(plan, step.name, other.name));
        expect(behind).toBe(true);
      }
    });
  });

  it('lets nobody but the holder change a step that is held, until its lease is over (S4, S5)', () => {
    everywhere(({ state }, event, { write }) => {
      const before = write?.step === undefined ? undefined : state.steps[write.step.name];
      if (!isLeased(before)) return;
      if (event.type === 'evaluate') expect(before.leaseUntil).toBeLessThan(NOW);
      // The death of an earlier attempt does not affect the one that has the lease.
      else if (event.type === 'process-died' && event.token !== before.token)
        expect(write?.step).toMatchObject({ token: before.token, leaseUntil: before.leaseUntil });
      else expect(event).toMatchObject({ token: before.token });
    });
  });

  it('takes no report under another token, and renews no lease that was ended, whatever became of the step (S4, S5)', () => {
    everywhere(
      ({ state }, event, { write }) => {
        if (event.type !== 'report' && event.type !== 'heartbeat') return;
        const before = state.steps[event.step];
        const isOpen = event.type === 'report' || isLeased(before);
        if (!isOpen || event.token !== before?.token) expect(write).toBeUndefined();
      },
      () => fc.oneof(reported, heartbeats),
    );
  });

  it('tells of an end what happened, and nothing of its payload (S17)', () => {
    let announced = 0;
    const always = ['about', 'endedAt', 'executionId', 'startedAt', 'status', 'workflow'];
    everywhere(
      (_, __, { announce }) => {
        if (announce?.about !== 'end') return;
        announced += 1;
        const fields = Object.keys(announce);
        expect(fields).toEqual(expect.arrayContaining(always));
        expect(fields.filter((field) => ![...always, 'cause', 'standing'].includes(field))).toEqual([]);
        const effects = (announce.standing?.first ?? []).flatMap((effect) => Object.keys(effect));
        expect(effects.filter((field) => !['step', 'effect', 'executionId'].includes(field))).toEqual([]);
      },
      () => evaluations,
    );
    expect(announced).toBeGreaterThan(20);
  });

  it('sends at most one message per step, with ids only and a delay the queue can keep', () => {
    everywhere(({ plan, state }, _, { sends }) => {
      expect(new Set(sends.map(({ message }) => message.step)).size).toBe(sends.length);
      for (const { agent, message, delayMs } of sends) {
        const step = agentStep(plan, message.step);
        expect(agent).toBe(step?.agent);
        expect(message.seq).toBe(state.steps[message.step]?.version ?? 0);
        expect(delayMs >= 0 && delayMs <= MAX_DELAY_MS).toBe(true);
      }
    });
  });

  it('from a state that was not just read sends hints or ends the execution, and nothing else', () => {
    everywhere(
      ({ state }, event, { write, announce }) => {
        if (event.type !== 'evaluate' || event.fresh || write === undefined || announce !== undefined) return;
        const supervised = event.by === 'supervisor' && write.execution?.status === state.execution.status;
        if (!supervised) expect(write.execution?.status).toBe('succeeded');
        expect(write.step).toBeUndefined();
      },
      () => evaluations,
    );
  });

  it('keeps an open execution watched (S12)', () => {
    everywhere(({ state }, _, { write }) => {
      if (write?.execution === undefined || isTerminal(state.execution.status)) return;
      expect(Number.isFinite(write.execution.wakeAt)).toBe(true);
    });
  });
});

describe('a claim', () => {
  const claims = (judge: Judge): void =>
    everywhere(
      (given, event, decision) => {
        if (decision.next.kind === 'perform') judge(given, event, decision);
      },
      deliveries,
      2 * RUNS,
    );

  it('is written with a fresh token and a lease that its process outlives (S3, S4)', () => {
    let claimed = 0;
    claims(({ state }, event, { write, next }) => {
      claimed += 1;
      expect(next).toEqual({ kind: 'perform', step: write?.step });
      const before = state.steps[write?.step?.name ?? ''];
      const processDeadlineAt = event.type === 'deliver' ? event.processDeadlineAt : 0;
      expect(write?.step).toMatchObject({ token: 'fresh', claimedAt: NOW });
      expect(write?.step?.leaseUntil).toBeLessThanOrEqual(processDeadlineAt);
      expect(write?.step?.leaseUntil).toBeGreaterThan(NOW);
      // A probe only asks: nothing has to wait for its process to be dead.
      const prior = before?.processDeadlineAt ?? 0;
      // The reader may have the faster clock.
      const deadAt = Math.max(prior, processDeadlineAt + CLOCKS_DIFFER_MS);
      expect(write?.step?.processDeadlineAt).toBe(write?.step?.mode === 'probe' ? prior : deadAt);
      expect(isLeased(before)).toBe(false);
    });
    expect(claimed).toBeGreaterThan(10);
  });

  it('to execute is made only while the execution runs and when every predecessor is done or skipped (S7)', () => {
    claims(({ plan, state }, _, { write }) => {
      if (write?.step?.mode !== 'execute') return;
      expect(['running', 'waiting']).toContain(state.execution.status);
      if (state.steps[write.step.name] !== undefined) return;
      const planStep = plan.steps.find(({ name }) => name === write.step?.name);
      expect(planStep?.after.every((name) => isSatisfied(state.steps[name]))).toBe(true);
    });
  });

  it('counts one attempt if it is to execute, and none if it is a probe or an undo (S9)', () => {
    claims(({ state }, _, { write }) => {
      const before = state.steps[write?.step?.name ?? ''];
      const more = write?.step?.mode === 'execute' ? 1 : 0;
      expect(write?.step?.attempt).toBe((before?.attempt ?? 0) + more);
    });
  });

  it('to undo is made behind the fence, after every dependent, and not while an attempt may still act (S10)', () => {
    claims(({ plan, state }, _, { write }) => {
      if (write?.step?.mode !== 'undo') return;
      expect(state.execution.status).toBe('compensating');
      expect(stepToFence(plan, state)).toBeUndefined();
      const before = state.steps[write.step.name];
      const settleMs = agentStep(plan, write.step.name)?.settleMs ?? 0;
      if (before?.mayHaveActed === true)
        expect(NOW).toBeGreaterThanOrEqual(before.processDeadlineAt + settleMs);
      for (const step of dependentsOf(plan, write.step.name)) {
        const record = state.steps[step.name];
        expect(isLeased(record) || effectOf(step, record).isOwed).toBe(false);
      }
      for (const other of agentSteps(plan).filter(({ name }) =>
        isBefore(plan, write.step?.name ?? '', name),
      )) {
        const record = state.steps[other.name];
        if (record?.mayHaveActed === true)
          expect(NOW).toBeGreaterThanOrEqual(record.processDeadlineAt + other.settleMs);
      }
    });
  });
});

describe('a message', () => {
  it('about what is held, over, unknown or not there claims nothing (S13)', () => {
    everywhere(({ state }, event, decision) => {
      if (event.type !== 'deliver' || decision.next.kind !== 'perform') return;
      expect(['a', 'b', 'c', 'd', 'e']).toContain(event.message.step);
      const before = state.steps[event.message.step];
      expect(event.message.seq).toBeLessThanOrEqual(before?.version ?? 0);
      expect(['fenced', 'skipped', 'compensated', 'compensation-failed', 'running', 'probing']).not.toContain(
        before?.status,
      );
    }, deliveries);
  });

  it('claims the attempt that it is about, in its mode (S13)', () => {
    let claimed = 0;
    everywhere(
      (_, event, { next }) => {
        if (event.type !== 'deliver' || next.kind !== 'perform') return;
        claimed += 1;
        const { mode, attempt, undoAttempt } = next.step;
        expect(mode).toBe(event.message.mode);
        expect(mode === 'undo' ? undoAttempt : attempt).toBe(event.message.attempt);
      },
      deliveries,
      1_500,
    );
    expect(claimed).toBeGreaterThan(20);
  });

  it('that comes to a process with too little time left is given back, and costs no attempt (S9)', () => {
    everywhere((_, event, decision) => {
      if (event.type !== 'deliver' || event.processDeadlineAt - NOW >= 2_000) return;
      expect(decision.next.kind).not.toBe('perform');
    }, deliveries);
  });
});

describe('a decision applied twice (S15)', () => {
  const applied = async ({ plan, state }: Case, decision: Decision, event: Event): Promise<void> => {
    if (decision.write === undefined) return;
    const store = new MemoryStore();
    await seed(store, state);
    expect(await store.write(decision.write)).toBe('written');
    const once = await store.read('e-1');
    // A repetition of the same write by the transport is recognised. A write that another process decided on
    // the same state is refused.
    expect(await store.write(decision.write)).toBe('written');
    const again = decide(plan, state, { ...event, writeId: 'w-other' });
    if (again.write !== undefined) expect(await store.write(again.write)).toBe('conflict');
    expect(await store.read('e-1')).toEqual(once);
    expect(once).toEqual(withWrite(state, decision.write));
  };

  it('is applied once', async () => {
    const all: Promise<void>[] = [];
    everywhere((given, event, decision) => {
      all.push(applied(given, decision, event));
    });
    await Promise.all(all);
    expect(all.length).toBeGreaterThan(100);
  });
});

/** Writes a state version by version, as the store requires. */
async function seed(store: MemoryStore, { execution, steps }: Snapshot): Promise<void> {
  const at = <Record extends { version: number; writeId: string }>(
    record: Record,
    version: number,
  ): Record => (version === record.version ? record : { ...record, version, writeId: `v${version}` });
  await store.create(at(execution, 1));
  for (let version = 2; version <= execution.version; version += 1) {
    await store.write({ executionId: 'e-1', execution: at(execution, version) });
  }
  for (const step of Object.values(steps)) {
    for (let version = 1; version <= step.version; version += 1) {
      await store.write({ executionId: 'e-1', step: at(step, version) });
    }
  }
}
