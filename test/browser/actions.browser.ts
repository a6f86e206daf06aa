/**
 * A person's actions in the console, on a local cloud: start, follow, pause, resume, cancel, answer. If two
 * people answer, one wins.
 */

import type { Browser, Page } from 'playwright-core';
import * as z from 'zod/mini';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { anAgent, anyObject } from '../engine/harness.ts';
import { closePages, expectAccessible, expectFits, openPage, startBrowser } from './browser.ts';
import { memoryPage, type MemoryPage } from './memory-world.ts';
import { type StagePage, stagePage } from './stage-page.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());
afterEach(closePages);

const press = async (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();
/** The button of the dialog that is open. */
const confirm = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
};
const untilStatus = (page: Page, status: string): Promise<void> =>
  page.locator('.head h1 .status', { hasText: status }).waitFor();

describe('on a local cloud', () => {
  let place: StagePage;
  beforeAll(async () => {
    place = await stagePage();
  });
  afterAll(() => place?.close());
  const orderOf = (orderId: string): string =>
    JSON.stringify({
      orderId,
      email: 'ada@example.com',
      address: '1 Main Street',
      items: [{ sku: 'tea', quantity: 2 }],
      total: 4_200,
    });
  const startedBy = async (orderId: string): Promise<Page> => {
    const { page } = await openPage(browser, place.server, '#/workflows/order-fulfilment?start=1');
    await press(page, 'Write input as JSON');
    await page.getByLabel('Input, as JSON').fill(orderOf(orderId));
    await page.getByLabel('Key').fill(orderId);
    await press(page, 'Start');
    await page.getByText('What happens next').waitFor();
    return page;
  };

  it('starts an execution, says what does not fit its schema, and follows it to its end', async () => {
    const { page } = await openPage(browser, place.server, '#/workflows/order-fulfilment');
    await press(page, 'Start one …');
    await press(page, 'Write input as JSON');
    await page.getByLabel('Input, as JSON').fill('{"orderId": 1}');
    await press(page, 'Start');
    await page.getByText('bad-input').waitFor();
    await page.getByLabel('Input, as JSON').fill(orderOf('page-1'));
    await press(page, 'Start');
    await untilStatus(page, 'succeeded');
    await page.getByText('No command is possible now: reasons').waitFor();
    await page.goto(`${place.server.url}#/workflows/order-fulfilment`);
    await page.locator('table.grid .cell.done').first().waitFor();
  });

  /** Starts an order that runs long enough for a person to act on it. */
  const slow = (orderId: string): Promise<unknown> =>
    place.behave({ service: 'payment', mode: 'slow', ms: 8_000, match: { about: orderId } });

  it('pauses and resumes; the reason is kept; what is wrong in the dialog is said there', async () => {
    await slow('page-2');
    const page = await startedBy('page-2');
    await press(page, 'Pause');
    await page.getByLabel('At most for').fill('long');
    await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText('bad-duration').waitFor();
    await page.getByLabel('Reason').fill('the bank is closed');
    await page.getByLabel('At most for').fill('2h');
    await confirm(page, 'Pause');
    await untilStatus(page, 'pause');
    await page.locator('dd', { hasText: 'the bank is closed' }).waitFor();
    await page.locator('dd', { hasText: /^\d+ min .*after the pause ends$/ }).waitFor();
    await press(page, 'Resume');
    await confirm(page, 'Resume');
    await untilStatus(page, 'succeeded');
  });

  it('cancels', async () => {
    await slow('page-3');
    const page = await startedBy('page-3');
    await press(page, 'Cancel');
    await page.getByLabel('Reason').fill('ordered twice');
    await confirm(page, 'Cancel');
    await untilStatus(page, 'canceled');
    await page.getByRole('heading', { name: 'What is still in effect' }).waitFor();
    await page.getByText('ordered twice').first().waitFor();
  });

  it('shows an order that is declined: what failed, what was undone, what stands', async () => {
    await place.behave({ service: 'carrier', mode: 'decline', match: { about: 'page-4' } });
    const page = await startedBy('page-4');
    await untilStatus(page, 'compensated');
    await page.getByText('It failed').waitFor();
    await page.getByText('Nothing that would have to be undone.').waitFor();
    await page.locator('.timeline .stretch.undo').first().waitFor();
  });
});

describe('a failed execution', () => {
  it('is retried with another input of its failed step, by the form of its agent; a misfit is said at its field', async () => {
    const bank = anAgent('bank', { undo: 'none', input: z.object({ amount: z.number() }) as never });
    const pay = workflow('pay', { input: anyObject, within: '1h' }, (w) => {
      w.step('charge', bank, { amount: w.input['amount'] } as never, { recovery: [retry(0)] });
    }) as unknown as Workflow;
    const charged: unknown[] = [];
    const world = await memoryPage(pay, {
      bank: {
        execute: async (_, input) => {
          const { amount } = Object(input) as { amount: number };
          if (amount > 100) throw new PermanentError('declined');
          charged.push(amount);
          return {};
        },
      },
    });
    const amount = { type: 'number', title: 'Amount in cents' };
    world.forms = { steps: { charge: { input: { type: 'object', properties: { amount } } } } };
    const { id } = await world.begin({ amount: 500 });
    await world.run(id);
    const { page } = await openPage(browser, world.server, `#/executions/${id}?step=charge`, { width: 360 });
    await press(page, 'Retry');
    world.server.weather.delayMs = 2_000;
    await page.getByLabel('With another input').selectOption('of step charge');
    await page.getByRole('dialog').getByText('Reading its schema').waitFor();
    const retried = page.getByRole('dialog').getByRole('button', { name: 'Retry', exact: true });
    expect(await retried.isDisabled()).toBe(true);
    world.server.weather.delayMs = 0;
    await page.getByRole('dialog').getByLabel('Amount in cents').waitFor();
    await expectAccessible(page);
    await expectFits(page);
    await retried.focus();
    await page.keyboard.press('Enter');
    await page.locator('.field.wrong').waitFor();
    await page.getByRole('dialog').getByLabel('Amount in cents').fill('50');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await world.run(id);
    await untilStatus(page, 'succeeded');
    await page.getByText('entered by a person').first().waitFor();
    expect(charged).toEqual([50]);
    await world.server.close();
  });
});

describe('people', () => {
  let world: MemoryPage;
  let id: string;
  beforeEach(async () => {
    world = await memoryPage();
    id = await world.begunOne();
  });
  afterEach(() => world.server.close());
  const card = (page: Page, name: string) => page.getByRole('article', { name });
  /** Waits for two reads, because the first answer may be older. */
  const readTwice = async (page: Page): Promise<void> => {
    for (let at = 0; at < 2; at += 1)
      await page.waitForResponse((answer) => answer.url().includes('/api/incidents'));
  };

  it('approves from the inbox, and the execution says who did', async () => {
    const { page } = await openPage(browser, world.server, '#/people');
    await card(page, 'approval release').getByText('Without an answer: approve').waitFor();
    await card(page, 'approval release').getByRole('button', { name: 'Approve' }).click();
    await page.getByLabel('Comment').fill('fine with me');
    await confirm(page, 'Approve');
    await card(page, 'approval release').waitFor({ state: 'detached' });
    await page.goto(`${world.server.url}#/executions/${id}?step=release`);
    await page.getByText('local:ann').first().waitFor();
  });

  it('completes a callback of an execution below with JSON, and shows its token nowhere', async () => {
    const { page } = await openPage(browser, world.server, '#/people');
    await card(page, 'callback answer').getByRole('button', { name: 'Complete' }).click();
    await page.getByLabel('Output, as JSON').fill('{"amount": 12345678901234567890}');
    await page.getByRole('dialog').getByRole('button', { name: 'Complete', exact: true }).click();
    await page.getByText('unsafe-number').waitFor();
    await page.getByLabel('Output, as JSON').fill('{"amount": 4200}');
    const token =
      (await world.view(`${id}.child.0`)).steps.find(({ name }) => name === 'answer')?.token ?? '-';
    expect(await page.locator('body').innerText()).not.toContain(token);
    await confirm(page, 'Complete');
    await card(page, 'callback answer').waitFor({ state: 'detached' });
  });

  it('sends no answer before there is a form for it, however slow that is', async () => {
    const dialog = (page: Page) => page.getByRole('dialog');
    const early = async (page: Page, name: string): Promise<void> => {
      await dialog(page).getByText('Reading its schema').waitFor();
      expect(await dialog(page).getByRole('button', { name, exact: true }).isDisabled()).toBe(true);
      // Enter does the same in a field that already has a value.
      await dialog(page)
        .locator('form')
        .evaluate((form) => (form as HTMLFormElement).requestSubmit());
      await dialog(page).getByLabel('as JSON').waitFor();
      expect(world.server.asked.filter((one) => one.startsWith('POST'))).toEqual([]);
      expect(await dialog(page).getByRole('button', { name, exact: true }).isEnabled()).toBe(true);
    };
    const { page } = await openPage(browser, world.server, '#/people');
    await card(page, 'callback answer').waitFor();
    world.server.weather.delayMs = 2_000;
    await card(page, 'callback answer').getByRole('button', { name: 'Complete' }).click();
    await early(page, 'Complete');
    world.server.weather.delayMs = 0;
    await page.goto(`${world.server.url}#/executions/${id}`);
    await page.getByRole('button', { name: 'Give the output' }).waitFor();
    world.server.weather.delayMs = 2_000;
    await press(page, 'Give the output');
    await early(page, 'Give the output');
  });

  it('tells the second of two people who was first, also when the inbox was read meanwhile', async () => {
    const { page } = await openPage(browser, world.server, '#/people');
    await card(page, 'approval release').getByRole('button', { name: 'Reject' }).click();
    await page.getByLabel('Reason').fill('no');
    const step = (await world.view(id)).steps.find(({ name }) => name === 'release');
    expect(await world.post(`/callbacks/${step?.token}/complete`, { output: {} }, 'bob')).toBe(200);
    await readTwice(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Reject', exact: true }).click();
    await page.getByText('somebody else answered first: local:bob').waitFor();
    await page.getByRole('button', { name: 'Leave it' }).click();
    // At once, not at the next regular read.
    await card(page, 'approval release').waitFor({ state: 'detached', timeout: 2_000 });
  });

  it('answers an incident with one of its safe choices, and tells the second one', async () => {
    const { page } = await openPage(browser, world.server, '#/people');
    await card(page, 'recovery asked').getByRole('button', { name: 'Answer …' }).click();
    await card(page, 'recovery asked').getByRole('button', { name: 'Keep what was done' }).waitFor();
    await press(page, 'Retry with another input');
    await page.getByLabel('Input, as JSON').fill('{"note": "corrected"}');
    await page.getByLabel('Reason').fill('the address was wrong');
    const [incident] = (await world.view(id)).incidents;
    expect(
      await world.post(
        `/executions/${id}/incidents/${incident?.number}/resolve`,
        { choice: 'undo-all', reason: 'enough' },
        'bob',
      ),
    ).toBe(202);
    await readTwice(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Retry with another input' }).click();
    await page.getByText('somebody else answered first: local:bob chose undo-all (enough)').waitFor();
  });

  it('gives a step its output by hand', async () => {
    const { page } = await openPage(browser, world.server, `#/executions/${id}`);
    await press(page, 'Give the output');
    await page.getByLabel('Output, as JSON').fill('{"by": "hand"}');
    await confirm(page, 'Give the output');
    await page.getByText('local:ann chose give-output').first().waitFor();
  });
});
