/** A parent execution shows the open questions of its child executions, the most urgent first. */

import * as z from 'zod/mini';
import { listText, executionText, whyText } from '../../cli/print.ts';
import { overviewText } from '../../cli/print-overview.ts';
import { askPerson, workflow } from '../../lib/author/builder/workflow.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import type { ExecutionSummary, ExecutionView, IncidentPage, Reasons } from '../../lib/api/answers.ts';
import type { Overview } from '../../lib/api/deployment-answers.ts';
import { aboutText } from '../../lib/explain/question.ts';
import { anAgent } from '../engine/harness.ts';
import { client, type Client } from './app.ts';

const worker = anAgent('worker');

const ITEMS = z.object({ orderId: z.string(), list: z.array(z.number()) });
const each = workflow('each', { input: z.object({ item: z.number() }), within: '9d' }, (w) => {
  w.step('reserve', worker, w.input, { recovery: [askPerson({ within: '2d' })] });
});
const kinds = {
  list: workflow('orders', { input: ITEMS, within: '10d' }, (w) => {
    w.map('rooms', worker, w.input.list, (item) => ({ item }), { recovery: [askPerson({ within: '2d' })] });
  }),
  child: workflow('orders', { input: ITEMS, within: '10d' }, (w) => {
    w.child('rooms', each, { item: 1 });
  }),
  'list of workflows': workflow('orders', { input: ITEMS, within: '10d' }, (w) => {
    w.map('rooms', each, w.input.list, (item) => ({ item }));
  }),
};

async function asking(kind: keyof typeof kinds): Promise<{ c: Client; id: string }> {
  const refuse = async (): Promise<never> => {
    throw new PermanentError('no room');
  };
  const c = client(refuse, undefined, kinds[kind] as never);
  const id = await c.begun({ input: { orderId: 'o-1', list: [1, 2, 3, 4] }, tags: { orderId: 'o-1' } });
  for (let round = 0; round < 20; round += 1) {
    for (const send of c.sent.splice(0)) await c.deliver(send);
  }
  return { c, id };
}

const typed = (line: string): string => `steadfast ${line}`;

describe.each([
  ['list', 4],
  ['child', 1],
  ['list of workflows', 4],
] as const)('of a %s', (kind, count) => {
  it('show, why, list and status say that people are asked, how many, and who first', async () => {
    const { c, id } = await asking(kind);
    const view = (await c.get(`/executions/${id}`)).body as unknown as ExecutionView;
    const { asked } = view;
    expect(view.status).toBe('running');
    expect(asked).toMatchObject({ count, next: { kind: 'recovery' } });
    expect(asked?.next.executionId.startsWith(`${id}.rooms.0`)).toBe(true);
    expect(view.steps[0]?.children?.asked).toEqual(asked);
    const now = c.clock.now();
    const said = `waits for people: ${count} question`;
    expect(executionText(view, now, typed)).toMatch(
      new RegExp(`asked +${said}.*\\nanswer +steadfast show ${id}\\.rooms\\.0`),
    );
    expect(executionText(view, now, typed)).toMatch(new RegExp(`rooms +running +\\S+ +${said}`));

    const reasons = (await c.get(`/executions/${id}/why`)).body as unknown as Reasons;
    expect(reasons.next).toMatchObject({ who: 'person', at: asked?.next.deadlineAt });
    expect(whyText(reasons, [], now)).toContain(`it ${said}`);

    const { items } = (await c.get('/executions')).body as unknown as { items: ExecutionSummary[] };
    expect(items.find((one) => one.executionId === id)?.asked).toEqual(asked);
    const listed = { items, more: false, orderedBy: 'startedAt' } as const;
    expect(listText(listed, now)).toMatch(new RegExp(`${id} +orders +running, ${count} asked below`));

    const overview = (await c.get('/overview')).body as unknown as Overview;
    expect(overview.workflows.find((one) => one.workflow === 'orders')).toMatchObject({
      open: 1,
      waiting: 1,
    });
    expect(overviewText(overview, typed)).toMatch(/orders +1 +1 /);
  });

  it('no longer once all is answered', async () => {
    const { c, id } = await asking(kind);
    const { items } = (await c.get('/incidents')).body as unknown as {
      items: { executionId: string; number: number }[];
    };
    for (const { executionId, number } of items)
      await c.post(`/executions/${executionId}/incidents/${number}/resolve`, { choice: 'undo-all' });
    expect((await c.get(`/executions/${id}`)).body['asked']).toBeUndefined();
  });

  it('who is asked sees the workflow and the tags of the execution that it belongs to', async () => {
    const { c, id } = await asking(kind);
    const { items } = (await c.get('/incidents')).body as unknown as IncidentPage;
    expect(items).toHaveLength(count);
    const root = { executionId: id, workflow: 'orders', tags: { orderId: 'o-1' } };
    for (const item of items) {
      expect(aboutText(item)).toMatch(/orders · orderId: o-1$/);
      // A part of a list has workflow and tags of its own.
      expect(item.root).toEqual(kind === 'list' ? undefined : root);
    }
    expect(c.questionNews).toHaveLength(count);
    for (const news of c.questionNews) expect(news.root).toEqual(root);
  });
});

it('a question to an external party does not count as a question to a person', async () => {
  const waits = workflow('waits', { input: z.object({}), within: '9d' }, (w) => {
    w.callback('paid', { output: z.any(), within: '1d' });
  });
  const served = workflow('orders', { input: z.object({}), within: '10d' }, (w) => {
    w.child('payment', waits, {});
  });
  const c = client(undefined, undefined, served as never);
  const id = await c.begun({ input: {} });
  expect((await c.get('/incidents')).body['items']).toHaveLength(1);
  expect((await c.get(`/executions/${id}`)).body['asked']).toBeUndefined();
});
