/**
 * The workflow of a bulk action: an agent of every deployment acts on one page after the other.
 *
 * Owns: the plan, how often a page is tried, deferring pages during a pause. Does not own: the work on a page
 * (`bulk-page.ts`), who starts it (`bulks.ts`).
 *
 * One part of the list is under way at a time: 25 pages, all sent at once. The parts do not see a pause of
 * the execution, so the agent reads it before it takes a page: pages under way continue, and no other page
 * begins.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import { type Agent, declareAgent } from '../core/plan/agent.ts';
import { BULK } from '../core/plan/built-in.ts';
import { limitsOf } from '../core/plan/plan.ts';
import { ALONE, type Workflow } from '../core/plan/workflow.ts';
import type { Ports } from '../core/ports.ts';
import { defined } from '../core/values/defined.ts';
import { type Execution, pauseOf, type NotBefore } from '../core/records/state.ts';
import { timeText } from '../core/values/text.ts';

export interface PageInput {
  readonly bulk: string;
  readonly page: number;
}

/** How many executions of a page obeyed the command, and how many refused it. */
export interface PageOutput {
  readonly applied: number;
  readonly refused: number;
}

/** How often a page is tried, which takes more than an hour. */
export const PAGE_TRIES = 20;

const schemaOf = <T>(isIt: (value: Readonly<Record<string, unknown>>) => boolean): StandardSchemaV1<T> => ({
  '~standard': {
    version: 1,
    vendor: 'steadfast',
    validate: (value) =>
      typeof value === 'object' && value !== null && isIt(value as Readonly<Record<string, unknown>>)
        ? { value: value as T }
        : { issues: [{ message: 'is not what a bulk action writes' }] },
  },
});

const count = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

export const bulkAgent: Agent<PageInput, PageOutput> = declareAgent(BULK.name, {
  input: schemaOf<PageInput>(({ bulk, page }) => typeof bulk === 'string' && count(page)),
  output: schemaOf<PageOutput>(({ applied, refused }) => count(applied) && count(refused)),
  // A command that is repeated under its id is obeyed once.
  effect: 'idempotent',
  undo: 'none',
  lease: '10s',
  timeout: `${BULK.timeoutMs}ms`,
});

export const bulkWorkflow: Workflow = {
  kind: 'steadfast:workflow',
  name: BULK.name,
  input: schemaOf<{ readonly bulk: string; readonly pages: readonly number[] }>(
    ({ bulk, pages }) => typeof bulk === 'string' && Array.isArray(pages) && pages.every(count),
  ),
  plan: {
    v: 1,
    workflow: BULK.name,
    withinMs: 7 * 24 * 3_600_000,
    steps: [
      {
        kind: 'map',
        name: 'pages',
        after: [],
        over: { $ref: 'input', path: ['pages'] },
        each: {
          kind: 'agent',
          name: 'item',
          after: [],
          agent: BULK.name,
          input: { bulk: { $ref: 'input', path: ['bulk'] }, page: { $ref: 'item', path: [] } },
          ...limitsOf(bulkAgent.spec),
          recovery: [{ kind: 'retry', attempts: PAGE_TRIES - 1, firstMs: 1_000, maxMs: 300_000 }],
          undo: 'none',
        },
        concurrency: 25,
        tolerate: { items: 0 },
      },
    ],
    output: { pages: { $ref: 'step:pages', path: ['total'] } },
  },
  agents: [bulkAgent as Agent],
  ...ALONE,
};

/** The time after which a deferred page is tried again. */
const DEFERRED_MS = 30_000;

/**
 * Defers a page while its bulk action is paused. The time counts from now: unlike calls, pages need not
 * return one by one.
 */
export async function deferredByPause(
  { store, clock }: Ports,
  { parent }: Execution,
): Promise<NotBefore | undefined> {
  const execution = parent && (await store.readExecution(parent.executionId));
  const pause = execution && execution.status === 'paused' ? pauseOf(execution) : undefined;
  if (pause === undefined) return undefined;
  const { at, by } = pause;
  const now = clock.now();
  const reason = `its bulk action is, since ${timeText(at)}: ${pause.reason}`;
  return { why: 'paused', since: now, at: now + DEFERRED_MS, pause: { reason, ...defined({ by }) } };
}
