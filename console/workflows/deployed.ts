/** Reads the workflows that can be started, rarely because only a deployment changes them. */

import type { WorkflowView } from '../../lib/api/deployment-answers.ts';
import { api } from '../api.ts';

const FRESH_MS = 30_000;
let last: { readonly at: number; readonly read: Promise<readonly WorkflowView[]> } | undefined;

export function deployed(): Promise<readonly WorkflowView[]> {
  if (last !== undefined && Date.now() - last.at < FRESH_MS) return last.read;
  const read = api.workflows();
  last = { at: Date.now(), read };
  read.catch(() => {
    last = undefined;
  });
  return read;
}
