/**
 * The message's text form: ids only, under 1 KB. Any other text is at worst a useless hint (S13).
 *
 * Owns: its codec and version. Does not own: whether a message is still true (`decide.ts`).
 */

import { isExecutionId, isStepName } from '../values/names.ts';
import type { Mode } from '../records/state.ts';

/** A hint that a step may be due. Ids only; the state decides (S13). */
export interface Message {
  readonly v: 1;
  readonly execution: string;
  readonly step: string;
  readonly attempt: number;
  readonly mode: Mode;
  /**
   * The step's version as the sender saw it. If it is higher than the stored one, the message was sent before
   * the table was restored.
   */
  readonly seq: number;
  /** The plan of a long execution: an agent that has it need not read all steps. */
  readonly plan?: string;
}

const MODES: ReadonlySet<unknown> = new Set<Mode>(['execute', 'probe', 'undo']);

export const formatMessage = (message: Message): string => JSON.stringify(message);

/**
 * @returns the message; 'newer' for a later version's, which the later version must get; undefined for other
 * text
 */
export function parseMessage(text: string): Message | 'newer' | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { v, execution, step, attempt, mode, seq, plan } = value as Record<string, unknown>;
  if (typeof v === 'number' && v > 1) return 'newer';
  const wellFormed =
    v === 1 &&
    typeof execution === 'string' &&
    isExecutionId(execution) &&
    typeof step === 'string' &&
    isStepName(step) &&
    MODES.has(mode) &&
    [attempt, seq].every((number) => Number.isSafeInteger(number) && (number as number) >= 0);
  if (!wellFormed) return undefined;
  const message = {
    v: 1,
    execution,
    step,
    attempt: attempt as number,
    mode: mode as Mode,
    seq: seq as number,
  } as const;
  return typeof plan === 'string' ? { ...message, plan } : message;
}
