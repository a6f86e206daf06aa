/**
 * The built console behind its own server, on a free port. Tests can make its API slow or let it fail, and
 * change its page.
 *
 * Owns: the layer between that server and the API. Does not own: the server (`cli/console/listener.ts`).
 */

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONSOLE_FOLDER, type Settings } from '../../cli/console/files.ts';
import { type ConsoleOptions, consoleListener } from '../../cli/console/listener.ts';

export interface Weather {
  delayMs: number;
  /** The status of every answer; 0 for the API's own. */
  status: number;
  /** Reverses the fields of every second answer, because DynamoDB returns them in no fixed order. */
  turned: boolean;
  settings: Settings;
}

export interface PageServer {
  readonly url: string;
  /** The faults between the page and the API; none at the beginning of each test. */
  readonly weather: Weather;
  /** Requests to the API, as 'GET /agents'. */
  readonly asked: string[];
  /** Serves a changed page, until `calm`. */
  readonly plant: (change: (html: string) => string) => void;
  /** Resets the weather and the planted changes. */
  readonly calm: () => void;
  readonly close: () => Promise<void>;
}

const CALM: Weather = {
  delayMs: 0,
  status: 0,
  turned: false,
  settings: { deployment: 'Steadfast-dev', readOnly: false, local: true },
};

/** The API to which the server passes calls: its address, or a function that answers instead. */
export interface Api {
  readonly url: string;
  readonly fetch: typeof fetch;
}

/** An API at an address. */
export const behind = (url: string): Api => ({ url, fetch });

/** An API in this process. */
export const answeredBy = (answer: (request: Request) => Promise<Response>): Api => ({
  url: 'http://api',
  fetch: (input, init) => answer(new Request(input, init)),
});

const turnedAround = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(turnedAround);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, one]) => [key, turnedAround(one)] as const);
  return Object.fromEntries(fields.toReversed());
};

/** @param more further options of the server: a login, writes that it reports */
export async function servePage(api: Api, more: Partial<ConsoleOptions> = {}): Promise<PageServer> {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-page-'));
  cpSync(CONSOLE_FOLDER, folder, { recursive: true });
  const page = join(folder, 'index.html');
  const built = readFileSync(page, 'utf8');
  const weather = { ...CALM };
  const asked: string[] = [];
  const between: typeof fetch = async (input, init) => {
    asked.push(`${init?.method} ${String(input).slice(api.url.length)}`);
    const { status, delayMs, turned } = weather;
    if (delayMs > 0) await new Promise((done) => setTimeout(done, delayMs));
    if (status > 0) return Response.json({ message: 'out of order' }, { status });
    const answer = await api.fetch(input, init);
    answers += 1;
    return turned && answers % 2 === 1
      ? Response.json(turnedAround(await answer.json()), { status: answer.status })
      : answer;
  };
  let answers = 0;
  const server = createServer(
    consoleListener({
      folder,
      get settings() {
        return weather.settings;
      },
      upstream: () => ({ url: api.url, fetch: between }),
      ...more,
    }),
  );
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/console/`,
    weather,
    asked,
    plant: (change) => writeFileSync(page, change(built)),
    calm: () => {
      Object.assign(weather, CALM);
      writeFileSync(page, built);
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      rmSync(folder, { recursive: true });
    },
  };
}
