/** The six workflows of `six.ts` in Restate. */

import { type Context, object, type ObjectContext, service } from '@restatedev/restate-sdk';
import {
  TerminalError,
  workflow,
  type WorkflowContext,
  type WorkflowSharedContext,
} from '@restatedev/restate-sdk';
import { book, cancel, copyPage, payBack, post, readJob, submit } from '../services.ts';

// Hello
export const hello = service({
  name: 'hello',
  handlers: {
    run: async (ctx: Context, { name }: { name: string }) => {
      return { text: await ctx.run('greet', () => `Hello, ${name}!`) };
    },
  },
});

// Saga of three
export const trip = service({
  name: 'trip',
  handlers: {
    run: async (ctx: Context, { city }: { city: string }) => {
      const undos: (() => Promise<unknown>)[] = [];
      try {
        for (const kind of ['flight', 'hotel', 'car']) {
          const key = `${kind}-${ctx.rand.uuidv4()}`;
          undos.push(() => ctx.run(`cancel-${kind}`, () => cancel(key, kind)));
          await ctx.run(kind, () => book(key, kind, city));
        }
      } catch (error) {
        if (error instanceof TerminalError) for (const undo of undos.toReversed()) await undo();
        throw error;
      }
    },
  },
});

// Approval with a deadline
export const refund = workflow({
  name: 'refund',
  handlers: {
    run: async (ctx: WorkflowContext, { orderId, amount }: { orderId: string; amount: number }) => {
      const isApproved = await ctx.promise<boolean>('ok').get().orTimeout({ days: 2 });
      if (!isApproved) throw new TerminalError('rejected');
      await ctx.run('pay', () => payBack(ctx.key, orderId, amount));
    },
    answer: (ctx: WorkflowSharedContext, isApproved: boolean) =>
      ctx.promise<boolean>('ok').resolve(isApproved),
  },
});

// Poll
export const encoding = service({
  name: 'encoding',
  handlers: {
    run: async (ctx: Context, { film }: { film: string }) => {
      const key = ctx.rand.uuidv4();
      const { id } = await ctx.run('start', () => submit(key, film));
      for (let round = 0; round < 300; round += 1) {
        const { isDone, url } = await ctx.run('read', () => readJob(id));
        if (isDone) return { url };
        await ctx.sleep({ seconds: 30 });
      }
      throw new TerminalError('not done');
    },
  },
});

// Loop
export const copying = service({
  name: 'copying',
  handlers: {
    run: async (ctx: Context, first: { cursor: string }) => {
      let page = first;
      do {
        const { cursor } = page;
        page = await ctx.run('copy', () => copyPage(cursor));
      } while (page.cursor !== '');
    },
  },
});

// One per key
export const posting = object({
  name: 'posting',
  handlers: {
    run: async (ctx: ObjectContext, { amount }: { amount: number }) => {
      const key = ctx.rand.uuidv4();
      await ctx.run('post', () => post(key, ctx.key, amount));
    },
  },
});
