/**
 * Forms made from schemas: starting an execution on a local cloud, answering an incident, hostile titles, a
 * schema that cannot become a form.
 */

import type { Browser, Page } from 'playwright-core';
import { closePages, expectAccessible, expectFits, openPage, startBrowser } from './browser.ts';
import { HOSTILE, memoryPage, type MemoryPage } from './memory-world.ts';
import { type StagePage, stagePage } from './stage-page.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());
afterEach(closePages);

const press = async (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();

describe('on a local cloud', () => {
  let place: StagePage;
  beforeAll(async () => {
    place = await stagePage();
  });
  afterAll(() => place?.close());

  it('a start has the author’s example in it, says at its field what the API refuses, and starts', async () => {
    const { page } = await openPage(browser, place.server, '#/workflows/order-fulfilment?start=1');
    const field = (name: string) => page.getByLabel(name, { exact: true });
    await field('sku').waitFor();
    expect([await field('orderId').inputValue(), await field('quantity').inputValue()]).toEqual([
      'order-1',
      '1',
    ]);
    await field('orderId').fill('');
    await field('quantity').fill('none');
    await press(page, 'Start');
    await page.getByText('a number is required').waitFor();
    await field('quantity').fill('0');
    await press(page, 'Start');
    await page
      .locator('.field.wrong', { has: field('quantity') })
      .getByText(/Too small/)
      .waitFor();
    await page.locator('.field.wrong', { has: field('orderId') }).waitFor();
    await field('orderId').fill('by-form');
    await field('quantity').fill('2');
    await press(page, 'Add to items');
    await page.getByLabel('sku', { exact: true }).last().fill('tea');
    await page.getByLabel('quantity', { exact: true }).last().fill('3');
    await press(page, 'Remove items 1');
    await press(page, 'Start');
    await page.locator('.payload').first().getByText('"by-form"').waitFor();
    expect(JSON.parse(await page.locator('.payload pre').first().innerText())).toMatchObject({
      orderId: 'by-form',
      items: [{ sku: 'tea', quantity: 3 }],
      total: 4_200,
    });
  });
});

describe('with schemas of anybody', () => {
  let world: MemoryPage;
  let id: string;
  beforeAll(async () => {
    world = await memoryPage();
    id = await world.begunOne();
  });
  afterAll(() => world.server.close());

  const schema = {
    type: 'object',
    title: HOSTILE,
    description: HOSTILE,
    properties: {
      [HOSTILE]: { type: 'string', title: HOSTILE, description: HOSTILE },
      size: { enum: ['small', HOSTILE] },
      express: { type: 'boolean' },
      count: { type: 'integer' },
      list: { type: 'array', items: { type: 'object', properties: { note: { type: 'string' } } } },
      either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    },
    required: ['size'],
  };

  it.each([
    ['light', {}],
    ['dark', { dark: true }],
    ['360 pixels wide', { width: 360 }],
  ])('they are accessible and fit, %s, and hostile titles are text', async (_, look) => {
    world.forms = { input: schema, example: { size: HOSTILE, list: [{ note: HOSTILE }] } };
    const { page } = await openPage(browser, world.server, '#/workflows/everything?start=1', look);
    await page.getByLabel('count (optional)').waitFor();
    expect(await page.locator('form.start').innerText()).toContain(HOSTILE.slice(0, 60));
    expect(await page.locator('main img, main script').count()).toBe(0);
    await expectAccessible(page);
    await expectFits(page);
    expect(await page.evaluate(() => Reflect.get(window, 'hacked'))).toBe(undefined);
  });

  it('they go over into JSON and back; what they cannot show stays JSON', async () => {
    world.forms = { input: schema };
    const { page } = await openPage(browser, world.server, '#/workflows/everything?start=1');
    await press(page, 'Start');
    await page.getByText('this is required').waitFor();
    await page.getByLabel('express (optional)').selectOption('yes');
    await press(page, 'Write input as JSON');
    await page.getByLabel('Input, as JSON').fill('{"size": "small", "count": "many"}');
    await press(page, 'Fill in input by its fields');
    await page.getByText('The form cannot show this value').waitFor();
    await page.getByLabel('Input, as JSON').fill('{"size": "small", "count": 3, "beside": [1]}');
    await press(page, 'Fill in input by its fields');
    expect(await page.getByLabel('count (optional)').inputValue()).toBe('3');
    await page.getByText('Other fields, unchanged: beside').waitFor();
    await press(page, 'Start');
    await page.getByText('What happens next').waitFor();
    const sent = JSON.parse(await page.locator('.payload pre').first().innerText());
    expect(sent).toEqual({ beside: [1], size: 'small', count: 3 });
  });

  it('without a schema the form is a field of JSON', async () => {
    world.forms = {};
    const { page } = await openPage(browser, world.server, '#/workflows/everything?start=1');
    await page.getByLabel('Input, as JSON').waitFor();
    expect(await page.getByRole('button', { name: 'Fill in input by its fields' }).count()).toBe(0);
  });

  it('an incident is answered by the form of its step', async () => {
    const output = {
      type: 'object',
      properties: { by: { type: 'string', title: 'Done by' } },
      required: ['by'],
    };
    world.forms = { steps: { asked: { output } } };
    const { page } = await openPage(browser, world.server, `#/executions/${id}`);
    await press(page, 'Give the output');
    await page.getByRole('dialog').getByLabel('Done by').fill('hand');
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Give the output' }).click();
    await page.getByText('local:ann chose give-output').first().waitFor();
    const { steps } = await world.view(id);
    expect(steps.find(({ name }) => name === 'asked')?.output).toEqual({ by: 'hand' });
  });
});
