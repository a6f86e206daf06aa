/**
 * Visible without scrolling, on a laptop and on a phone: an execution's graph and timeline, the list, urgent
 * problems, the inbox.
 */

import type { Browser, Page } from 'playwright-core';
import type { Overview } from '../../lib/api/deployment-answers.ts';
import { closePages, expectAccessible, expectFits, openPage, startBrowser } from './browser.ts';
import { type Group, groupPage } from './group-world.ts';
import type { MemoryPage } from './memory-world.ts';

const LAPTOP = { width: 1_440, height: 900 } as const;
const PHONE = { width: 390, height: 844 } as const;

let browser: Browser;
let world: Group & Pick<MemoryPage, 'server'>;

beforeAll(async () => {
  browser = await startBrowser();
  world = await groupPage();
});
afterAll(async () => {
  await browser?.close();
  await world?.server.close();
});
afterEach(closePages);

interface Area {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** The drawn area of each matching element. */
const areasOf = (page: Page, selector: string): Promise<readonly Area[]> =>
  page.locator(selector).evaluateAll((found) =>
    found
      .map((one) => one.getBoundingClientRect())
      .filter(({ width }) => width > 0)
      .map(({ left, right, top, bottom }) => ({ left, right, top, bottom })),
  );
const areaOf = async (page: Page, selector: string): Promise<Area> => {
  await page.locator(selector).first().waitFor();
  const [area] = await areasOf(page, selector);
  if (area === undefined) throw new Error(`${selector} is not drawn`);
  return area;
};
const within = (inner: Area, outer: Area): boolean =>
  inner.left >= outer.left &&
  inner.right <= outer.right &&
  inner.top >= outer.top &&
  inner.bottom <= outer.bottom;

/** Texts that overflow their box or are cut off. */
const badTexts = (page: Page): Promise<readonly (string | null)[]> =>
  page.locator('.graph .box > a:not(.open)').evaluateAll((boxes) =>
    boxes.flatMap((box) => {
      const frame = box.querySelector('.frame')?.getBoundingClientRect() ?? new DOMRect();
      return [...box.querySelectorAll('text')]
        .filter((text) => {
          const { right, bottom } = text.getBoundingClientRect();
          return right > frame.right - 4 || bottom > frame.bottom || text.textContent.includes('…');
        })
        .map((text) => text.textContent);
    }),
  );

const executionOf = (id: string): string => `#/executions/${id}`;

describe('an execution', () => {
  it.each([LAPTOP, { width: 1_280, height: 800 }])(
    'has its timeline on the first screen: %j',
    async (look) => {
      for (const id of [world.undone, world.stuck[0] ?? '', world.asked[0] ?? '']) {
        const { page } = await openPage(browser, world.server, executionOf(id), look);
        const timeline = await areaOf(page, '.timeline');
        const graph = await areaOf(page, '.graph');
        expect(timeline.top).toBeLessThan(look.height - 100);
        expect(timeline.left >= graph.right || timeline.top >= graph.bottom).toBe(true);
        const [why] = await areasOf(page, '.why');
        expect(timeline.right).toBeLessThanOrEqual(why?.left ?? 0);
      }
    },
  );

  it.each([LAPTOP, PHONE])(
    'has all words of its graph inside of their boxes, and whole: %j',
    async (look) => {
      for (const id of [world.undone, world.booked]) {
        const { page } = await openPage(browser, world.server, executionOf(id), look);
        await page.locator('.graph .line2', { hasText: '3 of 3' }).waitFor();
        expect(await badTexts(page)).toEqual([]);
        await expectFits(page);
      }
    },
  );

  it('shows the items of a list, and that an ended execution did not reach a step', async () => {
    const { page } = await openPage(
      browser,
      world.server,
      `${executionOf(world.undone)}?step=confirm`,
      LAPTOP,
    );
    await page.locator('.graph .line2', { hasText: 'not reached' }).first().waitFor();
    await page.getByRole('heading', { name: 'Step confirm not reached' }).waitFor();
    const text = await page.locator('main').innerText();
    expect(text).toContain('2 not reached: confirm, mail');
    expect(text).toContain('3 of 3 items ended');
    expect(text).not.toMatch(/pending|1 of 1|executions ended/);
  });

  it('has its on-failure steps in a lane of their own, and says since when it is at risk', async () => {
    const { page } = await openPage(browser, world.server, executionOf(world.undone), LAPTOP);
    const lane = await areaOf(page, '.graph .lane rect');
    const boxes = await page.locator('.graph .box').evaluateAll((all) =>
      all.map((box) => {
        const { left, right, top, bottom } =
          box.querySelector('.frame')?.getBoundingClientRect() ?? new DOMRect();
        return { name: box.querySelector('.name')?.textContent?.trim(), area: { left, right, top, bottom } };
      }),
    );
    expect(boxes.filter(({ area }) => within(area, lane)).map(({ name }) => name)).toEqual(['tell']);
    expect(
      boxes.filter(
        ({ area }) =>
          area.top < lane.bottom &&
          area.bottom > lane.top &&
          area.left < lane.right &&
          area.right > lane.left,
      ),
    ).toHaveLength(1);
    await page.goto(`${world.server.url}${executionOf(world.stuck[0] ?? '')}`);
    await page
      .locator('.head')
      .getByText(/at risk since \d\d:\d\d:\d\d UTC/)
      .waitFor();
  });

  it('that there is not leads to the list, and not to another try', async () => {
    const { page } = await openPage(browser, world.server, '#/executions/none', LAPTOP);
    await page.getByText('unknown-execution').waitFor();
    expect(await page.getByRole('button', { name: 'Try again now' }).count()).toBe(0);
    await page.getByRole('link', { name: 'To the list of executions' }).click();
    await page.getByRole('heading', { name: 'Executions' }).waitFor();
  });
});

it('a plan goes from left to right where that fits, and from top to bottom where it does not', async () => {
  const { page } = await openPage(browser, world.server, '#/workflows/group-booking', LAPTOP);
  const isAcross = async (): Promise<boolean> => {
    const [hold, manager] = await areasOf(page, '.graph .box .frame');
    return (hold?.right ?? 0) < (manager?.left ?? 0);
  };
  await areaOf(page, '.graph .box .frame');
  expect(await isAcross()).toBe(true);
  await page.setViewportSize(PHONE);
  await page.waitForFunction(() => (document.querySelector('.graph svg')?.clientWidth ?? 1e4) < innerWidth);
  expect(await isAcross()).toBe(false);
  await expectFits(page);
});

it('every time is in the zone of its reader, which it names', async () => {
  for (const id of [world.undone, world.stuck[0] ?? '', world.asked[0] ?? '']) {
    const { page } = await openPage(browser, world.server, executionOf(id), {
      ...LAPTOP,
      zone: 'Asia/Kolkata',
    });
    await page.getByText('What happens next').waitFor();
    const text = await page.locator('main').innerText();
    expect(text.match(/\d\d:\d\d:\d\d(?! UTC\+5:30\b)\S*/g)).toBe(null);
    expect(text).toContain('UTC+5:30');
  }
});

describe('the list', () => {
  it('shortens ids, which are copied whole, and shows the time of an open execution once', async () => {
    const { page } = await openPage(browser, world.server, '#/executions', LAPTOP);
    const [id = ''] = world.stuck;
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: id }) });
    await row.waitFor();
    const link = row.getByRole('link', { name: id });
    const { width = 0 } = (await link.boundingBox()) ?? {};
    expect(width).toBeLessThan(100);
    expect(await link.locator('code').getAttribute('title')).toBe(id);
    // Ids in the order of time have the same beginning.
    expect(await link.locator('.rest').textContent()).toBe(id.slice(0, -8));
    expect(
      await link.evaluate((one) => {
        getSelection()?.selectAllChildren(one);
        return getSelection()?.toString();
      }),
    ).toBe(id);
    expect(await row.locator('.rest-cell').allInnerTexts()).toEqual(['group-booking', 'confirm', '–']);
    expect(await row.locator('.risk').innerText()).toContain('! at risk: ');
    await expectAccessible(page);
  });

  it('begins on the first screen of a phone: filters and what is done with many are folded, no keys are named', async () => {
    const { page } = await openPage(browser, world.server, '#/executions', PHONE);
    const row = await areaOf(page, '.list tbody tr:not(.space)');
    expect(row.top).toBeLessThan(320);
    expect(row.right).toBeLessThanOrEqual(PHONE.width);
    const whole = await areasOf(page, '.list tbody td:not(.space td)');
    expect(Math.max(...whole.map(({ right }) => right))).toBeLessThanOrEqual(PHONE.width);
    expect(await page.getByText('arrows move').isVisible()).toBe(false);
    expect(await page.getByLabel('Status').isVisible()).toBe(false);
    await expectAccessible(page);
    await page.getByText('Filters', { exact: true }).click();
    await page.getByLabel('Status').selectOption('waiting');
    await page.getByText('Filters: status waiting').waitFor();
    await page.getByText('9 read, and these are all').waitFor();
    await expectFits(page);
  });

  it('says at a laptop which keys there are', async () => {
    const { page } = await openPage(browser, world.server, '#/executions', LAPTOP);
    await page.getByText('x selects, arrows move, Enter opens').waitFor();
    expect(await page.getByLabel('Status').isVisible()).toBe(true);
  });
});

describe('the overview', () => {
  it.each([LAPTOP, PHONE])('has the agent that holds something up before all lists: %j', async (look) => {
    const { page } = await openPage(browser, world.server, '', look);
    await page
      .getByRole('group', { name: 'Agents that hold up executions' })
      .getByText('confirm-booking')
      .waitFor();
    await page.locator('.lines li').nth(1).waitFor();
    const [tiles, trouble, lists, others] = await Promise.all(
      ['.tiles', '#in-trouble', '#waiting', '#agents'].map((one) => areaOf(page, one)),
    );
    const tops = [tiles, trouble, lists, others].map((area) => area?.top ?? 0);
    expect(tops).toEqual(tops.toSorted((one, other) => one - other));
    expect(trouble?.bottom).toBeLessThan(look.height);
    expect((await areaOf(page, '.under-tiles dl')).top).toBeLessThan(trouble?.top ?? 0);
    expect(await page.getByRole('heading', { name: 'Other agents' }).count()).toBe(1);
    await expectFits(page);
  });

  it('has the field for a name whole within the head of a phone', async () => {
    const { page } = await openPage(browser, world.server, '', PHONE);
    const [head, field] = [await areaOf(page, 'header.shell'), await areaOf(page, 'header.shell .as input')];
    expect(field.top - head.top).toBeGreaterThanOrEqual(4);
  });

  it('breaks a cause that is wider than a phone', async () => {
    const { page } = await openPage(browser, world.server, '', PHONE);
    await page.route('**/overview*', async (route) => {
      const overview = (await (await route.fetch()).json()) as Overview;
      const off = { kind: 'schedule-off', address: 'http://127.0.0.1:4510', since: overview.at } as const;
      const findings = [off, ...overview.health.findings];
      await route.fulfill({
        json: { ...overview, health: { ...overview.health, status: 'down', findings } },
      });
    });
    await page.reload();
    await page.getByText('/_local/schedules/supervisor/enable').waitFor();
    await page.getByRole('alert').getByRole('link', { name: 'Open executions' }).first().waitFor();
    const frame = await areaOf(page, '.health');
    const said = await areasOf(page, '.health p');
    expect(Math.max(...said.map(({ right }) => right))).toBeLessThanOrEqual(frame.right);
    await expectFits(page);
  });

  it('leads from each sentence to what it names a command for', async () => {
    const { page } = await openPage(browser, world.server, '', LAPTOP);
    await page.route('**/overview*', async (route) => {
      const overview = (await (await route.fetch()).json()) as Overview;
      const asked = { kind: 'asked', waiting: 9, since: overview.at } as const;
      const findings = [asked, ...overview.health.findings];
      await route.fulfill({ json: { ...overview, health: { ...overview.health, findings } } });
    });
    await page.reload();
    await page.locator('.health').getByRole('link', { name: 'Answer' }).click();
    await page.getByRole('article').nth(8).waitFor();
  });

  it('has one line for what is alike, which leads to all of it', async () => {
    const { page } = await openPage(browser, world.server, '', LAPTOP);
    const waiting = page.getByRole('region', { name: /^Waiting for people/ }).getByRole('listitem');
    const ended = page.getByRole('region', { name: /^Ended without success/ }).getByRole('listitem');
    await waiting.getByText('9 ×').waitFor();
    await ended.getByText('5 ×').waitFor();
    expect([await waiting.count(), await ended.count()]).toEqual([1, 1]);
    await ended.getByRole('link').click();
    await page.getByText('5 read, and these are all').waitFor();
  });
});

it('the inbox uses the width that there is', async () => {
  const { page } = await openPage(browser, world.server, '#/people', LAPTOP);
  await page.getByRole('article').nth(8).waitFor();
  const cards = await areasOf(page, '.inbox > article');
  expect(new Set(cards.map(({ left }) => left)).size).toBe(3);
  expect(Math.max(...cards.map(({ bottom }) => bottom))).toBeLessThan(LAPTOP.height);
  await page.setViewportSize(PHONE);
  await expectFits(page);
});
