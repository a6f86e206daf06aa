/** Starting an unsuccessful execution anew with its input; if that is impossible, the page says why. */

import type { Browser, Page } from 'playwright-core';
import * as z from 'zod/mini';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { anAgent } from '../engine/harness.ts';
import { closePages, expectAccessible, expectFits, openPage, startBrowser } from './browser.ts';
import { memoryPage, type MemoryPage } from './memory-world.ts';

const input = z.object({ orderId: z.string(), amount: z.number() });
const below = workflow('below', { input, within: '1h' }, (w) => {
  w.step('reserve', anAgent('stock'), {});
});
const pay = workflow('pay', { input, within: '1h', tags: ['customer'] }, (w) => {
  const part = w.child('part', below as unknown as Workflow, w.input as never);
  w.step('charge', anAgent('bank', { undo: 'none' }), { amount: w.input.amount } as never, {
    recovery: [retry(0)],
    after: [part],
  });
}) as unknown as Workflow;

let browser: Browser;
let world: MemoryPage;
let id: string;
beforeAll(async () => {
  browser = await startBrowser();
  world = await memoryPage(pay, {
    stock: { execute: async () => ({}), undo: async () => undefined },
    bank: {
      execute: async (_, given) => {
        if ((Object(given) as { amount: number }).amount > 100) throw new PermanentError('declined');
        return {};
      },
    },
  });
  const properties = {
    orderId: { type: 'string', title: 'Order' },
    amount: { type: 'number', title: 'Cents' },
  };
  world.forms = { input: { type: 'object', properties, required: ['orderId', 'amount'] } };
  ({ id } = await world.begin({ orderId: 'o-1', amount: 500 }));
  await world.run(id);
});
afterAll(async () => {
  await browser?.close();
  await world?.server.close();
});
afterEach(closePages);

const dialogOf = (page: Page) => page.getByRole('dialog');

it('begins with the old input, says what is wrong at its field, and leads to the new one, which says of which it is', async () => {
  expect((await world.view(id)).status).toBe('compensated');
  const { page } = await openPage(browser, world.server, `#/executions/${id}`, { width: 360 });
  await page.getByRole('button', { name: 'Start again …' }).click();
  const cents = dialogOf(page).getByLabel('Cents');
  await cents.waitFor();
  expect(await dialogOf(page).getByLabel('Order').inputValue()).toBe('o-1');
  expect(await cents.inputValue()).toBe('500');
  await expectAccessible(page);
  await expectFits(page);
  await cents.fill('');
  await page.keyboard.press('Enter');
  await dialogOf(page).locator('.field.wrong').waitFor();
  await cents.fill('50');
  await page.keyboard.press('Enter');
  await page.locator('.head dd', { hasText: id }).waitFor();
  await dialogOf(page).waitFor({ state: 'detached' });
  const next = decodeURIComponent(/executions\/([^?]+)/.exec(page.url())?.[1] ?? '');
  expect(await world.view(next)).toMatchObject({
    replaces: id,
    workflow: 'pay',
    input: { orderId: 'o-1', amount: 50 },
  });
});

it('says why not: of one that belongs to another, of one that is under way', async () => {
  const { page } = await openPage(browser, world.server, `#/executions/${id}.part.0`);
  await page.getByText('No command is possible now: reasons').click();
  await page.getByText(`it belongs to step 'part' of execution ${id}, and is started by that one`).waitFor();
  const { id: other } = await world.begin({ orderId: 'o-2', amount: 50 });
  await page.goto(`${world.server.url}#/executions/${other}`);
  await page.getByText('Not possible now: reasons').click();
  await page.locator('.impossible dt', { hasText: 'Start again' }).waitFor();
});
