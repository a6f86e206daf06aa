/** Erasing an ended execution, after a confirmation. */

import type { Browser, Page } from 'playwright-core';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { anAgent, anyObject } from '../engine/harness.ts';
import { closePages, expectAccessible, expectFits, openPage, startBrowser } from './browser.ts';
import { memoryPage } from './memory-world.ts';
import { type StagePage, stagePage } from './stage-page.ts';

let browser: Browser;
let place: StagePage;
beforeAll(async () => {
  browser = await startBrowser();
  place = await stagePage();
});
afterAll(async () => {
  await place?.close();
  await browser?.close();
});
afterEach(closePages);

const ORDER = {
  email: 'ada@example.com',
  address: '1 Main Street',
  items: [{ sku: 'tea', quantity: 2 }],
  total: 4_200,
};

const ACTING = {
  error: { code: 'not-erasable', message: 'an attempt may still be acting: try again after 14:05' },
};

const eraseIn = (page: Page, name: string) =>
  page.getByRole(name === 'Erase' ? 'dialog' : 'main').getByRole('button', { name, exact: true });

async function started(page: Page, orderId: string): Promise<void> {
  await page.getByRole('button', { name: 'Write input as JSON' }).click();
  await page.getByLabel('Input, as JSON').fill(JSON.stringify({ ...ORDER, orderId }));
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByText('What happens next').waitFor();
}

it.each([1440, 390])('is offered once it is over, asks, and leads to the list: %i px', async (width) => {
  await place.behave({ service: 'payment', mode: 'slow', ms: 3_000, times: 1 });
  const at = '#/workflows/order-fulfilment?start=1';
  const { page } = await openPage(browser, place.server, at, { width });
  await started(page, `erase-${width}`);
  expect(await eraseIn(page, 'Erase …').count()).toBe(0);
  await eraseIn(page, 'Erase …').click();
  await page.getByRole('dialog').getByText('This cannot be taken back').waitFor();
  await expectAccessible(page);
  await expectFits(page);
  // Until then a claim of its last step may still be written.
  await page.waitForTimeout(61_000);
  await eraseIn(page, 'Erase').click();
  await page.getByRole('status').getByText('is erased').waitFor();
  await expectAccessible(page);
  await expectFits(page);
  const id = new URL(page.url()).hash.split('/').at(-1)?.split('?')[0] ?? '';
  await page.getByRole('link', { name: 'To the list of executions' }).click();
  await page.getByRole('heading', { name: 'Executions' }).first().waitFor();
  expect((await page.content()).includes(id)).toBe(false);
});

describe('what cannot be erased', () => {
  it('is not offered while it is open', async () => {
    const world = await memoryPage();
    const { page } = await openPage(browser, world.server, `#/executions/${await world.begunOne()}`);
    await page.getByRole('button', { name: 'Cancel, undo nothing' }).waitFor();
    expect(await eraseIn(page, 'Erase …').count()).toBe(0);
    await world.server.close();
  });

  it('is refused in the dialog, which says why, and stays on the page', async () => {
    const pay = workflow('pay', { input: anyObject, within: '1h' }, (w) => {
      w.step('charge', anAgent('bank', { undo: 'none' }), {});
    }) as unknown as Workflow;
    const world = await memoryPage(pay, { bank: { execute: async () => ({}) } });
    const { id } = await world.begin({});
    await world.run(id);
    const { page } = await openPage(browser, world.server, `#/executions/${id}`);
    await page.route('**/erase', (route) =>
      route.fulfill({ status: 409, contentType: 'application/json', body: JSON.stringify(ACTING) }),
    );
    await eraseIn(page, 'Erase …').click();
    await eraseIn(page, 'Erase').click();
    await page.getByRole('alert').getByText('try again after').waitFor();
    await page.getByRole('button', { name: 'Leave it' }).click();
    await page.locator('.head h1 .status', { hasText: 'succeeded' }).waitFor();
    await world.server.close();
  });
});
