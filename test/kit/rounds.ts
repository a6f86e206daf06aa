/** Workflows with rounds, and agents that record their effects. */

import { agent, eq, exists, not, PermanentError, required, retry, workflow } from 'steadfast';
import { externalWorld } from 'steadfast/testing';
import * as z from 'zod/mini';

const LIMITS = { timeout: '20s', lease: '10s', claimWithin: '10s', lateEffectWithin: '1s' } as const;

const Page = z.object({ rows: z.number(), next: z.optional(z.string()) });
export const readPage = agent('read-page', {
  input: z.object({ from: z.string() }),
  output: Page,
  ...LIMITS,
  effect: 'none',
  undo: 'none',
});

export const reading = workflow('reading', { input: z.object({ first: z.string() }), within: '1d' }, (w) => {
  const pages = w.repeat(
    'pages',
    readPage,
    { from: w.input.first },
    {
      next: (last) => ({ from: required(last.next) }),
      until: (last) => not(exists(last.next)),
      maxRounds: 4,
    },
  );
  return { pages: pages.output.rounds, last: pages.output.last.rows, all: pages.output.items };
});

export const reader = (pages: number) =>
  readPage.handler({
    execute: async (_ctx, { from }) => {
      const at = Number(from.slice(1));
      return at < pages ? { rows: at, next: `p${at + 1}` } : { rows: at };
    },
  });

const Batch = {
  input: z.object({ at: z.number() }),
  output: z.object({ at: z.number(), more: z.boolean() }),
};
export const copy = agent('copy', { ...Batch, ...LIMITS, effect: 'idempotent' });
export const check = agent('check', { ...Batch, ...LIMITS, effect: 'idempotent' });

export const batch = workflow('batch', { input: Batch.input, within: '1d' }, (w) => {
  const copied = w.step('copy', copy, w.input, { recovery: [retry(1, { delay: '1s' })] });
  return { at: copied.output.at, more: copied.output.more };
});

export const copying = workflow('copying', { input: z.object({}), within: '1d' }, (w) => {
  const batches = w.repeat(
    'batches',
    batch,
    { at: 1 },
    {
      next: (last) => ({ at: last.at }),
      until: (last) => eq(last.more, false),
      maxRounds: 5,
      recovery: [retry(1, { delay: '1s' })],
    },
  );
  w.step('check', check, { at: batches.output.rounds }, { recovery: [retry(1, { delay: '1s' })] });
  return { rounds: batches.output.rounds };
});

/** The same, but its batches are never undone. */
export const keeping = workflow('keeping', { input: z.object({}), within: '1d' }, (w) => {
  const batches = w.repeat(
    'batches',
    batch,
    { at: 1 },
    { next: (last) => ({ at: last.at }), until: (last) => eq(last.more, false), maxRounds: 5, undo: 'none' },
  );
  return { rounds: batches.output.rounds };
});

export function copier(batches = 3, refuses: (at: number) => boolean = () => false) {
  const world = externalWorld();
  const undone: string[] = [];
  const done: string[] = [];
  const agents = [
    copy.handler({
      execute: async (ctx, { at }) => {
        if (refuses(at)) throw new PermanentError('no');
        await world.actOnce(ctx.idempotencyKey, `batch-${at}`);
        done.push(`batch-${at}`);
        return { at: at + 1, more: at < batches };
      },
      undo: async (ctx, { at }) => {
        undone.push(`batch-${at}`);
        await world.undo(ctx.idempotencyKey);
      },
    }),
    check.handler({
      execute: async (ctx, { at }) => {
        await world.actOnce(ctx.idempotencyKey, 'checked');
        return { at, more: false };
      },
      undo: async (ctx) => {
        undone.push('checked');
        await world.undo(ctx.idempotencyKey);
      },
    }),
  ];
  return { world, agents, undone, done };
}
