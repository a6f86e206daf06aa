/**
 * Runs published workflows, rewritten as ours, along given ways, without faults and with a fault wherever a
 * process may die or an answer be lost, and checks the end. Owns: running and judging a way. Does not own:
 * the ways, the workflows, the services (`services.ts`).
 */

import type { Workflow } from 'steadfast';
import { crashEverywhere, type TestRun, testWorkflow, type WorkflowTest } from 'steadfast/testing';
import { type Answers, servicesFor } from './services.ts';

export type Play = (trial: WorkflowTest<unknown>, input: unknown) => Promise<TestRun>;

/** A way through a workflow. */
export interface Way {
  readonly from: string;
  readonly file: string;
  readonly way: string;
  readonly workflow: Workflow;
  readonly input: unknown;
  readonly answers?: Answers;
  /** @default it is started */
  readonly play?: Play;
  readonly ends: string;
  /** Effects outside, sorted unless `inOrder`; those with an exclamation mark were undone. */
  readonly deeds: string;
  readonly inOrder?: true;
  /** Why a fault may change the end: a deadline that passes meanwhile. */
  readonly mayEndOtherwise?: string;
}

/** The time at which a trial begins, in epoch ms. */
export const START = 1_700_000_000_000;
export const MINUTE = 60_000;

let trialNow = (): number => START;
/** The current trial's time, for services with a clock. */
export const now = (): number => trialNow();
export const timed =
  (play: Play): Play =>
  async (trial, input) => {
    trialNow = () => trial.now();
    return await play(trial, input);
  };

/** How many fault places of a way are tried, at equal distances; the longest way has 1,200. */
const POINTS = 25;

export function playWays(ways: readonly Way[]): void {
  const named = ways.map((way) => [`${way.file}: ${way.way}`, way] as const);

  test.each(named)('%s', async (_, { workflow, input, answers, play, ends, deeds, inOrder }) => {
    const { agents, deeds: done } = servicesFor(workflow, answers);
    const trial = testWorkflow(workflow, { agents });
    const run = await (play ?? ((one, given) => one.start(given)))(trial, input);
    const { status } = await run.waitForEnd();
    const acted = inOrder === true ? done() : done().toSorted();
    expect([status, acted.join(' ')]).toEqual([ends, deeds]);
  });

  const steady = named.filter(([, { mayEndOtherwise }]) => mayEndOtherwise === undefined);
  test.each(steady)('%s, with a fault', async (_, { workflow, input, answers, play, ends }) => {
    const { agents, world } = servicesFor(workflow, answers);
    const report = await crashEverywhere(workflow, {
      input,
      agents,
      world,
      maxRuns: POINTS,
      ...(play === undefined ? {} : { scenario: play }),
    });
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ [ends]: report.runs + 1 });
  });
}
