/**
 * The people page shows equal questions as one card, sorts cards by deadline, and gives one answer to all.
 */

import type { Browser, Page } from 'playwright-core';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { anyObject } from '../engine/harness.ts';
import { closePages, openPage, startBrowser } from './browser.ts';
import { memoryPage, type MemoryPage } from './memory-world.ts';

const visas = workflow('visas', { within: '30d', input: anyObject }, (w) => {
  w.approval('visa', { within: '5d', otherwise: 'reject', show: { trip: w.input['trip'] as never } });
}) as unknown as Workflow;

const MANY = 12;
let browser: Browser;
let world: MemoryPage;

beforeAll(async () => {
  browser = await startBrowser();
  world = await memoryPage(visas, {});
  for (let trip = 1; trip <= MANY; trip += 1) {
    world.clock.advanceTo(world.clock.now() + 1_000);
    const { id } = await world.begin({ trip });
    await world.run(id, { until: ({ questions = {} }) => questions['visa'] !== undefined });
  }
});
afterAll(async () => {
  await browser?.close();
  await world?.server.close();
});
afterEach(closePages);

const people = async (): Promise<Page> => (await openPage(browser, world.server, '#/people')).page;

it('is one card with their number and the first deadline, and each below it, the most urgent first', async () => {
  const page = await people();
  const card = page.getByRole('article', { name: '12 × approval visa' });
  await card.getByText(/^Without an answer: reject, the first in 4 d 23 h/).waitFor();
  await page.getByText('12 open, the earliest deadline first.').waitFor();
  expect(await page.locator('section > .inbox > article').count()).toBe(1);
  await card.getByText('Each by itself').click();
  const trips = card.locator('.inbox dd');
  await trips.first().waitFor();
  expect(await trips.allInnerTexts()).toEqual(Array.from({ length: MANY }, (_, at) => String(at + 1)));
});

it('answers all of them once it is confirmed, and says how far that is', async () => {
  const page = await people();
  await page.getByRole('button', { name: 'Approve all …' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Find them' }).click();
  await dialog.getByRole('heading', { name: 'Approve 12 executions?' }).waitFor();
  await dialog.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByText(/^approve is under way: 0 of 12 processed/).waitFor();
});
