/** A step's panel shows accepted work: its token, deadline, progress, and the next probe. */

import type { Browser, Page } from 'playwright-core';
import { accepted, running } from '../../lib/core/plan/answers.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { anAgent, anyObject } from '../engine/harness.ts';
import { closePages, expectAccessible, openPage, startBrowser } from './browser.ts';
import { HOSTILE, memoryPage, type MemoryPage } from './memory-world.ts';

const encode = anAgent('encode', { effect: 'probed', acceptedWithin: '2h' });
const film = workflow('film', { input: anyObject, within: '1d' }, (w) => {
  w.step('encode', encode, {});
}) as unknown as Workflow;

let browser: Browser;
let world: MemoryPage;
let id: string;
beforeAll(async () => {
  browser = await startBrowser();
  world = await memoryPage(film, {
    encode: {
      execute: async () => accepted({ token: HOSTILE, askAfter: '10s' }),
      probe: async () => running({ progress: 0.4, askAfter: '20s' }),
      undo: async () => undefined,
    },
  });
  ({ id } = await world.begin());
  // The service was asked once, and is working on it.
  await world.run(id, { until: ({ steps }) => steps['encode']?.accepted?.progress === 0.4 });
});
afterAll(async () => {
  await browser?.close();
  await world?.server.close();
});
afterEach(closePages);

const factOf = (page: Page, name: string): Promise<string> =>
  page
    .locator('dl.facts > div', { has: page.locator('dt', { hasText: new RegExp(`^${name}$`) }) })
    .locator('dd')
    .innerText();

it('says what its service has said, and nothing of it is obeyed', async () => {
  const { page } = await openPage(browser, world.server, `#/executions/${id}?step=encode`);
  await page.getByRole('heading', { name: 'Step encode' }).waitFor();
  expect(await factOf(page, 'Accepted')).toMatch(/\d/);
  expect(await factOf(page, 'Accepted as')).toContain('<script>');
  expect(await factOf(page, 'Progress of the service')).toBe('0.4');
  expect(await factOf(page, 'Acts until')).toMatch(/\d/);
  expect(await factOf(page, 'Next probe')).toMatch(/\d/);
  expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
  await expectAccessible(page);
});

it('is drawn as what is under way, and shown by a word', async () => {
  const { page } = await openPage(browser, world.server, `#/executions/${id}`);
  await page.locator('.graph g.box', { hasText: 'accepted' }).waitFor();
});
