/** Each question of docs/ON-CALL.md is answered by the clicks that the page lists, and by no more. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { localLogs } from '../../cli/console/logs.ts';
import { closePages, openPage, startBrowser } from './browser.ts';
import { meetMissing, onCallPage } from './on-call-world.ts';
import type { PageServer } from './page-server.ts';
import { stagePage } from './stage-page.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'ON-CALL.md'), 'utf8');
const clicksIn = (question: number): number =>
  Number(new RegExp(`^\\| ${question} \\|.*\\| (\\d) \\| [^|]*\\|$`, 'm').exec(DOCUMENT)?.[1]);

let browser: Browser;
let world: Awaited<ReturnType<typeof onCallPage>>;
let clicks = 0;
beforeAll(async () => {
  browser = await startBrowser();
  world = await onCallPage();
});
afterAll(async () => {
  await browser?.close();
  await world?.server.close();
});
beforeEach(() => {
  clicks = 0;
});
afterEach(async () => {
  const [, question] = /^(\d+) /.exec(expect.getState().currentTestName ?? '') ?? [];
  await closePages();
  expect([question, clicks]).toEqual([question, clicksIn(Number(question))]);
});

const opened = async (place = '', server: PageServer = world.server): Promise<Page> => {
  const { page } = await openPage(browser, server, place);
  await page.locator('h1').first().waitFor();
  return page;
};
const click = async (what: Locator): Promise<void> => {
  clicks += 1;
  await what.click();
};
const link = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('link', { name, exact: true }).first();
const view = (page: Page, name: string): Promise<void> =>
  click(page.getByRole('navigation', { name: 'Views' }).getByText(name));
const filtered = async (page: Page, field: string, text: string): Promise<void> => {
  clicks += 1;
  await page.getByLabel(field).fill(text);
  await page.keyboard.press('Enter');
};
/** Opens an execution by clicking its row in a list. */
const execution = async (id: string): Promise<Page> => {
  const page = await opened('#/executions');
  await click(link(page, id));
  await page.getByText('What happens next').waitFor();
  return page;
};
const confirmed = async (page: Page, name: string): Promise<void> => {
  await click(page.getByRole('dialog').getByRole('button', { name, exact: true }));
  await page.getByRole('dialog').waitFor({ state: 'detached' });
};
const rowOf = (page: Page, table: string, name: string): Locator =>
  page.getByRole('group', { name: table }).getByRole('row', { name: new RegExp(`^${name}`) });

it('1 is it healthy', async () => {
  const page = await opened();
  await page.locator('.health').getByText('degraded').waitFor();
  await page
    .locator('.health')
    .getByText(/^Agent 'mailer' has been failing since .*; nothing waits for it\.$/)
    .waitFor();
});

it('2 which orders failed since nine, by cause', async () => {
  const page = await opened();
  await click(link(page, /ended without success in 24 h$/));
  await filtered(page, 'Since', '09:00');
  const causes = page.getByRole('group', { name: 'Causes of the executions shown so far' });
  await causes.waitFor();
  expect(page.url()).toContain('since=09%3A00');
  await causes.getByText('card-declined: 3').waitFor();
});

it('3 everything with card-declined', async () => {
  const page = await opened();
  await click(link(page, 'card-declined: 3'));
  await page.getByText('3 read, and these are all').waitFor();
  for (const id of world.declined) await link(page, id).waitFor();
});

it('4 where is order 4711', async () => {
  const page = await opened();
  await view(page, 'Executions');
  await filtered(page, 'Tag', 'orderId:4711');
  await page.getByText('1 read, and these are all').waitFor();
  await click(link(page, world.ids['4711']));
  await page.locator('.graph a', { hasText: /^release / }).waitFor();
  expect(await page.locator('.why .next').innerText()).toContain('step release');
});

it('5 what waits for me, until when, what happens if I do nothing', async () => {
  const page = await opened();
  await view(page, 'People');
  const card = page.getByRole('article', { name: 'approval release' }).first();
  await card.getByText(/Without an answer: approve, in \d+ min/).waitFor();
});

it('6 approve it; who approved that one', async () => {
  const page = await opened();
  await view(page, 'People');
  const card = page.getByRole('article').filter({ hasText: world.ids['4714'] });
  await click(card.getByRole('button', { name: 'Approve' }));
  await confirmed(page, 'Approve');
  const { page: its } = await openPage(
    browser,
    world.server,
    `#/executions/${world.ids['4714']}?step=release`,
  );
  await its
    .locator('div', { has: its.locator('dt', { hasText: 'Answered by' }) })
    .getByText('local:ann')
    .first()
    .waitFor();
});

it('7 why is this one slow', async () => {
  const page = await execution(world.ids['4713']);
  const row = page.locator('.timeline [role="img"][aria-label^="ship:"]');
  const words = (await row.getAttribute('aria-label')) ?? '';
  expect(words).toBe('ship: done; attempt 1: unknown (Error), 4 s; probe 1: done, 2 s');
  await page.locator('.timeline .stretch.lost').first().waitFor();
});

it('8 is its outcome known, what proves it', async () => {
  const page = await execution(world.ids['4713']);
  await click(page.locator('.past summary', { hasText: 'probe' }).first());
  await page.locator('.past details[open] dl').waitFor();
  expect(await page.locator('.past details[open]').innerText()).toMatch(/done/);
});

it('9 what happens next, when', async () => {
  const page = await execution(world.ids['4711']);
  const next = page.locator('.why .next');
  expect(await next.innerText()).toMatch(/in \d+ min/);
});

it('10 which agent is dead, since when', async () => {
  const page = await opened();
  const row = rowOf(page, 'Agents', 'mailer');
  await row.getByText('open').waitFor();
  await row.getByText(/since \d+ min .*ago/).waitFor();
  await meetMissing(world, 600_000);
  try {
    const alerts = (await opened()).getByRole('alert').filter({ hasText: 'gift-wrap' });
    await alerts.filter({ hasText: 'gift-wrap is not deployed' }).waitFor();
    const [health, agent] = await alerts.allInnerTexts();
    expect(health).toMatch(
      /^Agent 'gift-wrap' has not been deployed since .* \(\d+ min.*\); 2 executions wait for it; deploy it again: /m,
    );
    const waits = 'about 2 executions wait for it, the first since \\d+ min(?: \\d+ s)? ago';
    expect(agent).toMatch(new RegExp(`^gift-wrap is not deployed: ${waits}\\.$`));
  } finally {
    await meetMissing(world, undefined);
  }
});

it('11 what stands of this failed one', async () => {
  const page = await execution(world.ids['4712']);
  expect(await page.locator('.notice.bad').first().innerText()).toMatch(
    /^It was canceled: canceled ordered twice · /,
  );
  const stands = page.getByRole('region', { name: 'What is still in effect' });
  await stands.getByText('2 in effect').waitFor();
  await stands.getByText('charge', { exact: true }).waitFor();
});

it('12 retry these 143 and not those', async () => {
  const night = await onCallPage(143);
  try {
    const page = await opened('', night.server);
    await click(link(page, 'card-declined: 143'));
    await click(page.getByRole('button', { name: 'Retry …' }));
    await page.getByRole('dialog').getByText('143 executions.').waitFor();
    await confirmed(page, 'Retry');
    const its = await page
      .getByRole('link', { name: 'The execution of this bulk action' })
      .getAttribute('href');
    await night.run(its?.split('/').at(-1) ?? '');
    await page.getByText('retry is done: 143 of 143 processed, 143 applied').waitFor();
    const [first = ''] = night.declined;
    expect((await night.view(first)).status).not.toBe('failed');
    // Canceled and left as it was: this has another cause, so it is not in the group.
    expect((await night.view(night.ids['4712'])).status).toBe('failed');
  } finally {
    await night.server.close();
  }
});

it('13 stop all starts of this workflow', async () => {
  const page = await opened();
  await click(page.getByRole('button', { name: 'Pause the starts of order' }));
  await confirmed(page, 'Pause');
  await rowOf(page, 'Workflows', 'order').getByText('by local:ann').waitFor();
  world.clock.advanceTo(world.clock.now() + 60_000);
  expect((await world.begin({ orderId: '6000' })).status).toBe('paused');
});

it('14 stop calling this service', async () => {
  const page = await opened();
  await click(page.getByRole('button', { name: 'Pause the calls of charge-card' }));
  await confirmed(page, 'Pause');
  await rowOf(page, 'Agents', 'charge-card').getByText('by local:ann').waitFor();
  await world.post('/agents/charge-card/resume', {});
});

it('15 since when a service fails, what it answered last', async () => {
  const page = await opened();
  await rowOf(page, 'Agents', 'mailer').getByText('socket hang up').waitFor();
});

it('16 which attempt used which input and agent', async () => {
  const page = await execution(world.ids['4711']);
  await click(page.locator('.graph a', { hasText: /^charge / }));
  const row = page.getByRole('group', { name: 'Attempts' }).getByRole('row').last();
  expect(await row.innerText()).toMatch(/charge-card[^]*\{"amount":42\}/);
});

it('17 its log lines', async () => {
  const { stage, server, behave, close } = await stagePage(({ logs }) => ({ logs: localLogs(logs) }));
  try {
    await behave({ service: 'payment', mode: 'decline', match: { about: 'night-1' } });
    const id = await stage.startOrder('night-1');
    await stage.ended(id);
    const page = await opened('#/executions', server);
    await click(link(page, id));
    await click(page.getByRole('button', { name: 'Read the log lines' }));
    const lines = page.getByRole('group', { name: 'Log lines, oldest first' }).getByRole('listitem');
    await lines.first().waitFor();
    expect((await lines.allInnerTexts()).join('\n')).toMatch(/charge-card/);
  } finally {
    await close();
  }
});

it('18 which executions run the old plan', async () => {
  await world.begin({ orderId: '7000' });
  const { plan } = await world.view(world.ids.old);
  const page = await opened();
  await click(rowOf(page, 'Workflows', 'order').getByRole('link', { name: plan.slice(0, 8) }));
  await page.getByText('1 read, and these are all').waitFor();
  await link(page, world.ids.old).waitFor();
});

it('19 is the supervisor alive', async () => {
  const page = await opened();
  const part = page.getByRole('region', { name: 'Supervisors' });
  await part.getByText('last sweep that found work').waitFor();
  await part.getByText('oldest overdue').waitFor();
});
