/**
 * An execution's log lines on its page: following, hostile text, no lines, a slow server, a server without
 * permission to read them.
 */

import type { Browser, Page } from 'playwright-core';
import type { ReadLogs } from '../../cli/console/logs.ts';
import { CliError } from '../../cli/io.ts';
import { closePages, expectAccessible, expectFits, openPage, startBrowser } from './browser.ts';
import { HOSTILE, memoryPage, type MemoryPage } from './memory-world.ts';

let browser: Browser;
let world: MemoryPage;
let id: string;
let read: ReadLogs;
beforeAll(async () => {
  browser = await startBrowser();
  world = await memoryPage(undefined, undefined, { logs: (view, wanted) => read(view, wanted) });
  id = await world.begunOne();
});
afterAll(async () => {
  await browser?.close();
  await world?.server.close();
});
afterEach(closePages);

const opened = async (look = {}) => {
  const { page } = await openPage(browser, world.server, `#/executions/${id}`, look);
  await page.getByRole('button', { name: 'Read the log lines' }).click();
  return page;
};

it.each([
  ['light', {}],
  ['dark', { dark: true }],
  ['360 pixels wide', { width: 360 }],
])('are accessible and fit, %s; what is in them is text', async (_, look) => {
  read = async ({ executionId }, { level }) => ({
    isCut: true,
    scannedBytes: 2_500_000,
    lines: ['INFO', 'WARN', 'ERROR'].map((one, at) => ({
      at: world.clock.now() + at,
      level: one,
      source: 'works',
      executionId,
      entry: {
        agent: HOSTILE,
        step: 'first',
        attempt: 1,
        message: `${level} ${HOSTILE}`,
        [HOSTILE]: HOSTILE,
      },
    })),
  });
  const page = await opened(look);
  const lines = page.getByRole('group', { name: 'Log lines, oldest first' });
  await lines.getByText('trace').first().waitFor();
  expect(await lines.innerText()).toContain(HOSTILE.slice(0, 60));
  expect(await page.locator('main img, main script').count()).toBe(0);
  expect(await page.evaluate(() => Reflect.get(window, 'hacked'))).toBe(undefined);
  await page.getByText('CloudWatch Logs has read 2.5 MB').waitFor();
  await expectAccessible(page);
  await expectFits(page);
  await page.getByLabel('Level').selectOption('warn and above');
  await page.keyboard.press('Tab');
  await page.getByRole('button', { name: 'Read them again' }).focus();
  await page.keyboard.press('Enter');
  await lines.getByText('warn').first().waitFor();
});

it('that are not there are said to be none, and why', async () => {
  read = async () => ({ lines: [], isCut: false });
  const page = await opened();
  await page.getByText('a healthy step logs only at level DEBUG').waitFor();
});

it('that take their time leave a word; that may not be read are said, with a way to try again', async () => {
  let answer = (): void => undefined;
  const allowed = new Promise<void>((done) => {
    answer = done;
  });
  read = async () => {
    await allowed;
    throw new CliError('not-allowed', 'not allowed: logs:StartQuery');
  };
  const page = await opened();
  await page.getByText('Reading its log lines').waitFor();
  answer();
  await page.getByText('not-allowed: not allowed: logs:StartQuery').waitFor();
  read = async () => ({ lines: [], isCut: false });
  await page.getByRole('button', { name: 'Try again now' }).click();
  await page.getByText('logs only at level DEBUG').waitFor();
});

describe('that are followed', () => {
  let written: number;
  let reads: number;
  beforeEach(() => {
    written = 60;
    reads = 0;
    const places = new Map<string, number>();
    read = async ({ executionId }, { follow = '' }) => {
      reads += 1;
      const from = places.get(follow);
      places.set(follow, written);
      const lines = Array.from({ length: written - (from ?? 0) }, (_, at) => ({
        at: world.clock.now() + (from ?? 0) + at,
        level: 'INFO',
        source: 'works',
        executionId,
        entry: { agent: 'works', message: `line ${(from ?? 0) + at + 1}.` },
      }));
      return { lines, isCut: false, ...(from === undefined ? {} : { isMore: true }) };
    };
  });
  const box = (page: Page) => page.getByRole('group', { name: 'Log lines, oldest first' });
  const line = (page: Page, number: number) => box(page).getByText(`line ${number}.`, { exact: true });
  const belowEnd = (page: Page): Promise<number> =>
    box(page).evaluate((it) => Math.round(it.scrollHeight - it.clientHeight - it.scrollTop));
  /**
   * Scrolls to the top and waits for the page's scroll event: a smooth scroll by key may not end on a busy
   * machine.
   */
  const toTop = async (page: Page): Promise<void> => {
    await box(page).focus();
    await box(page).evaluate(
      (it) =>
        new Promise<void>((done) => {
          it.addEventListener('scroll', () => done(), { once: true });
          it.scrollTop = 0;
        }),
    );
  };
  const hide = (page: Page, hidden: boolean): Promise<void> =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => value });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);

  it('appear by themselves at the end; a reader who has scrolled up stays there, and sees how many are new', async () => {
    const page = await opened({ height: 600 });
    await line(page, 60).waitFor();
    expect(await belowEnd(page)).toBeLessThan(8);
    written = 70;
    await line(page, 70).waitFor();
    expect(await belowEnd(page)).toBeLessThan(8);
    expect(await box(page).getByRole('listitem').count()).toBe(70);
    await toTop(page);
    written = 75;
    await page.getByRole('button', { name: '5 new lines below' }).waitFor();
    expect(await box(page).evaluate((it) => it.scrollTop)).toBe(0);
    await expectAccessible(page);
    await page.getByRole('button', { name: '5 new lines below' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'new lines below' }).waitFor({ state: 'detached' });
    expect(await belowEnd(page)).toBeLessThan(8);
  });

  it('can be paused and continued without losing any; a page in the background reads nothing', async () => {
    const { page } = await openPage(browser, world.server, '#/people');
    await page.clock.install();
    await page.goto(`${world.server.url}#/executions/${id}`);
    await page.getByRole('button', { name: 'Read the log lines' }).click();
    await line(page, 60).waitFor();
    await page.getByRole('button', { name: 'Pause the lines' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Paused: new lines are not read.').waitFor();
    const paused = reads;
    written = 64;
    await page.clock.runFor(20_000);
    expect(reads).toBe(paused);
    await page.getByRole('button', { name: 'Follow the lines' }).focus();
    await page.keyboard.press('Enter');
    await line(page, 64).waitFor();
    await hide(page, true);
    await page.clock.runFor(2_000);
    const hidden = reads;
    written = 66;
    await page.clock.runFor(20_000);
    expect(reads).toBe(hidden);
    await hide(page, false);
    await line(page, 66).waitFor();
    expect(await box(page).getByRole('listitem').count()).toBe(66);
  });

  it('of a deployment are followed only on request, because each query costs', async () => {
    world.server.weather.settings = { deployment: 'prod', readOnly: true, local: false };
    const page = await opened();
    await line(page, 60).waitFor();
    await page.getByText('Paused: new lines are not read.').waitFor();
    written = 61;
    await page.getByRole('button', { name: 'Follow the lines' }).click();
    await line(page, 61).waitFor();
    world.server.calm();
  });

  it('are read once more when the execution has ended, and no more', async () => {
    const own = await world.begunOne('to be canceled');
    const { page } = await openPage(browser, world.server, `#/executions/${own}`);
    await page.getByRole('button', { name: 'Read the log lines' }).click();
    await line(page, 60).waitFor();
    await world.post(`/executions/${own}/cancel`, { undo: false });
    await world.run(own, { supervised: false });
    await page.getByRole('button', { name: 'Pause the lines' }).waitFor({ state: 'detached' });
    const after = reads;
    written = 99;
    await page.getByRole('button', { name: 'Read them again' }).click();
    await line(page, 99).waitFor();
    expect(reads).toBe(after + 1);
  });
});
