/** The overview: pausing workflows and agents, what it says about agents, hostile text in the reasons. */

import type { Browser, Page } from 'playwright-core';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { anAgent, anyObject } from '../engine/harness.ts';
import { closePages, expectAccessible, expectFits, openPage, startBrowser } from './browser.ts';
import { HOSTILE, memoryPage, type MemoryPage, NOT_DEPLOYED } from './memory-world.ts';
import { meetMissing } from './on-call-world.ts';

let browser: Browser;
let world: MemoryPage;

beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  world = await memoryPage();
});
afterEach(async () => {
  await closePages();
  await world.server.close();
});

const confirm = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
};
const rowOf = (page: Page, table: string, name: string) =>
  page.getByRole('group', { name: table }).getByRole('row', { name: new RegExp(`^${name}`) });

it('an agent whose breaker is open is tried now, and what follows is said in its row', async () => {
  const now = world.clock.now();
  const open = { version: 1, writeId: 'w', score: 8, cooldowns: 5, failedAt: now, openedAt: now - 60_000 };
  const failure = { code: 'TransientError', message: '503' };
  await world.breakers.write({ agent: 'works', ...open, openUntil: now + 100_000, failure });
  const { page } = await openPage(browser, world.server, '');
  await page.getByRole('button', { name: 'Try now: works' }).click();
  await expectAccessible(page);
  await confirm(page, 'Try now');
  await page
    .getByRole('status')
    .getByText(/^Nothing waits for it: the next step that needs it is the trial$/)
    .waitFor();
  expect(await world.breakers.read('works')).toMatchObject({ version: 2 });
  await rowOf(page, 'Agents that hold up executions', 'works').getByText('half-open').waitFor();
  await expectAccessible(page);
  await expectFits(page);
});

describe('a workflow', () => {
  it('whose processes die is said above, and in its row', async () => {
    const at = world.clock.now();
    const swept = { shard: 0, version: 1, writeId: 'w', sweptAt: at, due: 1, failed: 0, oldestOverdueMs: 0 };
    const lost = { works: { attempts: 4, since: at - 60_000, at } };
    await world.receipts.write({ ...swept, lost });
    const { page } = await openPage(browser, world.server, '');
    const said = /^4 attempts of agent 'works' ended without a report since/;
    await page.getByRole('alert').getByText(said).waitFor();
    await rowOf(page, 'Agents', 'works')
      .getByText(/^4 attempts since .* died or went silent/)
      .waitFor();
    await expectAccessible(page);
    await expectFits(page);
  });

  it('is paused with a reason, shows by whom and since when, and is resumed; what was born paused is a list', async () => {
    const { page } = await openPage(browser, world.server, '');
    await page.getByRole('button', { name: 'Pause the starts of everything' }).click();
    await page.getByLabel('Reason').fill(HOSTILE);
    await page.getByLabel('Limit for each').fill('long');
    await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText('bad-duration').waitFor();
    await page.getByLabel('Limit for each').fill('2h');
    await confirm(page, 'Pause');
    const row = rowOf(page, 'Workflows', 'everything');
    await row.getByText('by local:ann').waitFor();
    expect(await row.innerText()).toContain('<img src=x onerror=');
    await expectAccessible(page);
    world.clock.advanceTo(world.clock.now() + 60_000);
    await world.post('/workflows/everything/executions', { input: { list: [] } });
    await page.reload();
    await row.getByRole('link', { name: '1 paused, everything' }).click();
    await page.getByText('1 read, and these are all').waitFor();
    await page.goto(`${world.server.url}#/workflows/everything`);
    await page.getByRole('status').getByText('by local:ann').waitFor();
    await page.getByRole('button', { name: 'Resume the starts of everything' }).click();
    await page.getByText('Those that started paused stay paused').waitFor();
    await confirm(page, 'Resume');
    await page.getByText('Last paused').waitFor();
  });
});

describe('an agent', () => {
  it('leads to what waits for it, and to what its latest failure has ended', async () => {
    await world.begin({ list: [] });
    const failure = { code: 'declined', message: 'no', at: world.clock.now() };
    const about = { agent: 'works', version: 1, writeId: 'w', failure };
    await world.breakers.write({
      ...about,
      score: 0,
      failedAt: world.clock.now(),
      cooldowns: 0,
    });
    const { page } = await openPage(browser, world.server, '');
    await page.getByRole('link', { name: 'Executions that ended with declined' }).click();
    await page.getByText('No execution matches').waitFor();
    await page.goBack();
    await page
      .getByRole('link', { name: /^\d+ messages for works: see the open executions of everything$/ })
      .click();
    await page.getByText('1 read, and these are all').waitFor();
  });

  it('is paused with a reason, shows by whom and since when, and is resumed', async () => {
    const { page } = await openPage(browser, world.server, '');
    await page.getByRole('button', { name: 'Pause the calls of works' }).click();
    await page.getByLabel('Reason').fill('its service is repaired');
    await confirm(page, 'Pause');
    const row = rowOf(page, 'Agents', 'works');
    await row.getByText('by local:ann: its service is repaired').waitFor();
    await page.getByRole('button', { name: 'Resume the calls of works' }).click();
    await confirm(page, 'Resume');
    await row.getByText('closed').waitFor();
  });

  it('that is not deployed is described in a sentence', async () => {
    const wraps = workflow('wraps', { input: anyObject, within: '1h' }, (w) => {
      w.step('wrap', anAgent(NOT_DEPLOYED), {});
    }) as unknown as Workflow;
    const gift = await memoryPage(wraps, {});
    const said = async (sentence: RegExp): Promise<void> => {
      const { page } = await openPage(browser, gift.server, '');
      const alert = page.getByRole('alert').filter({ hasText: 'gift-wrap is not deployed' });
      await alert.waitFor();
      expect(await alert.innerText()).toMatch(sentence);
    };
    await gift.begin({});
    await said(/^gift-wrap is not deployed: 1 open execution may need it\.$/);
    await gift.begin({});
    await meetMissing(gift, 600_000);
    await said(
      /^gift-wrap is not deployed: about 2 executions wait for it, the first since [\w ]+ ago; 2 open executions may need it\.$/,
    );
    await closePages();
    await gift.server.close();
  });
});
