/**
 * Reads the last executions of a workflow with their steps: ended ones once, others repeatedly, a few at a
 * time.
 *
 * Does not own: computing figures (`figures.ts`).
 */

import type { ExecutionView } from '../../lib/api/answers.ts';
import { isTerminal } from '../../lib/core/records/state.ts';
import { api } from '../api.ts';

const MOST = 50;
const AT_A_TIME = 6;
const MOST_OPEN = 100;

const ended = new Map<string, ExecutionView>();
const MOST_KEPT = 400;

/** The executions, latest start first. */
export async function latestOf(workflow: string): Promise<readonly ExecutionView[]> {
  const { items } = await api.list({ workflow, limit: MOST });
  const views: (ExecutionView | undefined)[] = [];
  const read = async (at: number): Promise<void> => {
    const item = items[at];
    if (item === undefined) return;
    const known = ended.get(item.executionId);
    views[at] =
      known !== undefined && known.endedAt === item.endedAt ? known : await readOne(item.executionId);
    await read(at + AT_A_TIME);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, (_, lane) => read(lane)));
  return views.filter((view): view is ExecutionView => view !== undefined);
}

/** Reads one execution; undefined if it was removed meanwhile. */
async function readOne(id: string): Promise<ExecutionView | undefined> {
  const view = await api.get(id).catch((error: unknown) => {
    if (Object(error).code === 'unknown-execution') return undefined;
    throw error;
  });
  if (view !== undefined && isTerminal(view.status) && view.wakeAt === undefined) {
    if (ended.size >= MOST_KEPT) ended.clear();
    ended.set(id, view);
  }
  return view;
}

/** Counts the first hundred open executions by their plan. */
export async function plansUnderWay(workflow: string): Promise<readonly (readonly [string, number])[]> {
  const { items } = await api.list({ workflow, status: 'open', limit: MOST_OPEN });
  return [...new Set(items.map(({ plan }) => plan))].map((plan) => [
    plan,
    items.filter((one) => one.plan === plan).length,
  ]);
}
