/**
 * The overview, and the list with ten thousand executions: filters, keys, selecting many, numbers as links.
 */

import type { Browser, Page } from 'playwright-core';
import { closePages, expectAccessible, expectFits, openPage, startBrowser } from './browser.ts';
import { HOSTILE, memoryPage, type MemoryPage } from './memory-world.ts';

const MANY = 10_000;
/** The length of a frame at 30 frames a second. */
const FRAME_MS = 33;

let browser: Browser;
let world: MemoryPage;
let id: string;

beforeAll(async () => {
  browser = await startBrowser();
  world = await memoryPage();
  for (let at = 0; at < MANY; at += 1) await world.begin({ note: `number ${at}`, list: [] }, `key-${at}`);
  // Sent messages are not delivered: the executions stay as they began.
  world.sent.splice(0);
  world.clock.advanceTo(world.clock.now() + 1_000);
  id = await world.begunOne();
});
afterAll(async () => {
  await browser?.close();
  await world?.server.close();
});
beforeEach(() => world.server.calm());
afterEach(closePages);

const rows = (page: Page): Promise<number> => page.locator('.list tbody tr:not(.space)').count();

describe('ten thousand executions', () => {
  it('are read as somebody scrolls, and only those that are seen are drawn', async () => {
    const { page } = await openPage(browser, world.server, '#/executions');
    await page.getByText('100 read, and there are more').waitFor();
    for (let wanted = 200; wanted <= 1_000; wanted += 100) {
      await page.locator('.list').evaluate((list) => list.scrollTo(0, list.scrollHeight));
      await page
        .getByText(new RegExp(`^(?:${wanted.toLocaleString('en')}|\\d+,\\d{3}|[${wanted / 100}-9]00) read`))
        .waitFor();
    }
    expect(await rows(page)).toBeLessThan(80);
  });

  it('scroll without a stutter: a frame of a jump through 3,000 rows is drawn in less than its time', async () => {
    const { page } = await openPage(browser, world.server, '#/executions');
    await page.getByText('100 read').waitFor();
    for (let wanted = 200; wanted <= 3_000; wanted += 100) {
      await page.getByRole('button', { name: 'read more' }).click();
      await page.getByText(`${wanted.toLocaleString('en')} read`).waitFor();
    }
    // Measures processor time, so that a busy machine does not fail it.
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const worked = async (): Promise<number> => {
      const { metrics } = await session.send('Performance.getMetrics');
      return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000;
    };
    const before = await worked();
    const frames = await page.locator('.list').evaluate(async (list) => {
      let count = 0;
      for (let top = 0; top < 95_000; top += 800) {
        list.scrollTop = top;
        await new Promise((next) => requestAnimationFrame(next));
        count += 1;
      }
      return count;
    });
    expect((await worked()) - before).toBeLessThan(frames * FRAME_MS);
    expect(await rows(page)).toBeLessThan(80);
  });

  it('are filtered by what is in the address, and by the fields', async () => {
    const { page } = await openPage(browser, world.server, '#/executions?status=waiting');
    await page.getByText('1 read, and these are all').waitFor();
    await page.getByLabel('Status').selectOption('succeeded');
    await page.getByText('No execution matches').waitFor();
    expect(page.url()).toContain('status=succeeded');
    await page.getByRole('link', { name: 'Show all executions' }).click();
    await page.getByText('100 read').waitFor();
    await page.goBack();
    await page.getByText('No execution matches').waitFor();
  });
});

describe('a list that is opened again', () => {
  it('has what it had, while it is read', async () => {
    const { page } = await openPage(browser, world.server, '#/executions?status=waiting');
    await page.locator('.list').getByRole('link', { name: id }).click();
    await page.getByText('What happens next').waitFor();
    world.server.weather.delayMs = 3_000;
    await page.goBack();
    await page.getByRole('heading', { name: 'Executions' }).waitFor();
    expect(await page.locator('.list').getByRole('link', { name: id }).count()).toBe(1);
    expect(await page.getByText('No execution matches').count()).toBe(0);
  });
});

describe('the last fifty of them', () => {
  it('are a grid that is scrolled by itself, and not with its page', async () => {
    const { page } = await openPage(browser, world.server, '#/workflows/everything', { width: 360 });
    await page.locator('table.grid th.column').nth(30).waitFor();
    await expectFits(page);
  });
});

describe('the filters', () => {
  it('have a tag that workflows search by, which is in the address; one that none has is refused in words', async () => {
    const { page } = await openPage(browser, world.server, '#/executions');
    await page.getByLabel('Tag').fill(`orderId:${HOSTILE}`);
    await page.keyboard.press('Enter');
    await page.getByText('1 read, and these are all').waitFor();
    expect(page.url()).toContain('tag=orderId');
    await page.reload();
    await page.getByText('1 read, and these are all').waitFor();
    expect(await page.getByLabel('Tag').inputValue()).toBe(`orderId:${HOSTILE}`);
    expect(await page.locator('.list').innerText()).toContain('<img src=x onerror=');
    await page.getByLabel('Tag').fill('colour:red');
    await page.keyboard.press('Enter');
    await page.getByText('there are: orderId').waitFor();
  });

  it('take a time of day, and refuse an invalid one', async () => {
    const { page } = await openPage(browser, world.server, '#/executions?since=6h');
    await page.getByText('100 read').waitFor();
    await page.getByLabel('Since').fill('2099-01-01T09:00');
    await page.keyboard.press('Enter');
    await page.getByText('No execution matches').waitFor();
    await page.getByLabel('Since').fill('soon');
    await page.keyboard.press('Enter');
    await page.locator('.field.wrong').getByText('as 24h, 09:00 or').waitFor();
    await page.getByText('Change a filter').waitFor();
    // It has answered.
    await page.getByText('● live').waitFor();
  });
});

describe('the keyboard', () => {
  it('moves through the list, selects, and opens', async () => {
    const { page } = await openPage(browser, world.server, '#/executions');
    await page.locator('.list').focus();
    await page.keyboard.press('j');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor();
    for (let at = 0; at < 60; at += 1) await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByText('2 selected').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('0 selected').waitFor();
    await page.keyboard.press('PageUp');
    await page.keyboard.press('Enter');
    await page.getByText('What happens next').waitFor();
  });
});

describe('the overview', () => {
  it('has numbers that lead to their lists, and says who is waited for', async () => {
    const { page } = await openPage(browser, world.server, '');
    await page.locator('.health').getByText('incident has been open').waitFor();
    await page.locator('.lines').getByText('release').waitFor();
    await page.getByRole('row', { name: /refuses/ }).waitFor();
    for (const [name, address, read] of [
      ['≥ 10,000 open', 'status=open', '100 read'],
      ['3 waiting for people', '#/people', 'What waits for people'],
      ['≥ 10,000 open, everything', 'workflow=everything&status=open', '100 read'],
      ['running: ', 'status=running', '100 read'],
    ] as const) {
      await page.goto(world.server.url);
      await page
        .getByRole('link', { name: new RegExp(`^${name}`) })
        .first()
        .click();
      await page.getByText(read).waitFor();
      expect(page.url()).toContain(address);
    }
  });

  it('asks for all its parts at once, and shows each as it comes', async () => {
    world.server.weather.delayMs = 3_000;
    const before = world.server.asked.length;
    const { page } = await openPage(browser, world.server, '');
    const parts = ['/overview', '/agents', '/incidents', 'status=bad'];
    await page.getByText('Reading the counts').waitFor();
    const asked = world.server.asked.slice(before);
    for (const part of parts) expect(asked.join()).toContain(part);
    // The counts include the pauses.
    expect(asked.join()).not.toContain('/workflows');
    await page.locator('.health').waitFor();
  });

  it('says that no supervisor is at work, in words', async () => {
    world.clock.advanceTo(world.clock.now() + 3_600_000);
    const { page } = await openPage(browser, world.server, '');
    await page.locator('.health').getByText('no supervisor is at work').waitFor();
  });
});

describe('many at once', () => {
  const shows = async (page: Page, words: string): Promise<void> => {
    const its = await page
      .getByRole('link', { name: 'The execution of this bulk action' })
      .getAttribute('href');
    await world.run(its?.split('/').at(-1) ?? '', { supervised: false });
    await page.getByRole('region', { name: 'The bulk action' }).getByText(words).waitFor();
  };
  const agreed = async (page: Page, name: string): Promise<void> => {
    await page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };

  it('asks for confirmation with number and names, then commands each; the page need not stay open', async () => {
    const { page } = await openPage(browser, world.server, '#/executions');
    await page.getByText('100 read').waitFor();
    expect(await page.getByRole('button', { name: 'Cancel …' }).isDisabled()).toBe(true);
    await page.getByLabel('Select all loaded executions').check();
    await page.getByText('100 selected').waitFor();
    await page.getByLabel('Reason').fill(HOSTILE);
    await page.getByRole('button', { name: 'Pause …' }).click();
    await page.getByRole('dialog').getByText('and 90 executions more').waitFor();
    await expectAccessible(page);
    await agreed(page, 'Pause');
    await page.getByText('pause is under way').waitFor();
    const address = page.url();
    await page.close();
    const { page: later } = await openPage(browser, world.server, address.slice(address.indexOf('#')));
    await shows(later, 'pause is done: 100 of 100 processed, 100 applied. By local:ann.');
    expect((await world.view(id)).pauses?.[0]).toMatchObject({ by: { name: 'ann' } });
    expect(await later.locator('main').innerText()).toContain(HOSTILE.slice(0, 60));
    await expectAccessible(later);
    await expectFits(later);
  });

  it('can be all that the filters find; what does not take the command is left out, and said', async () => {
    const { page } = await openPage(browser, world.server, '#/executions?status=paused');
    await page.getByText('100 read').waitFor();
    await page.getByRole('button', { name: 'Retry …' }).click();
    await page
      .getByRole('dialog')
      .getByText('100 executions also match, but retry is not possible for them now')
      .waitFor();
    expect(await page.getByRole('dialog').getByRole('button', { name: 'Retry' }).isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Resume …' }).click();
    await page.getByRole('dialog').getByText('100 executions.').waitFor();
    await agreed(page, 'Resume');
    await shows(page, 'resume is done: 100 of 100 processed, 100 applied.');
    await page.getByText('No execution matches').waitFor();
  });
});
