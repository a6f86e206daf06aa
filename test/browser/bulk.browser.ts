/** Bulk actions with a value (another input, an incident's answer, approvals), using only the keyboard. */

import type { Browser, Page } from 'playwright-core';
import { askPerson, retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { anAgent, anyObject } from '../engine/harness.ts';
import { closePages, expectAccessible, expectFits, openPage, startBrowser } from './browser.ts';
import { HOSTILE, memoryPage, type MemoryPage } from './memory-world.ts';

const bank = anAgent('bank', { undo: 'none' });

const order = workflow('order', { input: anyObject, within: '8h' }, (w) => {
  w.step('charge', bank, { amount: w.input['amount'] } as never, {
    recovery: [retry(0), askPerson({ within: '1h' })],
  });
  w.approval('release', { within: '2h', otherwise: 'reject' });
}) as unknown as Workflow;

let browser: Browser;
let world: MemoryPage;
/** The requests to the bank, and its charges. */
let charged: unknown[];
let ids: string[];

beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  charged = [];
  ids = [];
  world = await memoryPage(order, {
    bank: {
      execute: async (_, input) => {
        const { amount } = Object(input) as { amount?: unknown };
        if (typeof amount !== 'number') throw new PermanentError(HOSTILE);
        charged.push(amount);
        return { chargeId: 'c' };
      },
    },
  });
  const asks = ({ execution, questions = {} }: Snapshot): boolean =>
    execution.status === 'waiting' && questions['release'] !== undefined;
  for (let at = 0; at < 3; at += 1) {
    const { id } = await world.begin({ amount: 'a lot' });
    await world.run(id, { until: asks, maxMs: 60_000 });
    ids.push(id);
  }
  world.clock.advanceTo(world.clock.now() + 1_000);
});
afterEach(async () => {
  await closePages();
  await world.server.close();
});

/** Focuses an element with the Tab key, and presses it. */
const press = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('button', { name, exact: true }).last().focus();
  await page.keyboard.press('Enter');
};
const asked = async (page: Page, verb: string): Promise<void> => {
  const others = page.locator('summary', { hasText: 'Other' });
  await others.focus();
  await page.keyboard.press('Enter');
  await press(page, `${verb} …`);
  await page.getByRole('dialog').waitFor();
};
const dialog = (page: Page) => page.getByRole('dialog');
const shows = async (page: Page, words: string): Promise<void> => {
  await dialog(page).waitFor({ state: 'detached' });
  const its = await page
    .getByRole('link', { name: 'The execution of this bulk action' })
    .getAttribute('href');
  await world.run(its?.split('/').at(-1) ?? '', { supervised: false });
  await page.getByRole('region', { name: 'The bulk action' }).getByText(words).waitFor();
};
const stepOf = async (id: string | undefined, name: string) =>
  (await world.view(id ?? '')).steps.find((step) => step.name === name);

const INPUT = {
  type: 'object',
  properties: { amount: { type: 'number', title: 'Amount in cents' } },
  required: ['amount'],
};

describe.each([
  ['light', {}],
  ['dark', { dark: true }],
  ['360 pixels wide', { width: 360 }],
])('%s', (_, look) => {
  it('each question is accessible and fits', async () => {
    const { page } = await openPage(browser, world.server, '#/executions?workflow=order', look);
    await page.getByText('3 read, and these are all').waitFor();
    // Folded on a phone.
    const many = page.getByText('Bulk action', { exact: true });
    if (await many.isVisible()) await many.click();
    for (const verb of ['Retry with another input', 'Resolve', 'Approve', 'Reject']) {
      await page.getByText('Other', { exact: true }).click();
      await page.getByRole('button', { name: `${verb} …`, exact: true }).click();
      await dialog(page).getByLabel('Step').waitFor();
      await expectAccessible(page);
      await expectFits(page);
      await dialog(page).getByRole('button', { name: 'Find them' }).click();
      await dialog(page).getByText('3 executions.').waitFor();
      await expectAccessible(page);
      await expectFits(page);
      await page.keyboard.press('Escape');
      await dialog(page).waitFor({ state: 'detached' });
      await page.getByText('Other', { exact: true }).click();
    }
  });
});

it('are retried with another input, by a form of the schema of its step, with the keyboard alone', async () => {
  world.forms = { steps: { charge: { input: INPUT } } };
  const { page } = await openPage(browser, world.server, '#/executions?workflow=order&status=waiting');
  await page.getByText('3 read').waitFor();
  await asked(page, 'Retry with another input');
  await dialog(page).getByLabel('Step').focus();
  await page.keyboard.type('charge');
  await dialog(page).getByLabel('Amount in cents').focus();
  await page.keyboard.press('Enter');
  await dialog(page).getByText('this is required').waitFor();
  await page.keyboard.type('4200');
  await page.keyboard.press('Enter');
  await dialog(page).getByText('3 executions.').waitFor();
  // The values can be changed, and are still there.
  await press(page, 'Change the answer');
  expect(await dialog(page).getByLabel('Amount in cents').inputValue()).toBe('4200');
  await press(page, 'Find them');
  await dialog(page).getByText('3 executions.').waitFor();
  expect(
    await dialog(page)
      .getByText('3 executions.')
      .evaluate((it) => it === document.activeElement),
  ).toBe(true);
  expect(charged).toEqual([]);
  await press(page, 'Retry with another input');
  await shows(page, 'retry is done: 3 of 3 processed, 3 applied. By local:ann.');
  for (const id of ids)
    await world.run(id, { until: ({ steps }) => steps['charge']?.status === 'done', supervised: false });
  expect(charged).toEqual([4_200, 4_200, 4_200]);
});

it('are not read before the form for their input is there', async () => {
  const { page } = await openPage(browser, world.server, '#/executions?workflow=order');
  await page.getByText('3 read').waitFor();
  world.server.weather.delayMs = 2_000;
  await asked(page, 'Retry with another input');
  await dialog(page).getByText('Reading its workflow').waitFor();
  expect(await dialog(page).getByRole('button', { name: 'Find them' }).isDisabled()).toBe(true);
  await dialog(page)
    .locator('form')
    .evaluate((form) => (form as HTMLFormElement).requestSubmit());
  await dialog(page).getByLabel('Input, as JSON').waitFor();
  expect(world.server.asked.filter((one) => one.startsWith('POST'))).toEqual([]);
});

it('of several workflows, or of any, take JSON; each says why it does not fit', async () => {
  const { page } = await openPage(browser, world.server, '#/executions?status=waiting');
  await page.getByText('3 read').waitFor();
  await asked(page, 'Retry with another input');
  await dialog(page).getByLabel('Input, as JSON').fill('{"amount": 1');
  await press(page, 'Find them');
  await dialog(page).getByText('in JSON at position').waitFor();
  await dialog(page).getByLabel('Input, as JSON').fill('{"amount": 7}');
  await dialog(page).getByLabel('Step').fill('release');
  await press(page, 'Find them');
  await dialog(page).getByText('3 executions.').waitFor();
  await press(page, 'Retry with another input');
  await shows(page, 'retry is done: 3 of 3 processed, 0 applied.');
  await page.getByText('3 not: not-asked').click();
  await page
    .getByText(/it has no open incidents of step 'release'/)
    .first()
    .waitFor();
  await expectAccessible(page);
});

it('are resolved by the answer that is chosen; one that asks nothing of the kind is left, and said', async () => {
  const [first = '', , third = ''] = ids;
  const [incident] = (await world.view(third)).incidents;
  await world.post(`/executions/${third}/incidents/${incident?.number}/resolve`, { choice: 'skip' });
  const { page } = await openPage(browser, world.server, '#/executions');
  await page.getByText('3 read').waitFor();
  await page.getByLabel('Select all loaded executions').check();
  await asked(page, 'Resolve');
  await dialog(page).getByLabel('Answer').focus();
  await page.keyboard.type('Give');
  await dialog(page).getByText('somebody did the work by hand').waitFor();
  await dialog(page).getByLabel('Output, as JSON').fill('{"chargeId": "by hand"}');
  await press(page, 'Find them');
  await dialog(page).getByText('Executions without such a question are left as they are').waitFor();
  await press(page, 'Resolve');
  await shows(page, 'resolve is done: 3 of 3 processed, 2 applied.');
  await page.getByText('1 not: not-asked').click();
  await page.getByRole('link', { name: third }).first().waitFor();
  expect((await stepOf(first, 'charge'))?.output).toEqual({ chargeId: 'by hand' });
});

it('are approved with a comment, in the name of who confirms', async () => {
  const { page } = await openPage(browser, world.server, '#/executions?workflow=order');
  await page.getByText('3 read').waitFor();
  await asked(page, 'Approve');
  await dialog(page).getByLabel('Comment').fill(HOSTILE);
  await press(page, 'Find them');
  await dialog(page).getByText('3 executions.').waitFor();
  await press(page, 'Approve');
  await shows(page, 'approve is done: 3 of 3 processed, 3 applied.');
  for (const id of ids) {
    await world.run(id, { until: ({ steps }) => steps['release']?.status === 'done', supervised: false });
    expect((await stepOf(id, 'release'))?.output).toMatchObject({ approved: true, comment: HOSTILE });
  }
});
