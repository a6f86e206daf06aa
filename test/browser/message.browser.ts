/**
 * A person sends a message to an execution with its form: it is sent once, and invalid values are shown in
 * the form.
 */

import type { Browser } from 'playwright-core';
import * as z from 'zod/mini';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { anyObject } from '../engine/harness.ts';
import { closePages, expectAccessible, openPage, startBrowser } from './browser.ts';
import { memoryPage, type MemoryPage } from './memory-world.ts';

const order = workflow('order', { input: anyObject, within: '1d' }, (w) => {
  const paid = w.receive('paid', { message: z.object({ amount: z.number() }), within: '2h' });
  w.receive('rated', { message: z.unknown(), within: '2h', after: [paid] });
}) as unknown as Workflow;

let browser: Browser;
let world: MemoryPage;
let id: string;
beforeAll(async () => {
  browser = await startBrowser();
  world = await memoryPage(order, {});
  ({ id } = await world.begin());
});
afterAll(async () => {
  await browser?.close();
  await world?.server.close();
});
afterEach(closePages);

it('is sent from the panel of its step, and taken once', async () => {
  const { page } = await openPage(browser, world.server, `#/executions/${id}?step=paid`);
  await page.getByRole('button', { name: 'Send ‘paid’ …' }).click();
  const dialog = page.getByRole('dialog');
  await expectAccessible(page);
  await dialog.getByLabel('Message, as JSON').fill('{"amount": "x"}');
  await dialog.getByRole('button', { name: 'Send', exact: true }).click();
  await dialog.getByText('bad-message').waitFor();
  await dialog.getByLabel('Message, as JSON').fill('{"amount": 7}');
  await dialog.getByRole('button', { name: 'Send', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Message taken').waitFor();
  expect(await page.getByRole('button', { name: 'Send ‘paid’ …' }).count()).toBe(0);
  const state = await world.state(id);
  expect(state.steps['paid']).toMatchObject({ status: 'done', output: { amount: 7 } });
});
