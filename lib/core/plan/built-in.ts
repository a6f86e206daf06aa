/**
 * The built-in parts of every deployment: the workflow and the agent behind bulk actions, and those of the
 * canary.
 *
 * Owns: their names, which no author may use. Does not own: their work (`scheduler/bulk-workflow.ts`,
 * `scheduler/canary-workflow.ts`). The infrastructure loads this file, so it imports nothing.
 */

/** The prefix of built-in workflows and agents; no author's name may begin with it. */
export const BUILT_IN_PREFIX = 'steadfast-';

export const isBuiltIn = (name: string | undefined): boolean => name?.startsWith(BUILT_IN_PREFIX) === true;

/** The workflow of a bulk action, and the agent that acts on it page by page. */
export const BULK: { readonly name: string; readonly timeoutMs: number } = {
  name: `${BUILT_IN_PREFIX}bulk`,
  // A page takes seconds, or minutes if the table throttles.
  timeoutMs: 300_000,
};

/** The workflow that is started regularly to see that it ends, and its agent. */
export const CANARY: { readonly name: string; readonly timeoutMs: number } = {
  name: `${BUILT_IN_PREFIX}canary`,
  timeoutMs: 10_000,
};
