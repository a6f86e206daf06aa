/**
 * Opens pages in a real browser, and records their CSP violations, errors, and requests to other hosts.
 *
 * Owns: finding the browser, observing pages, axe. Does not own: what is served (`page-server.ts`).
 */

import { appendFileSync, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { PageServer } from './page-server.ts';

const PLACES = [
  process.env['CHROMIUM'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

export const browserPath = (): string | undefined => PLACES.find((path) => path !== '' && existsSync(path));

/** Renders without an emulated GPU, which takes a quarter more processor time. */
const DRAWN = ['--disable-gpu', '--disable-gpu-rasterization', '--disable-software-rasterizer'];

export async function startBrowser(): Promise<Browser> {
  const executablePath = browserPath();
  if (executablePath === undefined) throw new Error(NO_BROWSER);
  // Chromium refuses to run as root in its own sandbox.
  const args = [...DRAWN, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])];
  return chromium.launch({ executablePath, args });
}

export const NO_BROWSER =
  'There is no Chromium here. On Debian: apt-get install -y chromium fonts-dejavu-core; elsewhere set CHROMIUM to its path.';

/** Counts over all files, for the summary at the end of the run. */
const count = (what: 'axe' | 'csp'): void => {
  const file = process.env['STEADFAST_BROWSER_COUNTS'];
  if (file !== undefined) appendFileSync(file, `${what}\n`);
};

export interface Watched {
  readonly page: Page;
  /** CSP violations, thrown errors, requests to other hosts. */
  readonly problems: string[];
}

interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  /** The reader's time zone. */
  readonly zone?: string;
}

const open: Watched[] = [];

export async function openPage(
  browser: Browser,
  server: PageServer,
  place: string,
  { width = 1280, height = 800, dark = false, zone = 'UTC' }: Look = {},
): Promise<Watched> {
  const page = await browser.newPage({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    timezoneId: zone,
  });
  const problems: string[] = [];
  await page.exposeFunction('violated', (what: string) => problems.push(`csp: ${what}`));
  // A helper of esbuild (through tsx) in the functions that a test evaluates in the page.
  await page.addInitScript('globalThis.__name = (it) => it;');
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      const { violated } = window as unknown as { violated: (what: string) => void };
      violated(`${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  page.on('pageerror', ({ message }) => problems.push(`threw: ${message}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(new URL(server.url).origin) && !url.startsWith('data:'))
      problems.push(`called ${url}`);
  });
  await page.goto(`${server.url}${place}`);
  const watched = { page, problems };
  open.push(watched);
  return watched;
}

/** Closes all pages, and checks that none had a problem. */
export async function closePages(): Promise<void> {
  const problems = open.flatMap((one) => one.problems);
  await Promise.all(open.splice(0).map(({ page }) => page.close()));
  for (const problem of problems) if (problem.startsWith('csp')) count('csp');
  expect(problems).toEqual([]);
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Found {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Axe's findings, one line each; the page's policy does not apply to code that the debugger runs. */
export async function axeFinds(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run: () => Promise<{ violations: readonly Found[] }> } };
    return (await axe.run()).violations.map(({ id, nodes }) => ({
      id,
      nodes: nodes.map(({ html, failureSummary }) => ({ html, failureSummary: failureSummary ?? '' })),
    }));
  });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}

export async function expectAccessible(page: Page): Promise<void> {
  const found = await axeFinds(page);
  for (const _ of found) count('axe');
  expect(found).toEqual([]);
}

/** Checks that the page does not scroll sideways. */
export async function expectFits(page: Page): Promise<void> {
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  expect(content).toBeLessThanOrEqual(window ?? 0);
}
