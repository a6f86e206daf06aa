/**
 * What a question says of its execution, its workflow and its tags, so that an inbox need not read the
 * execution.
 *
 * Owns: the shape. Does not own: the questions (`records/incident.ts`, `records/entry.ts`). Records of a
 * release before have none of it.
 */

import { given } from '../values/given.ts';
import type { Execution } from './state.ts';

export interface AskedOf {
  readonly workflow?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

export const askedOf = ({ workflow, tags }: Execution): AskedOf => ({ workflow, ...given({ tags }) });
