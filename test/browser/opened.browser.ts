/** Opening child executions in the parent's graph: at any depth, one of several, by keyboard. */

import type { Browser, Locator, Page } from 'playwright-core';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { ITEMS_PER_CHILD } from '../../lib/core/waiting/map.ts';
import { anAgent, anyObject } from '../engine/harness.ts';
import { closePages, expectAccessible, expectFits, openPage, startBrowser } from './browser.ts';
import { memoryPage, type MemoryPage } from './memory-world.ts';

const works = anAgent('works');
const batch = workflow('batch', { input: anyObject, within: '1h' }, (w) => {
  w.map('hosts', works, w.input['hosts'] as never, (host: unknown) => ({ host }) as never, {});
});
const rollout = workflow('rollout', { input: anyObject, within: '1h' }, (w) => {
  const first = w.child('batch-1', batch as unknown as Workflow, { hosts: w.input['hosts'] } as never);
  w.step('told', works, {}, { after: [first] });
}) as unknown as Workflow;

let browser: Browser;
let world: MemoryPage;
let id: string;
let hosts: readonly string[];
beforeAll(async () => {
  browser = await startBrowser();
  world = await memoryPage(rollout, { works: { execute: async () => ({}), undo: async () => undefined } });
  ({ id } = await world.begin({ hosts: Array.from({ length: 2 * ITEMS_PER_CHILD + 1 }, (_, at) => at) }));
  await world.run(id);
  hosts = (await world.view(`${id}.batch-1.0`)).steps[0]?.children?.executionIds ?? [];
});
afterAll(async () => {
  await browser?.close();
  await world?.server.close();
});
afterEach(closePages);

const sign = (page: Page, name: string): Locator => page.getByRole('link', { name, exact: true });
const isDrawn = (page: Page, boxes: number): Promise<unknown> =>
  page.waitForFunction((wanted) => document.querySelectorAll('.graph g.box').length === wanted, boxes);
const press = async (page: Page, name: string): Promise<void> => {
  await sign(page, name).focus();
  await page.keyboard.press('Enter');
};
const openIn = (page: Page): readonly string[] =>
  (new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get('open') ?? '').split(',').filter(Boolean);

it('are opened inside of one that is opened, and are closed with it', async () => {
  expect(hosts).toHaveLength(3);
  const { page } = await openPage(browser, world.server, `#/executions/${id}`);
  await isDrawn(page, 2);
  await press(page, 'Open the execution of batch-1');
  await isDrawn(page, 3);
  await press(page, 'Open the execution of hosts');
  await isDrawn(page, 3 + ITEMS_PER_CHILD);
  expect(openIn(page)).toEqual([`${id}.batch-1.0`, hosts[0]]);
  await expectAccessible(page);
  await page.reload();
  await isDrawn(page, 3 + ITEMS_PER_CHILD);
  await press(page, 'Close the execution of batch-1');
  await isDrawn(page, 2);
  expect(openIn(page)).toEqual([]);
});

it('are opened one after another where a step has several; the focus stays', async () => {
  const { page } = await openPage(browser, world.server, `#/executions/${id}?open=${id}.batch-1.0`, {
    width: 360,
  });
  await press(page, 'Open the execution of hosts');
  await page.locator('.graph .among', { hasText: '1/3' }).waitFor();
  await sign(page, 'Open the next execution of hosts').focus();
  for (const at of ['2/3', '3/3']) {
    await page.keyboard.press('Enter');
    await page.locator('.graph .among', { hasText: at }).waitFor();
  }
  await page.keyboard.press('Enter');
  expect(openIn(page)).toEqual([`${id}.batch-1.0`, hosts[2]]);
  await isDrawn(page, 4);
  await press(page, 'Open the previous execution of hosts');
  await page.locator('.graph .among', { hasText: '2/3' }).waitFor();
  await expectAccessible(page);
  await expectFits(page);
});

it('are opened from the list of a step, each; what was opened in another is closed', async () => {
  const { page } = await openPage(browser, world.server, `#/executions/${id}.batch-1.0?step=hosts`);
  await press(page, `Open ${hosts[1]} in the graph`);
  await page.locator('.graph .among', { hasText: '2/3' }).waitFor();
  await press(page, `Open ${hosts[2]} in the graph`);
  await page.locator('.graph .among', { hasText: '3/3' }).waitFor();
  expect(openIn(page)).toEqual([hosts[2]]);
  await page.getByRole('heading', { name: 'Step hosts' }).waitFor();
});

it('that there are not leave the page as it is, and are said', async () => {
  const { page } = await openPage(browser, world.server, `#/executions/${id}?open=none`);
  await page.getByText('unknown-execution').waitFor();
  await isDrawn(page, 2);
});
