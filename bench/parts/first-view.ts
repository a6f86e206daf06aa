/**
 * Measures the console's first view in a real browser: from the address to the counts on the screen.
 *
 * Owns: the server of the page, the browser, the times. Does not own: the API that answers the page's calls
 * (the caller's), the built page (`npm run build:console`).
 */

import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import { CONSOLE_FOLDER, isBuilt } from '../../cli/console/files.ts';
import { consoleListener } from '../../cli/console/listener.ts';

/** A new profile keeps the browser busy for this long, which is not part of the view. */
const REST_MS = 1_000;
const BROWSERS = [process.env['CHROMIUM'] ?? '', '/usr/bin/chromium', '/usr/bin/google-chrome'];

/** Why nothing can be measured here, and how to change that. */
export function firstViewProblem(): string | undefined {
  if (!isBuilt(CONSOLE_FOLDER)) return 'the console is not built: npm run build:console';
  return BROWSERS.some((path) => path !== '' && existsSync(path))
    ? undefined
    : 'there is no Chromium: install it, or set CHROMIUM to its path';
}

/**
 * The times in ms, each with a browser profile of its own: nothing is cached.
 *
 * @param answer the API's answer
 * @param shown a text that is on the screen once the view is complete
 */
export async function firstViews(
  answer: (request: Request) => Promise<Response>,
  shown: string,
  times: number,
): Promise<number[]> {
  const upstream = {
    url: 'http://api',
    fetch: ((input, init) => answer(new Request(input, init))) satisfies typeof fetch,
  };
  const settings = { deployment: 'bench', readOnly: true, local: true };
  const server = createServer(
    consoleListener({ folder: CONSOLE_FOLDER, settings, upstream: () => upstream }),
  );
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const executablePath = BROWSERS.find((path) => path !== '' && existsSync(path)) ?? '';
  // Chromium refuses to run as root in its own sandbox.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath, args });
  const found: number[] = [];
  try {
    for (let at = 0; at < times; at += 1) {
      const context = await browser.newContext();
      const page = await context.newPage();
      const isShown = new Promise<number>((resolve) => void page.exposeFunction('isShownAfter', resolve));
      await page.addInitScript(watchFor(shown));
      await sleep(REST_MS);
      await page.goto(`http://127.0.0.1:${port}/console/`);
      found.push(await isShown);
      await context.close();
    }
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
  return found;
}

/**
 * Runs in the page itself, whose clock begins with the navigation: a poll from outside slows down to one
 * every half second. Content of the document is on the screen with the next frame.
 */
const watchFor = (shown: string): string => `
  new MutationObserver((_, observer) => {
    if (!document.body?.textContent.includes(${JSON.stringify(shown)})) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => window.isShownAfter(performance.now())));
  }).observe(document, { childList: true, subtree: true, characterData: true });`;
