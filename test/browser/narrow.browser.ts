/**
 * The page of an execution at a width of 360 pixels: no texts overlap, and the explanation comes before the
 * log lines.
 */

import type { Browser, Page } from 'playwright-core';
import { closePages, expectFits, openPage, startBrowser } from './browser.ts';
import { memoryPage, type MemoryPage } from './memory-world.ts';

let browser: Browser;
let world: MemoryPage;
let page: Page;
let id: string;
beforeAll(async () => {
  browser = await startBrowser();
  world = await memoryPage();
  id = await world.begunOne();
});
beforeEach(async () => {
  ({ page } = await openPage(browser, world.server, `#/executions/${id}`, { width: 360, height: 740 }));
  await page.getByText('What happens next').waitFor();
});
afterEach(closePages);
afterAll(async () => {
  await browser?.close();
  await world?.server.close();
});

interface Edges {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly height: number;
}

const edgesOf = (selector: string): Promise<readonly Edges[]> =>
  page.locator(selector).evaluateAll((found) =>
    found
      .map((one) => one.getBoundingClientRect())
      .filter(({ width }) => width > 0)
      .map(({ left, right, top, height }) => ({ left, right, top, height })),
  );

it('the times of the timeline stand beside one another', async () => {
  const times = await edgesOf('.timeline .axis text');
  expect(times.length).toBeGreaterThan(1);
  for (const [at, { left }] of times.entries())
    if (at > 0) expect(left).toBeGreaterThan(times[at - 1]?.right ?? 0);
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(await edgesOf('.timeline .axis text')).toHaveLength(5);
});

it('what copies is one word in one line', async () => {
  const [own] = await edgesOf('.head button.copy');
  const [line] = await edgesOf('.head code');
  expect(own?.height).toBeLessThan(1.5 * (line?.height ?? 0));
  await expectFits(page);
});

it('why comes before the log lines, and beside all of it where there is room', async () => {
  const tops = async (): Promise<readonly number[]> =>
    (await Promise.all(['#payloads', '#why', '#logs'].map(edgesOf))).map(([one]) => one?.top ?? 0);
  const narrow = await tops();
  expect(narrow).toEqual(narrow.toSorted((one, other) => one - other));
  await page.setViewportSize({ width: 1280, height: 800 });
  const [payloads = 0, why = 0, logs = 0] = await tops();
  expect(why).toBeLessThan(payloads);
  expect(payloads).toBeLessThan(logs);
});

it('no text of the graph runs over the edge of its box', async () => {
  await page.locator('.graph .line2', { hasText: '3 of 3' }).waitFor();
  const over = await page.locator('.graph .box > a:not(.open)').evaluateAll((boxes) =>
    boxes.flatMap((box) => {
      const edge = box.querySelector('.frame')?.getBoundingClientRect().right ?? 0;
      return [...box.querySelectorAll('text')]
        .filter((text) => text.getBoundingClientRect().right > edge - 4)
        .map((text) => text.textContent);
    }),
  );
  expect(over).toEqual([]);
});
