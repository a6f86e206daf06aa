/**
 * Two people on one laptop: each tab has its own person, so the second can give an approval that the first
 * may not give.
 */

import type { Browser, Page } from 'playwright-core';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { anyObject } from '../engine/harness.ts';
import { closePages, expectAccessible, expectFits, openPage, startBrowser } from './browser.ts';
import { memoryPage, type MemoryPage } from './memory-world.ts';

const flow = workflow('flow', { input: anyObject, within: '3h' }, (w) => {
  w.approval('ok', { within: '1h', by: 'another' });
}) as unknown as Workflow;

let browser: Browser;
let world: MemoryPage;
beforeAll(async () => {
  browser = await startBrowser();
  world = await memoryPage(flow, {});
});
beforeEach(() => world.server.calm());
afterAll(async () => {
  await browser?.close();
  await world?.server.close();
});
afterEach(closePages);

const field = (page: Page) => page.locator('header').getByLabel('as', { exact: true });

it('one starts, and is refused as the other person; the other one is taken', async () => {
  const { page } = await openPage(browser, world.server, '#/workflows/flow?start=1', { width: 360 });
  await expectFits(page);
  await field(page).fill('bob');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.locator('.head', { hasText: 'by local:bob' }).waitFor();
  const id = /executions\/([^?]+)/.exec(page.url())?.[1] ?? '';
  await world.run(id, { until: ({ questions = {} }) => questions['ok'] !== undefined });
  await page.goto(`${world.server.url}#/people`);
  await page.reload();
  expect(await field(page).inputValue()).toBe('bob');
  await page.getByRole('button', { name: 'Approve' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await dialog.getByText('takes only the answer of another person').waitFor();
  await expectAccessible(page);
  await expectFits(page);
  await dialog.getByLabel('you can act as another person').fill('eve');
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await field(page).inputValue()).toBe('eve');
  expect((await world.view(id)).steps[0]?.by).toEqual({ kind: 'local', name: 'eve' });
});

it('what cannot be in a name is not taken, and another tab begins with nobody', async () => {
  const { page } = await openPage(browser, world.server, '');
  await field(page).pressSequentially('an n/ä+x');
  expect(await field(page).inputValue()).toBe('ann+x');
  await field(page).fill('x'.repeat(70));
  expect(await field(page).inputValue()).toHaveLength(64);
  const other = await openPage(browser, world.server, '');
  expect(await field(other.page).inputValue()).toBe('');
});

it('for a deployment, and if nothing can be changed, the page asks for no name', async () => {
  for (const settings of [
    { deployment: 'prod', readOnly: false, local: false },
    { deployment: 'dev', readOnly: true, local: true },
  ]) {
    world.server.weather.settings = settings;
    const { page } = await openPage(browser, world.server, '');
    await page.getByText('● live').waitFor();
    expect(await field(page).count()).toBe(0);
  }
});
