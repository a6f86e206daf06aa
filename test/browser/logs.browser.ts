/** Log lines of an execution on its page: hostile text in them, none, a slow server, one that may not read them. */

import type { Browser } from 'playwright-core';
import type { ReadLogs } from '../../lib/cli/console/logs.ts';
import { CliError } from '../../lib/cli/io.ts';
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
  await page.getByRole('button', { name: 'Read its log lines' }).click();
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
  const lines = page.getByRole('group', { name: 'Log lines, in the order of time' });
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
  await page.getByText('what a healthy step does is logged at level DEBUG alone').waitFor();
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
  await page.getByText('logged at level DEBUG alone').waitFor();
});
