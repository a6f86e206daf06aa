/**
 * While nothing changes, the page reads at growing intervals up to 30 s, even if the API's clock is wrong.
 */

import type { Browser } from 'playwright-core';
import { Writes } from '../../cli/console/writes.ts';
import { closePages, openPage, startBrowser } from './browser.ts';
import { memoryPage, type MemoryPage } from './memory-world.ts';

let browser: Browser;
let world: MemoryPage;
let id: string;
beforeAll(async () => {
  browser = await startBrowser();
  world = await memoryPage();
  id = await world.begunOne();
});
afterAll(async () => {
  await browser?.close();
  await world?.server.close();
});
afterEach(async () => {
  await closePages();
  world.server.calm();
});

const MINUTES_MS = 120_000;
/**
 * After 3, 4.5, 6.8, 10, 15, 23, 30 s, and then every 30 s: seven reads in two minutes; every 3 s would be
 * forty.
 */
const MOST = 8;

it.each([
  ['the overview', () => '#/', () => 'GET /overview'],
  ['the inbox', () => '#/people', () => 'GET /incidents'],
  ['an execution that waits', () => `#/executions/${id}`, () => `GET /executions/${id}`],
  ['why it is where it is', () => `#/executions/${id}`, () => `GET /executions/${id}/why`],
  ['the latest executions of a workflow', () => '#/workflows/everything', () => 'GET /executions'],
  ['a list', () => '#/executions', () => 'GET /executions'],
])('of %s', async (_, place, call) => {
  const { server } = world;
  server.weather.turned = true;
  const { page } = await openPage(browser, server, '#/nowhere');
  await page.clock.install();
  await page.goto(`${server.url}${place()}`);
  const wanted = call();
  // The page asks which plans are under way besides the latest.
  const count = (): number =>
    server.asked.filter(
      (one) => (one === wanted || one.startsWith(`${wanted}?`)) && !one.includes('status=open'),
    ).length;
  const before = count();
  for (let ms = 0; ms < MINUTES_MS; ms += 1_500) {
    await page.clock.runFor(1_500);
    // Waits for the requested data before time goes on.
    await page.waitForLoadState('networkidle');
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
  }
  expect(count() - before).toBeGreaterThan(3);
  expect(count() - before).toBeLessThanOrEqual(MOST);
});

it('what is read for longer than the time between two writes is shown all the same', async () => {
  const writes = new Writes();
  const busy = await memoryPage(undefined, undefined, { writes });
  await busy.begunOne();
  busy.server.weather.delayMs = 400;
  const writing = setInterval(writes.add, 100);
  try {
    const { page } = await openPage(browser, busy.server, '#/workflows/everything');
    await page.getByRole('group', { name: 'Executions by step' }).waitFor();
  } finally {
    clearInterval(writing);
    await closePages();
    await busy.server.close();
  }
});
