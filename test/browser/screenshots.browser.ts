/** The pictures in the documents: `npm run test:browser -- --screenshots`. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { setStage, type Stage } from '../e2e/stage.ts';
import { closePages, openPage, startBrowser } from './browser.ts';
import { behind, type PageServer, servePage } from './page-server.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'images');
const MAX_BYTES = 60_000;

let browser: Browser;
let stage: Stage;
let server: PageServer;

beforeAll(async () => {
  browser = await startBrowser();
  stage = await setStage({ schedules: true });
  server = await servePage(behind(stage.cloud.apiUrl));
  mkdirSync(FOLDER, { recursive: true });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  await stage?.strike();
});
afterEach(closePages);

const behave = (rule: object): Promise<unknown> =>
  fetch(`${stage.world.url}/behave`, { method: 'POST', body: JSON.stringify(rule) });

/** The browser itself makes it a WebP, a third as large. */
async function smaller(png: Buffer): Promise<Buffer> {
  const page = await browser.newPage();
  const address = await page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = image.width;
    canvas.height = image.height;
    canvas.getContext('2d')?.drawImage(image, 0, 0);
    return canvas.toDataURL('image/webp', 0.6);
  }, png.toString('base64'));
  await page.close();
  return Buffer.from(address.split(',')[1] ?? '', 'base64');
}

it('are taken of an order that failed, of the overview and of the workflow', async () => {
  for (let at = 1; at <= 9; at += 1) await stage.startOrder(`order-${at}`);
  await behave({ service: 'payment', mode: 'unavailable', times: 2, match: { about: 'order-10' } });
  await behave({ service: 'carrier', mode: 'decline', match: { about: 'order-10' } });
  await behave({ service: 'payment', mode: 'decline', match: { about: 'order-11' } });
  const failed = await stage.startOrder('order-10');
  await stage.ended(await stage.startOrder('order-11'));
  await stage.ended(failed);
  const places = [
    ['console-execution', `#/executions/${failed}`, 'What comes next', 880],
    ['console-overview', '', 'Supervisors', 1_000],
    ['console-workflow', '#/workflows/order-fulfilment', 'Plans under way', 900],
  ] as const;
  for (const [name, place, text, height] of places) {
    const { page } = await openPage(browser, server, place, { width: 1_200, height });
    await page.getByText(text).first().waitFor();
    await page.waitForFunction(() => document.querySelector('.spinner') === null);
    await page.waitForTimeout(1_000);
    const picture = await smaller(await page.screenshot({ animations: 'disabled' }));
    writeFileSync(join(FOLDER, `${name}.webp`), picture);
    expect([name, picture.length < MAX_BYTES || picture.length]).toEqual([name, true]);
  }
});
