/** While the API fails, each view gives advice; when it recovers, the view continues by itself. */

import type { Browser, Page } from 'playwright-core';
import { closePages, expectAccessible, openPage, startBrowser } from './browser.ts';
import { memoryPage, type MemoryPage } from './memory-world.ts';

let browser: Browser;
let world: MemoryPage;

beforeAll(async () => {
  browser = await startBrowser();
  world = await memoryPage();
  await world.begunOne();
});
afterAll(async () => {
  await browser?.close();
  await world?.server.close();
});
beforeEach(() => world.server.calm());
afterEach(closePages);

const todo = (page: Page) => page.getByText('The page reads it again in a moment.');

it.each([
  ['the overview', '', 'Supervisors'],
  ['the list of executions', '#/executions', 'these are all'],
  ['the workflows', '#/workflows', 'plan'],
  ['one workflow', '#/workflows/everything', 'step by step'],
])('%s has no answer, says what to do, and goes on when there is one', async (_, place, text) => {
  world.server.weather.status = 503;
  const { page } = await openPage(browser, world.server, place);
  const problems = page.getByRole('alert').filter({ has: todo(page) });
  await problems.first().waitFor();
  expect(await problems.first().innerText()).toMatch(/^unavailable: /);
  await problems.first().getByRole('button', { name: 'Try again now' }).waitFor();
  await page.getByText('not connected').waitFor();
  expect(await page.getByText(text).count()).toBe(0);
  await expectAccessible(page);
  world.server.weather.status = 0;
  await page.getByText(text).first().waitFor();
  await page.getByText('● live').waitFor();
  expect(await todo(page).count()).toBe(0);
});

it.each([
  ['the overview', '', 'Supervisors'],
  ['the list of executions', '#/executions', 'these are all'],
  ['one workflow', '#/workflows/everything', 'step by step'],
])('%s keeps what it has shown when no more answers come, and says so', async (_, place, text) => {
  const { page } = await openPage(browser, world.server, place);
  await page.getByText(text).first().waitFor();
  world.server.weather.status = 503;
  await page.getByText('This is out of date').first().waitFor();
  await todo(page).first().waitFor();
  expect(await page.getByText(text).count()).toBe(1);
  world.server.weather.status = 0;
  await page.getByText('This is out of date').first().waitFor({ state: 'detached' });
  await page.getByText('● live').waitFor();
});

it('the inbox by an address of another list says how it begins again', async () => {
  const { page } = await openPage(browser, world.server, '#/people?cursor=none');
  await page.getByText('bad-cursor').waitFor();
  await page.getByText('Open the view again').waitFor();
  await page.getByText('● live').waitFor();
  await page.getByRole('navigation', { name: 'Views' }).getByText('People').click();
  await page.getByRole('article', { name: 'approval release' }).waitFor();
});

it('is not live while it waits for an answer for long, and is again with one', async () => {
  world.server.weather.delayMs = 7_000;
  const { page } = await openPage(browser, world.server, '');
  await page.getByText(/^… no answer since \d\d:\d\d:\d\d UTC$/).waitFor();
  expect(await page.getByText('● live').count()).toBe(0);
  world.server.weather.delayMs = 0;
  await page.getByText('● live').waitFor();
});
