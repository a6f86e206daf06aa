/**
 * The charts of the overview: drawing them, describing them as text, hostile names, how often they are read,
 * no data, no permission.
 */

import type { Browser, Page } from 'playwright-core';
import type { GetMetricData } from '../../cli/console/charts.ts';
import { CliError } from '../../cli/io.ts';
import { metricData } from '../../local/metrics/metric-data.ts';
import { MetricStore } from '../../local/metrics/metric-store.ts';
import { systemClock } from '../../local/clock.ts';
import { closePages, expectAccessible, expectFits, openPage, startBrowser } from './browser.ts';
import { HOSTILE, memoryPage, type MemoryPage } from './memory-world.ts';

let browser: Browser;
let world: MemoryPage;
let store: MetricStore;
let answers: (asked: object) => unknown;

const metrics: GetMetricData = async (asked) => answers(asked) as never;
const place = {
  service: 'shop',
  by: ['workflow', 'agent'] as const,
  queues: { works: 'q_works', [HOSTILE]: 'q_hostile' },
};

beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  const onProblem = (text: string): never => {
    throw new Error(text);
  };
  store = new MetricStore({ clock: systemClock, file: '/nowhere/metrics.jsonl', onProblem });
  answers = (asked) => metricData(asked, store.periods.bind(store));
  world = await memoryPage(undefined, undefined, { metrics: () => metrics }, place);
});
afterEach(async () => {
  await closePages();
  await world.server.close();
});

const own = (name: string, value: number, agoMinutes: number, more: Record<string, string> = {}): void =>
  store.add(
    { namespace: 'Steadfast', name, dimensions: { service: 'shop', ...more } },
    value,
    Date.now() - agoMinutes * 60_000,
  );

/** Writes the metrics of two hours with a few failures. */
function someHours(): void {
  for (let ago = 0; ago < 120; ago += 1) {
    own('Started', 1, ago);
    own(ago % 10 === 0 ? 'Failed' : 'Succeeded', 1, ago);
    if (ago % 5 === 0) own('Retries', 1, ago);
    for (const ms of [20, 45, 3_000]) own('TimeToClaim', ms, ago);
    own('OldestOverdue', ago % 30 === 0 ? 70_000 : 0, ago);
    own('Succeeded', 1, ago, { workflow: 'everything' });
    own('Duration', 900, ago, { workflow: 'everything' });
    own('StepsDone', 1, ago, { agent: HOSTILE });
    for (const QueueName of ['q_works', 'q_hostile']) {
      const metric = {
        namespace: 'AWS/SQS',
        name: 'ApproximateAgeOfOldestMessage',
        dimensions: { QueueName },
      };
      store.add(metric, ago, Date.now() - ago * 60_000);
    }
  }
}

const chart = (page: Page, title: string) => page.getByRole('figure').filter({ hasText: title }).first();
const opened = async (page: Page, ...groups: readonly string[]): Promise<void> => {
  for (const group of groups) await page.locator('.charts').getByText(group, { exact: true }).click();
};

describe.each([
  ['light', { dark: false }],
  ['dark', { dark: true }],
  ['360 pixels wide', { width: 360, height: 740 }],
])('%s', (_, look) => {
  it('the charts are drawn, said as text, accessible, and fit', async () => {
    someHours();
    const { page } = await openPage(browser, world.server, '', look);
    await chart(page, 'Success rate').locator('canvas').waitFor();
    expect(await chart(page, 'Success rate').innerText()).toMatch(/succeeded .*in all 90 %/);
    expect(await chart(page, 'Executions').innerText()).toMatch(/started .*in all 120/);
    expect(await chart(page, 'Overdue').innerText()).toMatch(/at most 1 min 1[01]/);
    expect(await chart(page, 'Became at risk').innerText()).toContain('No value in this period.');
    await opened(page, 'Queue of each agent', 'Each workflow', 'Each agent');
    await chart(page, 'Duration p99').locator('canvas').waitFor();
    expect(await chart(page, 'Duration p99').innerText()).toMatch(/everything .*9\d\d ms/);
    // A name that an outsider chose is shown as text only.
    expect(await chart(page, 'Oldest message').innerText()).toContain('<img src=x onerror=');
    expect(await page.locator('main img, main script').count()).toBe(0);
    await expectAccessible(page);
    await expectFits(page);
  });
});

describe('the tables', () => {
  const cellsOf = (page: Page, table: string, name: string) =>
    page.getByRole('group', { name: table }).getByRole('row', { name: new RegExp(`^${name}`) });

  it('have in their rows how long a workflow takes and how soon an agent claims, of the same reading', async () => {
    someHours();
    for (let ago = 0; ago < 60; ago += 1) own('TimeToClaim', 40, ago, { agent: 'works' });
    const { page } = await openPage(browser, world.server, '');
    await chart(page, 'Success rate').locator('canvas').waitFor();
    const took = cellsOf(page, 'Workflows', 'everything').getByTitle(/in the latest minute/);
    expect(await took.allInnerTexts()).toEqual([
      expect.stringMatching(/^9\d\d ms$/),
      expect.stringMatching(/^9\d\d ms$/),
    ]);
    expect(
      await cellsOf(page, 'Agents', 'works')
        .getByTitle(/at most .* in 3 h/)
        .innerText(),
    ).toBe('40 ms');
    await cellsOf(page, 'Agents', 'refuses').getByTitle('Nothing was measured in the last 3 h.').waitFor();
    expect(world.server.asked.filter((one) => one === 'GET /agents')).toHaveLength(1);
  });

  it('say how they would have it where it is not measured', async () => {
    someHours();
    await world.server.close();
    world = await memoryPage(undefined, undefined, { metrics: () => metrics }, { ...place, by: [] });
    const { page } = await openPage(browser, world.server, '');
    const titleOf = (by: string): string => `Not measured per ${by}: deploy with metricsBy: ['${by}'].`;
    await cellsOf(page, 'Agents', 'works').getByTitle(titleOf('agent')).waitFor();
    expect(await cellsOf(page, 'Workflows', 'everything').getByTitle(titleOf('workflow')).count()).toBe(2);
  });
});

it('a picture takes the colours of the page, also of one that changes them', async () => {
  someHours();
  const { page } = await openPage(browser, world.server, '');
  await chart(page, 'Success rate').locator('canvas').waitFor();
  const light = await page
    .locator('.charts canvas')
    .first()
    .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.waitForFunction(
    (before) => document.querySelector<HTMLCanvasElement>('.charts canvas')?.toDataURL() !== before,
    light,
  );
});

it('they are read once a minute, and not while the page is in the background', async () => {
  someHours();
  const { page } = await openPage(browser, world.server, '#/people');
  let read = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/charts')) read += 1;
  });
  await page.clock.install();
  await page.goto(`${world.server.url}#/`);
  await chart(page, 'Success rate').locator('canvas').waitFor();
  expect(read).toBe(1);
  await page.clock.runFor(30_000);
  // Going to another view and back does not read again.
  await page.goto(`${world.server.url}#/people`);
  await page.goto(`${world.server.url}#/`);
  await chart(page, 'Success rate').locator('canvas').waitFor();
  expect(read).toBe(1);
  const nextMinute = page.waitForRequest(/\/charts$/);
  await page.clock.runFor(31_000);
  await nextMinute;
  expect(read).toBe(2);
  const hide = (hidden: boolean): Promise<void> =>
    page.evaluate((isHidden) => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => isHidden });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await hide(true);
  await page.clock.runFor(600_000);
  expect(read).toBe(2);
  const looked = page.waitForRequest(/\/charts$/);
  await hide(false);
  await looked;
  expect(read).toBe(3);
});

/** The drawn columns of a chart, from 0 to 1, and those with the colour of its first line. */
const columnsOf = (page: Page, title: string) =>
  chart(page, title)
    .locator('canvas')
    .evaluate((canvas: HTMLCanvasElement) => {
      const { width, height } = canvas;
      const pixels = canvas.getContext('2d')?.getImageData(0, 0, width, height).data ?? [];
      const line = getComputedStyle(document.documentElement).getPropertyValue('--line-0').trim();
      const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(line.slice(at, at + 2), 16));
      const [inked, lined]: [number[], number[]] = [[], []];
      for (let x = 0; x < width; x += 1)
        for (let y = 0; y < height; y += 1) {
          const at = 4 * (y * width + x);
          if ((pixels[at + 3] ?? 0) < 200) continue;
          inked.push(x / width);
          if (pixels[at] === red && pixels[at + 1] === green && pixels[at + 2] === blue)
            lined.push(x / width);
        }
      return { first: Math.min(...inked), inked: inked.length, lined, pixel: 1 / width };
    });

it('a line marks the start of the code that runs, and its time is said', async () => {
  for (let ago = 1; ago < 30; ago += 1) own('TimeToDetect', 100_000, ago);
  const dashes = async (startedAt: number): Promise<number> => {
    await world.server.close();
    world = await memoryPage(undefined, undefined, { metrics: () => metrics }, { ...place, startedAt });
    const { page } = await openPage(browser, world.server, '');
    await chart(page, 'To detect').locator('canvas').waitFor();
    const isSaid = await page.getByText('The dashed line: the code that runs now began at').count();
    expect(isSaid).toBe(startedAt > Date.now() - 60 * 60_000 ? 1 : 0);
    return (await columnsOf(page, 'To detect')).inked;
  };
  const [without, marked] = [await dashes(Date.now() - 170 * 60_000), await dashes(Date.now() - 15 * 60_000)];
  expect(marked - without).toBeGreaterThan(30);
});

it('half an hour fills the picture, no line crosses minutes without a value, no label is cut', async () => {
  for (let ago = 1; ago < 30; ago += 1) if (ago < 8 || ago > 20) own('TimeToDetect', 100_000 + ago, ago);
  own('TimeToDetect', 90_000, 14);
  const { page } = await openPage(browser, world.server, '');
  await page.getByText(/The last 3\d min, by the minute, in UTC/).waitFor();
  await chart(page, 'To detect').locator('canvas').waitFor();
  const { first, lined, pixel } = await columnsOf(page, 'To detect');
  expect(first).toBeGreaterThan(pixel);
  const [from, to] = [Math.min(...lined), Math.max(...lined)];
  expect(to - from).toBeGreaterThan(0.5);
  // From minute 20 to 8 only the middle one has a value.
  const inGap = lined.map((at) => (at - from) / (to - from)).filter((at) => at > 0.36 && at < 0.72);
  expect(inGap.length).toBeGreaterThan(0);
  expect(inGap.filter((at) => Math.abs(at - 15 / 28) > 0.06)).toEqual([]);
});

it('says that there is nothing yet, and why', async () => {
  const { page } = await openPage(browser, world.server, '');
  await page.getByText('Nothing was measured in the last 3 h.').waitFor();
  await expectAccessible(page);
});

it('says which leave is missing, leaves all else of the overview as it is, and reads again when asked to', async () => {
  someHours();
  const answer = answers;
  answers = () => {
    throw new CliError('not-allowed', 'not allowed: cloudwatch:GetMetricData');
  };
  const { page } = await openPage(browser, world.server, '');
  await page.getByText('Your credentials need cloudwatch:GetMetricData.').waitFor();
  await page.getByText('Supervisors').waitFor();
  await expectAccessible(page);
  answers = answer;
  await page.locator('.charts').getByRole('button', { name: 'Try again now' }).click();
  await chart(page, 'Success rate').locator('canvas').waitFor();
});

it('says of a deployment what reading them costs, and how each workflow would be seen', async () => {
  someHours();
  await world.server.close();
  world = await memoryPage(undefined, undefined, { metrics: () => metrics }, { ...place, by: [] });
  world.server.weather.settings = { deployment: 'Shop', readOnly: true, local: false };
  const { page } = await openPage(browser, world.server, '');
  await page.getByText('21 metrics a minute, about $0.013 an hour').waitFor();
  await page.getByText("metricsBy: ['workflow']").waitFor();
});
