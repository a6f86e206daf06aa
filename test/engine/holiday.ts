/**
 * The services of a holiday, for tests of steps that may fail: a record of their acts, and an agent whose
 * process dies at work.
 */

import type { Ports } from '../../lib/core/ports.ts';
import type { Send } from '../../lib/core/decisions/decision.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { retry } from '../../lib/author/builder/workflow.ts';
import { anAgent, type Harness } from './harness.ts';
import { aProcess, never } from './process.ts';

export const DAY = 86_400_000;
export const once = { recovery: [retry(0)], retryUndo: retry(3, { delay: '1s', maxDelay: '2s' }) };

export const flights = anAgent('flights');
export const cars = anAgent('cars');
export const mails = anAgent('mails', { undo: 'none' });

/** The services' acts, in order. */
export const book: string[] = [];
export const does = (name: string) => ({
  execute: async (ctx: { step: string }): Promise<object> => {
    book.push(`${ctx.step} by ${name}`);
    return { id: ctx.step };
  },
  undo: async (ctx: { step: string }): Promise<void> => {
    book.push(`undo ${ctx.step} by ${name}`);
  },
});
export const decline = async (): Promise<never> => {
  throw new PermanentError('declined');
};

/**
 * Makes the agent's first process die when it begins a step, so that the outcome is unknown.
 * @returns the process for a message
 */
export function losesFirst(h: Harness, name: string): (send: Send) => Ports | undefined {
  const dead = aProcess(h);
  h.implementations[name] = {
    ...(h.implementations[name] as Harness['implementations'][string]),
    execute: () => {
      dead.kill();
      return never;
    },
  };
  return ({ agent, message }) => (agent === name && message.mode === 'execute' ? dead.ports : undefined);
}
