/** Makes the screenshots in the documents: `npm run test:browser -- --screenshots`. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { METRICS_NAMESPACE } from '../../lib/aws/names.ts';
import { localMetrics } from '../../cli/dev/local-metrics.ts';
import { closePages, openPage, startBrowser } from './browser.ts';
import { type StagePage, stagePage } from './stage-page.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'images');
const MAX_BYTES = 70_000;

let browser: Browser;
let place: StagePage;

beforeAll(async () => {
  browser = await startBrowser();
  place = await stagePage(({ cloud }) => ({
    metrics: () => localMetrics(Number(new URL(cloud.apiUrl).port)),
  }));
  mkdirSync(FOLDER, { recursive: true });
});
afterAll(async () => {
  await browser?.close();
  await place?.close();
});
afterEach(closePages);

/** Logs the metrics of three hours with an outage in which no execution failed. */
async function hoursBefore(): Promise<void> {
  const { cloud, request } = place.stage;
  const { service } = (await request('GET', '/health')).body.metrics;
  for (let ago = 3; ago < 180; ago += 1) {
    // The same in every picture.
    const wave = Math.round(6 * Math.sin(ago / 17) + 3 * Math.sin(ago / 5));
    const isAway = ago > 80 && ago < 105;
    const values = {
      Started: 24 + wave,
      Succeeded: isAway ? 4 : ago > 70 && ago <= 80 ? 62 + wave : 24 + wave,
      Retries: isAway ? 60 : 2 + (ago % 3),
      OldestOverdue: isAway && ago % 6 === 0 ? 1_400 : 0,
      AtRisk: ago === 96 ? 3 : 0,
      LeasesLost: ago % 60 === 0 ? 2 : 0,
      Unknowns: isAway ? 4 : 0,
      OpenIncidents: ago > 85 && ago < 100 ? 2 : 0,
      OpenBreakers: isAway ? 1 : 0,
      TimeToClaim: [18 + Math.abs(wave), 31, 260 + 12 * wave],
      TimeToDetect: [2_100 + 90 * wave],
      TimeToRecover: [2_900 + 140 * wave],
    };
    const at = Date.now() - ago * 60_000;
    cloud.metricsIn(JSON.stringify({ ...values, service, _aws: embedded(at, Object.keys(values)) }));
  }
}

const embedded = (at: number, names: readonly string[]): object => ({
  Timestamp: at,
  CloudWatchMetrics: [
    { Namespace: METRICS_NAMESPACE, Dimensions: [['service']], Metrics: names.map((Name) => ({ Name })) },
  ],
});

/** Lets the browser convert a picture to WebP, to a third of its size. */
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
    return canvas.toDataURL('image/webp', 0.5);
  }, png.toString('base64'));
  await page.close();
  return Buffer.from(address.split(',')[1] ?? '', 'base64');
}

it('are taken of an order that failed, of the overview and of the workflow', async () => {
  const { stage, server, behave } = place;
  await hoursBefore();
  for (let at = 1; at <= 9; at += 1) await stage.startOrder(`order-${at}`);
  await behave({ service: 'payment', mode: 'unavailable', times: 2, match: { about: 'order-10' } });
  await behave({ service: 'carrier', mode: 'decline', match: { about: 'order-10' } });
  await behave({ service: 'payment', mode: 'decline', match: { about: 'order-11' } });
  const failed = await stage.startOrder('order-10');
  await stage.ended(await stage.startOrder('order-11'));
  await stage.ended(failed);
  const places = [
    ['console-execution', `#/executions/${failed}`, 'What happens next', 880],
    ['console-overview', '', 'Success rate', 1_520],
    ['console-workflow', '#/workflows/order-fulfilment', 'Plans of open executions', 900],
  ] as const;
  for (const [name, address, text, height] of places) {
    const { page } = await openPage(browser, server, address, { width: 1_200, height });
    await page.getByText(text).first().waitFor();
    await page.waitForFunction(() => document.querySelector('.spinner') === null);
    await page.waitForTimeout(1_000);
    const picture = await smaller(await page.screenshot({ animations: 'disabled' }));
    writeFileSync(join(FOLDER, `${name}.webp`), picture);
    expect([name, picture.length < MAX_BYTES || picture.length]).toEqual([name, true]);
  }
});
