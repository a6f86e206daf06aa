/**
 * Opens every page of the built site (`npm run docs:site`) in a real browser, on a desktop and on a phone. A
 * page fails if it throws, requests a missing file, is wider than the screen, or has a broken link. A search
 * without results fails too.
 *
 *     npm run docs:site:check
 */

import { createServer, type Server } from 'node:http';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { startBrowser } from './browser.ts';

const SITE = join(import.meta.dirname, '../../docs/site/dist');
const SCREENS = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
];
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
};

/** Serves static files, and `index.html` for a folder. */
function served(): Promise<Server> {
  const server = createServer(({ url = '/' }, response) => {
    const path = join(SITE, decodeURIComponent(new URL(url, 'http://site').pathname));
    const file = existsSync(path) && statSync(path).isDirectory() ? join(path, 'index.html') : path;
    if (!existsSync(file)) return response.writeHead(404).end();
    return response.setHeader('content-type', TYPES[extname(file)] ?? '').end(readFileSync(file));
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

const pages = (): string[] =>
  readdirSync(SITE, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.html') && file !== '404.html')
    .map((file) => file.replaceAll('\\', '/'))
    .toSorted();

interface Links {
  readonly ids: string[];
  /** The site's internal links, with anchors. */
  readonly targets: string[];
}

const linksOf = (page: Page): Promise<Links> =>
  page.evaluate(() => ({
    ids: [...document.querySelectorAll('[id]')].map(({ id }) => id),
    targets: [...document.querySelectorAll('main a[href], aside a[href]')]
      .map((link) => new URL((link as HTMLAnchorElement).href))
      .filter(({ origin }) => origin === location.origin)
      .map(({ pathname, hash }) => `${pathname}${decodeURIComponent(hash)}`),
  }));

async function openAll(browser: Browser, origin: string): Promise<string[]> {
  const problems: string[] = [];
  for (const viewport of SCREENS) {
    const page = await browser.newPage({ viewport });
    let at = '';
    const problem = (what: string): number => problems.push(`${at} at ${viewport.width} px ${what}`);
    page.on('pageerror', ({ message }) => problem(`threw: ${message}`));
    page.on('response', (response) => {
      if (response.status() >= 400) problem(`asked for ${response.url()}, which is not there`);
    });
    page.on('request', (request) => {
      if (!request.url().startsWith('data:') && !request.url().startsWith(origin))
        problem(`called ${request.url()}`);
    });
    const links = new Map<string, Links>();
    for (at of pages()) {
      await page.goto(`${origin}/${at}`, { waitUntil: 'networkidle' });
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      if (width > viewport.width) problem(`is ${width} px wide`);
      links.set(`/${at}`, await linksOf(page));
    }
    problems.push(...brokenLinks(links));
    await page.close();
  }
  return problems;
}

function brokenLinks(links: ReadonlyMap<string, Links>): string[] {
  return [...links].flatMap(([from, { targets }]) =>
    targets.flatMap((target) => {
      const [path = '', anchor] = target.split('#');
      const page = links.get(path.endsWith('/') ? `${path}index.html` : path);
      if (page === undefined) return existsSync(join(SITE, path)) ? [] : [`${from} links to ${target}`];
      return anchor === undefined || page.ids.includes(anchor)
        ? []
        : [`${from} links to ${target}: no such heading`];
    }),
  );
}

async function found(browser: Browser, origin: string, text: string): Promise<string[]> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(origin, { waitUntil: 'networkidle' });
  await page.keyboard.press('Control+k');
  await page.locator('.search-input').fill(text);
  const first = page.locator('.VPLocalSearchBox .result').first();
  const isFound = await first.waitFor({ timeout: 10_000 }).then(
    () => true,
    () => false,
  );
  await page.close();
  return isFound ? [] : [`a search for '${text}' finds nothing`];
}

const server = await served();
const browser = await startBrowser();
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const problems = [...(await openAll(browser, origin)), ...(await found(browser, origin, 'heartbeat'))];
await browser.close();
server.close();
const said = [...new Set(problems)];
const widths = SCREENS.map(({ width }) => width).join(' and ');
process.stdout.write(
  [...said, `${pages().length} pages at ${widths} px: ${said.length} problems`, ''].join('\n'),
);
process.exitCode = problems.length === 0 ? 0 : 1;
