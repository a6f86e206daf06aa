/**
 * Using the list of executions by keyboard: a key acts on the marked row, even after rows moved or left the
 * window.
 */

import type { Browser, Locator, Page } from 'playwright-core';
import { closePages, openPage, startBrowser } from './browser.ts';
import { memoryPage, type MemoryPage } from './memory-world.ts';

let browser: Browser;
let world: MemoryPage;

beforeAll(async () => {
  browser = await startBrowser();
  world = await memoryPage();
  for (let at = 0; at < 90; at += 1) await begun();
});
afterAll(async () => {
  await browser?.close();
  await world?.server.close();
});
afterEach(closePages);

/** Starts an execution that stays in its first state, because its messages are not delivered. */
async function begun(): Promise<string> {
  world.clock.advanceTo(world.clock.now() + 1);
  const { id } = await world.begin({ list: [] });
  world.sent.splice(0);
  return id;
}
const opened = async (): Promise<Page> => {
  const { page } = await openPage(browser, world.server, '#/executions');
  await page.getByText(/^\d+ read/).waitFor();
  return page;
};
const pressed = async (page: Page, ...keys: readonly string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
};
const list = (page: Page): Locator => page.getByRole('group', { name: 'Executions' });
const marked = (page: Page): Locator => list(page).locator('tr.active a');
const isSelected = (page: Page, id: string): Promise<boolean> => page.getByLabel(`Select ${id}`).isChecked();
/** The execution whose row has the focus, or 'the list' if the box has it. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const { activeElement } = document;
    if (activeElement?.matches('.list') === true) return 'the list';
    return activeElement?.closest('tr')?.querySelector('a')?.textContent ?? activeElement?.nodeName ?? '';
  });
/** Scrolls as with a wheel. */
const scrolled = async (page: Page, by: number): Promise<void> => {
  await list(page).hover();
  await page.mouse.wheel(0, by);
  await page.waitForFunction((top) => (document.querySelector('.list')?.scrollTop ?? 0) >= top, by);
};
/** Makes the page read the list, as when it becomes visible. */
const readAgain = (page: Page): Promise<void> =>
  page.evaluate(() => void document.dispatchEvent(new Event('visibilitychange')));

it('a start above moves the rows, and the keys still hit the one that is marked', async () => {
  const page = await opened();
  await list(page).focus();
  await pressed(page, 'j', 'j', 'j');
  const id = await marked(page).innerText();
  const other = await begun();
  await readAgain(page);
  await list(page).getByRole('link', { name: other }).waitFor();
  expect([await marked(page).innerText(), await focused(page)]).toEqual([id, id]);
  await pressed(page, 'x');
  await page.getByText('1 selected').waitFor();
  expect(await isSelected(page, id)).toBe(true);
  await pressed(page, 'Enter');
  await page.getByText('What happens next').waitFor();
  expect(page.url()).toContain(id);
});

it('a marked row that is scrolled out of the window leaves the focus to the list, and a key brings it back', async () => {
  const page = await opened();
  await list(page).focus();
  await pressed(page, 'j', 'j', 'j');
  const id = await marked(page).innerText();
  await scrolled(page, 1_500);
  await marked(page).waitFor({ state: 'detached' });
  expect(await focused(page)).toBe('the list');
  // Opens nothing: no visible row is marked.
  await pressed(page, 'Enter');
  expect(page.url()).toMatch(/#\/executions$/);
  await pressed(page, 'x');
  await marked(page).waitFor();
  await page.getByText('1 selected').waitFor();
  expect([await isSelected(page, id), await focused(page)]).toEqual([true, id]);
  await scrolled(page, 1_500);
  await marked(page).waitFor({ state: 'detached' });
  await list(page).evaluate((box) => box.scrollTo(0, 0));
  await marked(page).waitFor();
  expect([await marked(page).innerText(), await focused(page)]).toEqual([id, id]);
});

it('a row whose box is focused is the one that is marked', async () => {
  const page = await opened();
  await list(page).focus();
  await pressed(page, 'j');
  const id = await list(page).getByRole('link').nth(4).innerText();
  await page.getByLabel(`Select ${id}`).focus();
  await pressed(page, 'x');
  await page.getByText('1 selected').waitFor();
  expect([await isSelected(page, id), await marked(page).innerText()]).toEqual([true, id]);
  // The focus does not move to the link beside it.
  expect(await page.evaluate(() => document.activeElement?.nodeName)).toBe('INPUT');
});

it('no key selects anything where no row is marked', async () => {
  const page = await opened();
  await list(page).focus();
  await pressed(page, 'x', 'j', 'x');
  await page.getByText('1 selected').waitFor();
});

it('who writes into a filter keeps the focus while the list is scrolled', async () => {
  const page = await opened();
  await list(page).focus();
  await pressed(page, 'PageDown');
  await page.getByLabel('Tag').focus();
  await scrolled(page, 500);
  await list(page).locator('tr.space').first().waitFor();
  expect(await focused(page)).toBe('INPUT');
});

it('heads sort what was read, by the largest first, the smallest, and then as it was', async () => {
  const page = await opened();
  const first = (): Promise<string | null> =>
    list(page).locator('tbody tr[data-id]').first().getAttribute('data-id');
  const latest = await first();
  const head = page.getByRole('columnheader', { name: /^Started/ });
  await head.getByRole('button').click();
  expect([await head.getAttribute('aria-sort'), await first()]).toEqual(['descending', latest]);
  await head.getByRole('button').click();
  expect(await head.getAttribute('aria-sort')).toBe('ascending');
  expect(await first()).not.toBe(latest);
  await head.getByRole('button').click();
  expect([await head.getAttribute('aria-sort'), await first()]).toEqual(['none', latest]);
});
