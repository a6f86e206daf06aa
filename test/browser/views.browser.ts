/** All views with every state of a step, hostile text, a slow and a failing API, no data, few permissions. */

import type { Browser, Locator, Page } from 'playwright-core';
import { axeFinds, closePages, expectAccessible, expectFits, openPage, startBrowser } from './browser.ts';
import { HOSTILE, HOSTILE_CALLER, memoryPage, type MemoryPage } from './memory-world.ts';

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
beforeEach(() => world.server.calm());
afterEach(closePages);

const PLACES = (): readonly (readonly [string, string, string])[] => [
  ['overview', '', 'Supervisors'],
  ['executions', '#/executions', 'these are all'],
  ['workflows', '#/workflows', 'everything'],
  ['one workflow', '#/workflows/everything', 'step by step'],
  ['the start form', '#/workflows/everything?start=1', 'Start an execution of everything'],
  ['one execution', `#/executions/${id}?step=may-fail`, 'What happens next'],
  ['people', '#/people', 'release'],
];

describe.each([
  ['light', { dark: false }],
  ['dark', { dark: true }],
  ['360 pixels wide', { width: 360, height: 740 }],
])('%s', (_, look) => {
  it('is accessible and fits, each view', async () => {
    for (const [name, place, text] of PLACES()) {
      const { page } = await openPage(browser, world.server, place, look);
      await page.getByText(text).first().waitFor();
      await page.waitForFunction(() => document.querySelector('.spinner') === null);
      await expectAccessible(page);
      await expectFits(page);
      expect([name, await page.evaluate(() => Reflect.get(window, 'hacked'))]).toEqual([name, undefined]);
    }
  });
});

/** Finds a box by its text. */
const boxOf = (page: Page, name: string, status = ''): Locator =>
  page.locator('.graph a', { hasText: new RegExp(`^${name} .*${status}`) });

describe('one execution', () => {
  it('has each step in its graph and its timeline with how it is', async () => {
    const { page } = await openPage(browser, world.server, `#/executions/${id}`);
    await page.getByText('What happens next').waitFor();
    const { steps } = await world.view(id);
    expect(new Set(steps.map(({ status }) => status))).toEqual(
      new Set(['done', 'skipped', 'tolerated', 'running', 'ready', 'waiting', 'pending']),
    );
    for (const { name, status } of steps) {
      await boxOf(page, name, status).waitFor();
      await page.locator(`.timeline [aria-label^="${name}: ${status}"]`).waitFor();
    }
  });

  it('shows hostile text as it is, in names, keys, tags, errors, inputs and outputs', async () => {
    const { page } = await openPage(browser, world.server, `#/executions/${id}?step=may-fail`);
    // Waits for each, so that the later reads see the view and not what was there while it loaded.
    for (const place of ['.notice.bad', '.payload', '.head dl'])
      expect(await page.locator(place).first().innerText()).toContain('<img src=x onerror=');
    expect(await page.locator('main').innerText()).toContain(HOSTILE.slice(0, 60));
    expect(await page.locator('main img, main script').count()).toBe(0);
  });

  it('opens an execution below it in place, and closes it again', async () => {
    const { page } = await openPage(browser, world.server, `#/executions/${id}`);
    await page.getByRole('link', { name: 'Open the execution of child' }).click();
    await boxOf(page, 'answer').waitFor();
    await page.getByRole('link', { name: 'Close the execution of child' }).click();
    await boxOf(page, 'answer').waitFor({ state: 'detached' });
  });

  it('says why a command is not possible, beside those that are', async () => {
    const { page } = await openPage(browser, world.server, `#/executions/${id}`);
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.getByText('Not possible now: reasons').click();
    await page.getByText('it is waiting').first().waitFor();
  });

  it('says that no execution has this id, and what to do', async () => {
    const { page } = await openPage(browser, world.server, '#/executions/none');
    await page.getByText('unknown-execution').waitFor();
    await page.getByText('Check the id').waitFor();
    await page.getByText('● live').waitFor();
    await expectAccessible(page);
  });
});

describe('a caller with a hostile name', () => {
  it('is named as it is wherever a page says who acted', async () => {
    const said = await memoryPage();
    const its = await said.begunOne();
    const act = async (path: string, body: object): Promise<void> => {
      expect([path, Math.floor((await said.post(path, body, HOSTILE_CALLER)) / 100)]).toEqual([path, 2]);
    };
    const { steps, incidents } = await said.view(its);
    const token = steps.find(({ name }) => name === 'release')?.token;
    await act(`/callbacks/${token}/complete`, { output: {} });
    await act(`/executions/${its}/incidents/${incidents[0]?.number}/resolve`, {
      choice: 'skip',
      nothingHappened: true,
    });
    await act(`/executions/${its}/pause`, {});
    await act('/workflows/everything/pause', {});
    await act('/agents/works/pause', {});
    for (const [place, times] of [
      ['', 2],
      ['#/workflows/everything', 1],
      [`#/executions/${its}?step=release`, 3],
      [`#/executions/${its}?step=asked`, 2],
    ] as const) {
      const { page } = await openPage(browser, said.server, place);
      await page
        .getByText(`local:${HOSTILE_CALLER}`)
        .nth(times - 1)
        .waitFor();
      expect(await page.locator('main img, main script').count()).toBe(0);
      expect([place, await page.evaluate(() => Reflect.get(window, 'hacked'))]).toEqual([place, undefined]);
      await expectFits(page);
    }
    await closePages();
    await said.server.close();
  });
});

describe('the API', () => {
  it('that is slow leaves a word on the page', async () => {
    world.server.weather.delayMs = 1_500;
    const { page } = await openPage(browser, world.server, '#/people');
    await page.getByText('Reading the inbox').waitFor();
    await page.getByRole('article', { name: 'approval release' }).waitFor();
  });

  it('that fails is said with what to do, and read again by itself', async () => {
    world.server.weather.status = 503;
    const { page } = await openPage(browser, world.server, '#/people');
    await page.getByText('The page reads it again').waitFor();
    await page.getByText('not connected').waitFor();
    await expectAccessible(page);
    world.server.weather.status = 0;
    await page.getByRole('article', { name: 'approval release' }).waitFor();
    await page.getByText('● live').waitFor();
  });

  it('that fails later leaves what was shown, and says so', async () => {
    const { page } = await openPage(browser, world.server, `#/executions/${id}`);
    await page.getByText('What happens next').waitFor();
    world.server.weather.status = 500;
    await page.getByText('This is out of date').waitFor();
    expect(await page.getByText('What happens next').count()).toBe(1);
  });

  it('that has nothing to show is said with what to do', async () => {
    const empty = await memoryPage();
    const { page } = await openPage(browser, empty.server, '#/people');
    await page.getByText('Nothing waits for a person').waitFor();
    await page.goto(`${empty.server.url}#/workflows/everything`);
    await page.getByText('No execution has been started yet').waitFor();
    await expectAccessible(page);
    await empty.server.close();
  });

  it('is not called while the page is in the background, and at once when it comes back', async () => {
    const { page } = await openPage(browser, world.server, '#/people');
    await page.getByRole('article', { name: 'approval release' }).waitFor();
    const hide = (hidden: boolean): Promise<void> =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => value });
        document.dispatchEvent(new Event('visibilitychange'));
      }, hidden);
    await hide(true);
    const before = world.server.asked.length;
    await page.waitForTimeout(4_000);
    expect(world.server.asked.length).toBe(before);
    const [answered] = await Promise.all([page.waitForResponse(/incidents/), hide(false)]);
    expect(answered.status()).toBe(200);
  });
});

describe('a page that is read only', () => {
  const READ_ONLY = { deployment: 'prod', readOnly: true, local: false };
  /** The buttons that act, and the links to pages with such buttons. */
  const actions = async (page: Page): Promise<readonly string[]> => {
    // A table's head sorts the table.
    const buttons = await page.locator('button:not(th *), [role=button]:not(th *)').allInnerTexts();
    const links = await page
      .getByRole('link')
      .evaluateAll((all) => all.map((link) => `${link.textContent} ${link.getAttribute('href')}`));
    return [
      ...buttons.filter((name) => name !== 'copy' && name !== 'Show'),
      ...links.filter((link) =>
        /^(?:start|approve|reject|retry|pause|resume|cancel)\b|[?&]start=/i.test(link),
      ),
    ];
  };

  it('shows no action anywhere', async () => {
    world.server.weather.settings = READ_ONLY;
    for (const [name, place, text] of PLACES()) {
      const { page } = await openPage(browser, world.server, place);
      await page
        .getByText(text === 'Start an execution of everything' ? 'step by step' : text)
        .first()
        .waitFor();
      expect([name, await actions(page)]).toEqual([name, []]);
    }
  });

  it('says where there is nothing yet, and offers no start of it', async () => {
    const empty = await memoryPage();
    empty.server.weather.settings = READ_ONLY;
    for (const [place, text] of [
      ['#/executions', 'No execution has been started yet'],
      ['#/workflows/everything', 'No execution has been started yet'],
    ] as const) {
      const { page } = await openPage(browser, empty.server, place);
      await page.getByText(text).waitFor();
      await page.getByText('This page is read only').waitFor();
      expect(await actions(page)).toEqual([]);
      expect(await page.getByText('button above').count()).toBe(0);
    }
    await closePages();
    await empty.server.close();
  });
});

describe('the keyboard alone', () => {
  it('leads to each view, to a step, and answers', async () => {
    const { page } = await openPage(browser, world.server, '#/people');
    await page.getByRole('article', { name: 'approval release' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('w');
    await page.getByRole('heading', { name: 'Workflows' }).waitFor();
    await page.goto(`${world.server.url}#/executions/${id}`);
    await boxOf(page, 'first').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Step first' }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Pause');
  });
});

describe('what is planted is found', () => {
  it('by axe', async () => {
    world.server.plant((html) => html.replace('<body>', '<body><img src="./icon.svg">'));
    const { page } = await openPage(browser, world.server, '#/workflows');
    expect((await axeFinds(page)).join()).toContain('image-alt');
  });

  it.each([
    ['a script in the page', '<script>window.hacked = 1</script>'],
    ['a style in the page', '<p style="color: red">red</p>'],
    ['an image from elsewhere', '<img alt="" src="http://127.0.0.1:9/x.png">'],
  ])('by the policy: %s', async (_, planted) => {
    world.server.plant((html) => html.replace('<body>', `<body>${planted}`));
    const { page, problems } = await openPage(browser, world.server, '#/workflows');
    await page.getByRole('heading', { name: 'Workflows' }).waitFor();
    expect(problems.splice(0).join()).toContain('csp: ');
    expect(await page.evaluate(() => Reflect.get(window, 'hacked'))).toBe(undefined);
  });
});
